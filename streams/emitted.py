"""Which outputs are already on their topic, though no commit says so: what a worker sent before it was killed.

Between sending and committing a worker may die. Whoever takes its partition over reads the streams again; events with
the same ids would come twice, which readers collapse. Outputs are what people count, so they are not sent again: each
commit's metadata has the end of the output partition at that time, and from there to its end now the keys are read.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.client_options import kafka_options
from streams.settings import Settings

TAIL_MAX = 100_000
"""Most records read back: what is sent between two commits is far less."""
UNKNOWN_TAIL = 5_000
"""Records read back where no commit is known: a worker that was killed in its first half second."""
READ_S_MAX = 10.0
MARK = "|"


@dataclass(slots=True)
class Ends:
    """Ends of output partitions, as far as this worker knows them."""

    topic: str | None
    """The topic for outputs; None for a chain that writes none."""
    partitions: int
    known: dict[int, int] = field(default_factory=dict)

    def saw(self, topic: str, partition: int, next_offset: int) -> None:
        """A batch was acknowledged."""
        if topic == self.topic:
            self.known[partition] = max(next_offset, self.known.get(partition, 0))

    def marked(self, metadata: str, place: TopicPartition) -> str:
        """Metadata of a commit with the end in front."""
        if self.topic is None:
            return metadata
        return f"{self.known.get(place.partition % self.partitions, '')}{MARK}{metadata}"

    def unmarked(self, metadata: str, place: TopicPartition) -> str:
        """The metadata itself; the end in front is remembered."""
        end, mark, rest = metadata.partition(MARK)
        if not mark:
            return metadata
        if end.isascii() and end.isdigit():
            self.known.setdefault(place.partition % self.partitions, int(end))
        return rest


async def already_sent(settings: Settings, ends: Ends, places: list[TopicPartition]) -> frozenset[bytes]:
    """Keys of the outputs that were sent after the last commits of these partitions."""
    if ends.topic is None or not places:
        return frozenset()
    tails = sorted({place.partition % ends.partitions for place in places})
    parts = [TopicPartition(ends.topic, partition) for partition in tails]
    consumer = AIOKafkaConsumer(enable_auto_commit=False, auto_offset_reset="earliest", **kafka_options(settings))
    await consumer.start()
    try:
        consumer.assign(parts)
        starts, stops = await consumer.beginning_offsets(parts), await consumer.end_offsets(parts)
        left = _seek_tails(consumer, starts, stops, ends.known)
        return await asyncio.wait_for(_keys(consumer, left), READ_S_MAX)
    finally:
        await consumer.stop()


def _seek_tails(
    consumer: AIOKafkaConsumer,
    starts: Mapping[TopicPartition, int],
    stops: Mapping[TopicPartition, int],
    known: Mapping[int, int],
) -> dict[TopicPartition, int]:
    """Go to where each tail starts; gives the ends of those that are not empty."""
    left = {}
    for part, stop in stops.items():
        start = known.get(part.partition, stop - UNKNOWN_TAIL)
        start = max(start, starts[part], stop - TAIL_MAX)
        if start < stop:
            consumer.seek(part, start)
            left[part] = stop
        else:
            consumer.pause(part)
    return left


async def _keys(consumer: AIOKafkaConsumer, left: dict[TopicPartition, int]) -> frozenset[bytes]:
    keys = set()
    while left:
        for records in (await consumer.getmany(timeout_ms=200)).values():
            keys |= {record.key for record in records if record.key is not None}
        for part in list(left):
            if await consumer.position(part) >= left[part]:
                consumer.pause(part)
                del left[part]
    return frozenset(keys)
