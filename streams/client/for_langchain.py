"""LangChain's callbacks → `llm.tokens`: what every model of a chain writes, without a change to the chain.

    model.invoke(question, config={"callbacks": [LangChainNotes(producer)]})

A model that streams is noted token by token, another when its answer is there. The name of the stream is LangChain's
run id. What a stream's meta says is given when the callback is made, or for one call under `hermes` in its metadata.
Needs the extra `langchain`.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, GenerationChunk, LLMResult

from streams.client.producer import SyncTokenProducer, TokenProducer, notes_of
from streams.client.tee import ROOM_ASKED_S, Notes

ROLES = {"human": "user", "ai": "assistant"}
METADATA = "hermes"


class LangChainNotes(BaseCallbackHandler):
    """Give it to a model, a chain or an agent under `callbacks`; one serves any number of them, at the same time."""

    def __init__(self, producer: SyncTokenProducer | TokenProducer, **about: object) -> None:
        """about: `tenant`, `run_id`, `goal_id` and other fields of `Meta`, for all streams."""
        self._producer = producer.inner if isinstance(producer, SyncTokenProducer) else producer
        self._about = about
        self._open: dict[UUID, Notes] = {}
        self._heard: set[UUID] = set()

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """A chat model is asked."""
        told = [{"role": ROLES.get(item.type, item.type), "content": item.content} for item in messages[0]]
        self._begin(run_id, {"messages": told}, serialized, kwargs)

    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], *, run_id: UUID, **kwargs: Any) -> None:
        """A model of plain text is asked."""
        self._begin(run_id, {"prompt": prompts[0]}, serialized, kwargs)

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """It wrote something."""
        notes = self._open.get(run_id)
        if notes is not None:
            self._heard.add(run_id)
            _note(notes, getattr(chunk, "message", None) or token)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """It is done."""
        notes = self._open.pop(run_id, None)
        if notes is None:
            return
        if run_id not in self._heard:
            for generation in response.generations[0][:1]:
                _note(notes, whole(generation.message) if isinstance(generation, ChatGeneration) else generation.text)
        self._heard.discard(run_id)
        notes.end()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """It failed, or its answer was left in the middle."""
        notes = self._open.pop(run_id, None)
        self._heard.discard(run_id)
        if notes is not None:
            notes.end("abandoned" if isinstance(error, GeneratorExit) else "error")

    def _begin(
        self, run_id: UUID, asked: Mapping[str, object], serialized: Mapping[str, Any] | None, kwargs: Mapping[str, Any]
    ) -> None:
        parameters = kwargs.get("invocation_params") or {}
        metadata = kwargs.get("metadata") or {}
        model = parameters.get("model") or parameters.get("model_name") or metadata.get("ls_model_name")
        request = {**asked, "model": model or (serialized or {}).get("name"), "tools": parameters.get("tools")}
        own = metadata.get(METADATA)
        about = {"stream_id": str(run_id), **self._about, **(own if isinstance(own, dict) else {})}
        self._open[run_id] = notes_of(self._producer, request, about)


def whole(message: BaseMessage) -> Mapping[str, object]:
    """An answer that came at once, in the shape of a chunk."""
    calls: Sequence[Mapping[str, Any]] = ()
    if isinstance(message, AIMessage):  # what LangChain could not read as JSON is a call too: it may be repaired
        calls = [*message.tool_calls, *message.invalid_tool_calls]
    pieces = [{**call, "index": number, "args": _text(call["args"])} for number, call in enumerate(calls)]
    return {**message.__dict__, "tool_call_chunks": pieces}


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _note(notes: Notes, item: object) -> None:
    while notes.must_wait and notes.may_block:
        time.sleep(ROOM_ASKED_S)
    notes.note(item)
