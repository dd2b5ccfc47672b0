"""The partitions a worker holds: taken over from the committed offset, given back with a commit.

Between being revoked and assigned again, partitions are parked: one that comes back with the same committed offset was
in nobody else's hands, and goes on where it stood.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from aiokafka import TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaError

from streams.delivery import Delivery
from streams.kafka_clients import Clients
from streams.open_stream import Poisoned
from streams.partition import Partition
from streams.settings import ConfigError
from streams.stage import Chain

UNKNOWN = -1
"""Position of a partition without a committed offset, until its first record."""

log = logging.getLogger(__name__)


class Held:
    """State of all partitions that this worker has now."""

    def __init__(
        self, chain: Chain, clients: Clients, delivery: Delivery, poisoned: Poisoned, now: Callable[[], float]
    ) -> None:
        self._chain = chain
        self._clients = clients
        self._poisoned = poisoned
        self._now = now
        self._committed: dict[TopicPartition, tuple[int, str]] = {}
        self._parked: dict[TopicPartition, Partition] = {}
        self._back: dict[TopicPartition, int] = {}
        self._fault: KafkaError | ConfigError | None = None
        self.delivery = delivery
        self.partitions: dict[TopicPartition, Partition] = {}
        self.lock = asyncio.Lock()
        """Held for one turn of the loop, and while partitions come or go."""
        self.epoch = 0
        """Grows whenever records fetched before must not be used any more."""

    def check(self) -> None:
        """Raise what went wrong while partitions came or went, where the client swallows it."""
        if self._fault:
            raise self._fault

    def is_read(self, place: TopicPartition) -> bool:
        """Whether a partition has been read to its end."""
        return self.partitions[place].position >= (self._clients.consumer.highwater(place) or 0)

    async def lag(self) -> int:
        """Records that wait in the partitions held, by the broker's own count."""
        places = [place for place, partition in self.partitions.items() if partition.position != UNKNOWN]
        if not places:
            return 0
        ends: dict[TopicPartition, int] = await self._clients.consumer.end_offsets(places)
        return sum(
            max(0, end - self.partitions[place].position) for place, end in ends.items() if place in self.partitions
        )

    def see(self, place: TopicPartition) -> None:
        """Note, at the first records of a partition, up to where the worker before this one may have read."""
        partition = self.partitions[place]
        if partition.reach is None:
            partition.reach = self._clients.consumer.highwater(place) or 0

    def post(self, place: TopicPartition) -> None:
        """Hand on what a partition has to publish."""
        out = self.partitions[place].out
        self.delivery.add(out, place)
        out.clear()

    async def commit(self) -> int:
        """Wait for what was sent, then commit what has changed; gives how many partitions that were."""
        points = {place: partition.commit_point() for place, partition in self.partitions.items()}
        changed = {
            place: point
            for place, point in points.items()
            if point.offset != UNKNOWN and (point.offset, point.names) != self._committed.get(place)
        }
        if not await self.delivery.commit(changed):
            return 0
        self._committed |= {place: (point.offset, point.names) for place, point in changed.items()}
        return len(changed)

    def read_again(self, place: TopicPartition, error: Exception) -> None:
        """Forget a partition's state after a processor raised, and go back to what was committed."""
        partition = self.partitions[place]
        assert partition.feeding is not None
        self._poisoned.add(partition.feeding, error)
        log.error("a processor raised", extra={"group": self._chain.group, "error": type(error).__name__})
        offset, names = self._committed.get(place, (partition.start, ""))
        if not self.delivery.take_back(place):
            self.post(place)
        self.partitions[place] = partition.read_again(offset, names)
        self._back[place] = offset
        self.epoch += 1

    def go_back(self) -> None:
        """Have the client read from where `read_again` went back to; not in its thread, which the client can't take."""
        while self._back:
            place, offset = self._back.popitem()
            self._clients.consumer.seek(place, offset)

    async def fetch_again(self, places: Iterable[TopicPartition]) -> None:
        """Go back to where each partition stands, for records that were fetched and not taken."""
        for place in places:
            partition = self.partitions.get(place)
            if partition is not None and partition.position == UNKNOWN:
                await self._clients.consumer.seek_to_beginning(place)
            elif partition is not None:
                self._clients.consumer.seek(place, partition.position)

    async def park(self) -> None:
        """Commit and lay aside everything: partitions are about to be distributed anew."""
        self.epoch += 1
        try:
            await self.commit()
        except KafkaError as error:
            self._fault = error
            return
        self._parked, self.partitions = self.partitions, {}

    async def restore(self, places: Sequence[TopicPartition]) -> None:
        """Take over partitions where they were committed, or where this worker itself left them."""
        self.epoch += 1
        try:
            await self.delivery.hold(places)
            found = {place: await self._clients.committed(place) for place in places}
            points = {
                place: (point[0], self.delivery.restored(point[1], place)) for place, point in found.items() if point
            }
            fresh = [place for place in places if not self._goes_on(place, points.get(place))]
            sent = await self.delivery.sent_before(fresh)
            for place in fresh:
                self._take_over(place, points.get(place), sent)
        except (KafkaError, ConfigError) as error:
            self._fault = error
        except (TimeoutError, OSError) as error:
            self._fault = KafkaConnectionError(str(error))
        self._parked = {}

    def _goes_on(self, place: TopicPartition, point: tuple[int, str] | None) -> bool:
        """Take a parked partition up where it stood, if nobody else had it."""
        parked = self._parked.get(place)
        if parked is None or (point is not None and point != self._committed.get(place)):
            return False
        self.partitions[place] = parked
        if parked.position != UNKNOWN:
            self._clients.consumer.seek(place, parked.position)
        return True

    def _take_over(self, place: TopicPartition, point: tuple[int, str] | None, sent: frozenset[bytes]) -> None:
        offset, names = point or (UNKNOWN, "")
        partition = Partition(self._chain, offset, names, self._poisoned, self._now)
        partition.sent = sent
        self.partitions[place] = partition
        if point:
            self._committed[place] = point
            self._clients.consumer.seek(place, offset)
