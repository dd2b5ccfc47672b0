"""`llm.outputs` → outputs, each once: a later revision of a stream's output is given, a repeated one is not."""

from collections import OrderedDict
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaConnectionError

from schemas.output import Output
from schemas.wire import UndecodableError, decode
from streams.client_options import kafka_options
from streams.settings import ServerAwayError, Settings

SEEN_MAX = 100_000
"""Streams remembered, to give each revision once."""


class OutputConsumer:
    """Reads `llm.outputs`; use it as an async context and iterate."""

    def __init__(self, settings: Settings, group: str | None = None) -> None:
        """group: consumer group whose offsets are committed after each batch; None: all there is, from the start."""
        self._settings = settings
        self._group = group
        self._topic = f"{settings.topic_prefix}llm.outputs"
        self._consumer: AIOKafkaConsumer | None = None
        self._seen: OrderedDict[str, int] = OrderedDict()

    async def __aenter__(self) -> Self:
        consumer = AIOKafkaConsumer(
            self._topic,
            group_id=self._group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=self._settings.session_timeout_ms,
            **kafka_options(self._settings),
        )
        await _started(consumer, self._settings)
        self._consumer = consumer
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._consumer is not None:
            await self._consumer.stop()

    async def __aiter__(self) -> AsyncIterator[Output]:
        assert self._consumer is not None, "use `async with OutputConsumer(...)`"
        while True:
            batch = await self._consumer.getmany(timeout_ms=1_000, max_records=1_000)
            values = [record.value for records in batch.values() for record in records]
            for output in filter(None, map(self._new, values)):
                yield output
            if batch and self._group is not None:
                await self._consumer.commit()

    def _new(self, data: bytes) -> Output | None:
        try:
            output = decode(data)
        except UndecodableError:  # another program's record on a public topic: nothing that was promised here
            return None
        if not isinstance(output, Output) or self._seen.get(output.stream_id, -1) >= output.rev:
            return None
        self._seen[output.stream_id] = output.rev
        if len(self._seen) > SEEN_MAX:
            self._seen.popitem(last=False)
        return output


async def _started(client: AIOKafkaConsumer, settings: Settings) -> None:
    try:
        await client.start()
    except KafkaConnectionError as error:
        await client.stop()
        raise ServerAwayError(f"Kafka at {settings.kafka_bootstrap} does not answer") from error
