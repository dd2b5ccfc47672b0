"""Which outputs are already on their topic, though no commit says so: what a worker sent before it was killed.

Between sending and committing a worker may die. Whoever takes its partition over reads the streams again; events with
the same ids would come twice, which readers collapse. Outputs are what people count, so they are not sent again: each
commit's metadata has a place in the output partition, and from there to its end now the keys are read.

The place is not the end of the output partition at the time of the commit. Streams that ended above the committed
offset are ended again by a replay; those of them that the metadata has no room to name must have their outputs behind
the place, and so must those that a replay had not reached yet when its worker was killed too. Hence a trail of places
is kept, with how many streams had ended at each.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.client_options import kafka_options
from streams.progress import Point
from streams.settings import Settings

TAIL_MAX = 100_000
"""Most records read back: as many as streams are remembered; beyond it an output may come again, with the same id."""
UNKNOWN_TAIL = 5_000
"""Records read back where no commit is known: a worker that was killed in its first half second."""
READ_S_MAX = 10.0
"""Longest wait for any of them."""
TRAIL_MAX = 256
"""Most places remembered for a partition: beyond it every second one is forgotten, and more is read back."""
MARK = "|"


@dataclass(slots=True)
class Ends:
    """Ends of output partitions, as far as this worker knows them, and from where on each input partition's count."""

    topic: str | None
    """The topic for outputs; None for a chain that writes none."""
    partitions: int
    known: dict[int, int] = field(default_factory=dict)
    """Output partition → offset after what was last acknowledged."""
    marks: dict[TopicPartition, int] = field(default_factory=dict)
    """Input partition → place in the output partition that its last commit has."""
    _trails: dict[TopicPartition, deque[tuple[int, int]]] = field(default_factory=dict)
    """Input partition → streams that had ended, and the place where outputs of later ones begin."""

    def saw(self, topic: str, partition: int, next_offset: int) -> None:
        """A batch was acknowledged."""
        if topic == self.topic:
            self.known[partition] = max(next_offset, self.known.get(partition, 0))

    def out(self, place: TopicPartition) -> TopicPartition:
        """The partition where the outputs of an input partition are."""
        assert self.topic is not None
        return TopicPartition(self.topic, place.partition % self.partitions)

    def marked(self, point: Point, place: TopicPartition) -> str:
        """Metadata of a commit, everything before which is acknowledged: the names with the place in front."""
        if self.topic is None:
            return point.names
        trail = self._trails[place]
        if point.passed is None:
            return f"{trail[0][1]}{MARK}{point.names}"
        trail.append((point.ended, max(trail[-1][1], self.known.get(self.out(place).partition, 0))))
        while len(trail) > 1 and trail[1][0] <= point.passed:
            trail.popleft()
        mark = trail[-1 if point.is_named else 0][1]
        if len(trail) > TRAIL_MAX:
            self._trails[place] = deque(list(trail)[::2])
        return f"{mark}{MARK}{point.names}"

    def stands(self, metadata: str, place: TopicPartition) -> str:
        """Metadata of a commit that the broker has → the names in it; the place in front is remembered."""
        mark, bar, names = metadata.partition(MARK)
        if not bar:
            return metadata
        if mark.isascii() and mark.isdigit():
            self.marks[place] = int(mark)
        return names

    def begin(self, place: TopicPartition) -> None:
        """A partition is read from its commit on: none of its streams has ended here yet."""
        self._trails[place] = deque([(0, self.marks[place])])


async def already_sent(settings: Settings, ends: Ends, places: list[TopicPartition]) -> frozenset[bytes]:
    """Keys of the outputs that were sent after the last commits of these partitions."""
    if ends.topic is None or not places:
        return frozenset()
    parts = sorted({ends.out(place) for place in places})
    consumer = AIOKafkaConsumer(
        enable_auto_commit=False, auto_offset_reset="earliest", isolation_level="read_committed",
        **kafka_options(settings),
    )  # fmt: skip
    await consumer.start()
    try:
        consumer.assign(parts)
        starts, stops = await consumer.beginning_offsets(parts), await consumer.end_offsets(parts)
        for place in places:
            ends.marks.setdefault(place, max(0, stops[ends.out(place)] - UNKNOWN_TAIL))
            ends.begin(place)
        marks = {part: min(ends.marks[place] for place in places if ends.out(place) == part) for part in parts}
        left = _seek_tails(consumer, {part: max(starts[part], marks[part]) for part in parts}, stops)
        return await _keys(consumer, left)
    finally:
        await consumer.stop()


def _seek_tails(
    consumer: AIOKafkaConsumer, starts: Mapping[TopicPartition, int], stops: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Go to where each tail starts; gives the ends of those that are not empty."""
    left = {}
    for part, stop in stops.items():
        start = max(starts[part], stop - TAIL_MAX)
        if start < stop:
            consumer.seek(part, start)
            left[part] = stop
        else:
            consumer.pause(part)
    return left


async def _keys(consumer: AIOKafkaConsumer, left: dict[TopicPartition, int]) -> frozenset[bytes]:
    keys = set()
    loop = asyncio.get_running_loop()
    deadline = loop.time() + READ_S_MAX
    while left:
        for records in (await consumer.getmany(timeout_ms=200)).values():
            keys |= {record.key for record in records if record.key is not None}
            deadline = loop.time() + READ_S_MAX
        for part in list(left):
            if await consumer.position(part) >= left[part]:
                consumer.pause(part)
                del left[part]
        if loop.time() > deadline:
            raise TimeoutError(f"no record of {sorted(left)} came for {READ_S_MAX:g} s")
    return frozenset(keys)
