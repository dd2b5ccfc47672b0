"""Events → record batches on their topics, with a wait for the broker's acknowledgement.

All events of one input partition go to one partition of each topic, so a stream's order holds without hashing a key
for each event; where the topics have as many partitions as the input, it is the partition that the key itself has.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any
from zlib import crc32

from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output
from schemas.trajectory import Step
from schemas.wire import Event, encode
from streams.open_stream import NUMBER_HEADER, TRACE_HEADER, DeadLetter, Publish
from streams.settings import ServerAwayError
from streams.topics import Topology

RECORD_BYTES_MAX = 8_000_000
"""Longest record sent; topics are created with room for it. A longer event is cut down and says so."""
KEPT_CHARS_MAX = 1_000_000
"""What is kept of a text in an output that is longer than a record may be."""
MESSAGE_CHARS_MAX = 1_000
_TRACE = re.compile(rb"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
"""https://www.w3.org/TR/trace-context/, version 00."""


class Outbox:
    """Batches under way to the broker."""

    def __init__(self, producer: Any, partitions: Mapping[str, int], topology: Topology, group: str) -> None:
        self._producer = producer
        self._partitions = partitions
        self._dead_letters = topology.dead_letters()
        self._by_signature = {name for name, topic in topology.topics.items() if topic.key == "signature"}
        self._group = group
        self._filling: dict[tuple[str, int], Any] = {}
        self._full: list[tuple[str, int, Any]] = []
        self._pending: list[tuple[str, int, int, Awaitable[Any]]] = []
        self._fault: Exception | None = None
        self.saw: Callable[[str, int, int], None] = _nothing
        """Told of each acknowledged batch: topic, partition, offset after it."""

    def add(self, item: Publish | DeadLetter, partition: int) -> None:
        """Put one item into the batch of its topic; `partition` is the one its stream came from."""
        if isinstance(item, DeadLetter):
            record = item.record
            self._append(self._dead_letters, partition, record.key, record.value, self._reasons(item))
            return
        value = _value(item.event)
        headers = [(NUMBER_HEADER, b"%d" % item.number)]
        if item.trace is not None and _TRACE.fullmatch(item.trace):
            headers.append((TRACE_HEADER, _next_hop(item.trace, f"{self._group}/{item.stream_id}")))
        key = item.stream_id.encode("utf-8", "replace")
        if isinstance(item.event, Failure) and item.topic in self._by_signature:
            # All failures of one kind meet in one partition, where the learner counts them.
            key = signature_of(item.event).encode("utf-8", "replace")
            partition = crc32(key)
        self._append(item.topic, partition, key, value, headers)

    async def send(self) -> None:
        """Hand all batches to the producer; `settle` waits for them."""
        batches = [*self._full, *((topic, partition, batch) for (topic, partition), batch in self._filling.items())]
        self._full.clear()
        self._filling.clear()
        for topic, partition, batch in batches:
            count = batch.record_count()
            sent = await self._producer.send_batch(batch, topic, partition=partition)
            self._pending.append((topic, partition, count, sent))

    async def settle(self) -> None:
        """Wait until everything sent is acknowledged; raises the client's error for what was not."""
        if self._fault is not None:  # what was dropped then is not durable now, whoever asks
            raise self._fault
        pending, self._pending = self._pending, []
        try:
            acknowledged = await asyncio.gather(*(sent for *_, sent in pending))
        except BaseException as error:
            self._fault = error if isinstance(error, Exception) else ServerAwayError("nobody waited for the broker")
            raise
        for (topic, partition, count, _), metadata in zip(pending, acknowledged, strict=True):
            self.saw(topic, partition, metadata.offset + count)

    @property
    def under_way(self) -> int:
        """Batches that are not acknowledged, as far as is known."""
        return len(self._pending)

    def _append(
        self, topic: str, partition: int, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]
    ) -> None:
        place = topic, partition % self._partitions[topic]
        batch = self._filling.get(place)
        if batch is None:
            batch = self._filling[place] = self._producer.create_batch()
        if batch.append(timestamp=None, key=key, value=value, headers=headers) is not None:
            return
        self._full.append((*place, batch))
        batch = self._filling[place] = self._producer.create_batch()
        if batch.append(timestamp=None, key=key, value=value, headers=headers) is None:
            raise ServerAwayError(f"record of {len(value or b'')} bytes for {topic} does not fit a batch")

    def _reasons(self, item: DeadLetter) -> list[tuple[str, bytes]]:
        record = item.record
        reasons: dict[str, object] = {
            "dlq.origin.topic": record.topic,
            "dlq.origin.partition": record.partition,
            "dlq.origin.offset": record.offset,
            "dlq.origin.timestamp": record.timestamp,
            "dlq.error.class": item.code,
            "dlq.error.message": item.message[:MESSAGE_CHARS_MAX],
            "dlq.processor": self._group,
        }
        return [*record.headers, *((key, str(value).encode("utf-8", "replace")) for key, value in reasons.items())]


def _next_hop(trace: bytes, hop: str) -> bytes:
    """The same trace with this hop as the parent; its id is made from the data, so a replay writes the same."""
    version, trace_id, _, flags = trace.split(b"-")
    parent = blake2b(trace_id + hop.encode("utf-8", "replace"), digest_size=8).hexdigest().encode()
    return b"-".join((version, trace_id, parent, flags))


def _nothing(_topic: str, _partition: int, _offset: int) -> None:
    """Nobody wants to know."""


def signature_of(failure: Failure) -> str:
    """What makes two failures the same; free of content."""
    return failure.signature or f"{failure.stage}:{failure.code}"


def _value(event: Event) -> bytes:
    """An event's bytes, cut down if a record has no room for them; a character has at least one byte."""
    chars = len(event.response) if isinstance(event, Output) else len(event.text) if isinstance(event, Step) else 0
    if chars <= RECORD_BYTES_MAX and len(value := encode(event)) <= RECORD_BYTES_MAX:
        return value
    return encode(_cut_down(event))


def _cut_down(event: Event) -> Event:
    """An event that a record has no room for: an output keeps the start of its answer, anything else only its name."""
    place = Failure(stream_id=getattr(event, "stream_id", ""), code=FailureCode.STREAM_TOO_LONG, stage=Stage.CLEAN)
    if not isinstance(event, Output):
        return place
    metadata = replace(event.metadata, truncated=True)
    return Output(
        stream_id=event.stream_id, format=event.format, response=event.response[:KEPT_CHARS_MAX], pii=event.pii,
        failures=(place,), metadata=metadata, ts=event.ts, latency_ms=event.latency_ms,
    )  # fmt: skip
