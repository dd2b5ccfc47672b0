"""LiteLLM's callbacks → `llm.tokens`: what every model behind LiteLLM writes, without a change to the calls.

    litellm.callbacks = [LiteLLMNotes(producer)]            # a program
    callbacks: my_callbacks.notes                           # the LiteLLM proxy: `notes = LiteLLMNotes(producer)`

The proxy's streams are noted chunk by chunk. Elsewhere LiteLLM hands chunks to callbacks from several threads, in no
order, so an answer is noted as a whole when it is there; `producer.tee(litellm.completion(..., stream=True))` notes it
as it comes. The name of the stream is LiteLLM's call id. What a stream's meta says is given when the callback is made,
or for one call as `metadata={"hermes": {...}}`. LiteLLM keeps one callback of a class in a process. Needs the extra
`litellm`.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from processors.channels.part import fields_of
from streams.client.producer import SyncTokenProducer, TokenProducer, notes_of
from streams.client.tee import AsyncTee

METADATA = "hermes"
NOTED_MAX = 10_000
"""Call ids remembered, so that an answer that several events tell of is noted once."""


class LiteLLMNotes(CustomLogger):
    """Put it into `litellm.callbacks`."""

    def __init__(self, producer: SyncTokenProducer | TokenProducer, **about: object) -> None:
        """about: `tenant`, `run_id`, `goal_id` and other fields of `Meta`, for all streams."""
        super().__init__()
        self._producer = producer.inner if isinstance(producer, SyncTokenProducer) else producer
        self._about = about
        self._noted: OrderedDict[str, None] = OrderedDict()

    def log_success_event(self, kwargs: dict[str, Any], response_obj: object, *_: object, **__: object) -> None:
        """An answer is there."""
        self._note(kwargs, kwargs.get("complete_streaming_response") or response_obj)

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: object, *_: object, **__: object
    ) -> None:
        """An answer to an asynchronous call is there."""
        self._note(kwargs, kwargs.get("async_complete_streaming_response") or response_obj)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: object, response: AsyncIterable[Any], request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """A stream of the LiteLLM proxy: the same chunks, noted."""
        del user_api_key_dict
        if not self._is_new(str(request_data.get("litellm_call_id") or "")):
            tee = response
        else:
            tee = AsyncTee(response, notes_of(self._producer, request_data, self._about_of(request_data)))
        async for chunk in tee:
            yield chunk

    def _note(self, asked: Mapping[str, Any], answer: object) -> None:
        fields = fields_of(answer)
        if "choices" not in fields or not self._is_new(str(asked.get("litellm_call_id") or "")):
            return
        request = {**asked, "tools": asked.get("tools") or fields_of(asked.get("optional_params")).get("tools")}
        notes = notes_of(self._producer, request, self._about_of(asked))
        notes.note(answer)
        notes.end()

    def _is_new(self, call_id: str) -> bool:
        if call_id in self._noted:
            return False
        if call_id:
            self._noted[call_id] = None
        if len(self._noted) > NOTED_MAX:
            self._noted.popitem(last=False)
        return True

    def _about_of(self, asked: Mapping[str, Any]) -> dict[str, object]:
        metadata = fields_of(asked.get("metadata") or fields_of(asked.get("litellm_params")).get("metadata"))
        return {"stream_id": asked.get("litellm_call_id"), **self._about, **fields_of(metadata.get(METADATA))}
