"""What a chain gives and how far it has come → the broker, at least once or exactly once.

At least once: events go out as they come, and offsets are committed after their acknowledgement. Exactly once: what
follows from a partition's records, and that partition's offset with the names of its finished streams, are one
transaction. Its transactional id is made from the partition, so a worker that takes a partition over fences whoever had
it before; one id for each worker would let a worker that was only slow commit what was already given to another.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError

from streams.emitted import Ends, already_sent
from streams.kafka_clients import Clients, close_producer, cut_off, start_producer
from streams.open_stream import DeadLetter, Publish
from streams.outbox import Outbox
from streams.progress import Point
from streams.settings import Settings

MakeOutbox = Callable[[AIOKafkaProducer], Outbox]
UNDER_WAY_MAX = 500
"""Batches not acknowledged at which reading waits for them."""


class Delivery(Protocol):
    """Where events and commits of a worker go."""

    def add(self, items: Iterable[Publish | DeadLetter], place: TopicPartition) -> None:
        """Take what follows from a partition's records."""
        ...

    async def send(self) -> bool:
        """Let go what may go before a commit; True when a commit is due."""
        ...

    async def commit(self, points: Mapping[TopicPartition, Point]) -> bool:
        """Make everything durable, then the points; False when the group is forming anew."""
        ...

    async def hold(self, places: Sequence[TopicPartition]) -> None:
        """Partitions are this worker's now, and no others."""
        ...

    async def close(self) -> None:
        """Nothing is this worker's any more, and nothing will be."""
        ...

    async def sent_before(self, places: list[TopicPartition]) -> frozenset[bytes]:
        """Keys of outputs that are durable although no commit of these partitions says so."""
        ...

    def restored(self, metadata: str, place: TopicPartition) -> str:
        """The names that were given with the point when it was committed."""
        ...

    def cut_off(self, why: Exception) -> None:
        """Send nothing more, from this moment on: the partitions are somebody else's."""
        ...

    def take_back(self, place: TopicPartition) -> bool:
        """A partition is read again from its commit; whether what was added since then has not been sent."""
        ...


class AtLeastOnce:
    """One producer; offsets through the consumer."""

    def __init__(self, clients: Clients, outbox: MakeOutbox, ends: Ends, settings: Settings) -> None:
        self._clients = clients
        self._outbox = outbox(clients.producer)
        self._ends = ends
        self._settings = settings
        self._outbox.saw = ends.saw

    def add(self, items: Iterable[Publish | DeadLetter], place: TopicPartition) -> None:
        for item in items:
            self._outbox.add(item, place.partition)

    async def send(self) -> bool:
        await self._outbox.send()
        return self._outbox.under_way > UNDER_WAY_MAX

    async def commit(self, points: Mapping[TopicPartition, Point]) -> bool:
        await self._outbox.send()
        await self._outbox.settle()
        if not points:
            return True
        marked = {place: (point.offset, self._ends.marked(point, place)) for place, point in points.items()}
        try:
            await self._clients.consumer.commit(marked)
        except (CommitFailedError, IllegalStateError):  # the group is forming anew; what was done will be done again
            return False
        for place, (_, metadata) in marked.items():
            self._ends.stands(metadata, place)
        return True

    async def hold(self, places: Sequence[TopicPartition]) -> None:
        """Nothing is tied to a partition."""

    async def close(self) -> None:
        """The producer is closed by whoever opened it."""

    async def sent_before(self, places: list[TopicPartition]) -> frozenset[bytes]:
        return await already_sent(self._settings, self._ends, places)

    def restored(self, metadata: str, place: TopicPartition) -> str:
        return self._ends.stands(metadata, place)

    def cut_off(self, why: Exception) -> None:
        cut_off(self._clients.producer, why)

    def take_back(self, place: TopicPartition) -> bool:
        self._ends.begin(place)
        return False


class ExactlyOnce:
    """One transactional producer for each partition."""

    def __init__(self, clients: Clients, outbox: MakeOutbox, ends: Ends, settings: Settings) -> None:
        self._clients = clients
        self._outbox = outbox
        self._ends = ends
        self._settings = settings
        self._own: dict[TopicPartition, tuple[AIOKafkaProducer, Outbox]] = {}
        self._is_closed = False

    def add(self, items: Iterable[Publish | DeadLetter], place: TopicPartition) -> None:
        outbox = self._own[place][1]
        for item in items:
            outbox.add(item, place.partition)

    async def send(self) -> bool:
        """Everything waits for its transaction."""
        return False

    async def commit(self, points: Mapping[TopicPartition, Point]) -> bool:
        for place, point in points.items():
            producer, outbox = self._own[place]
            async with producer.transaction():
                await outbox.send()
                await outbox.settle()
                metadata = self._ends.marked(point, place)
                await producer.send_offsets_to_transaction({place: (point.offset, metadata)}, self._clients.group)
            self._ends.stands(metadata, place)
        return True

    async def hold(self, places: Sequence[TopicPartition]) -> None:
        gone = [self._own.pop(place)[0] for place in self._own.keys() - set(places)]
        await asyncio.gather(*(close_producer(producer) for producer in gone))
        for place in places:
            if place in self._own:
                continue
            made = await self._producer_of(place)
            if self._is_closed:  # meanwhile, by the loop; partitions are assigned in a task of the client
                await close_producer(made[0])
                return
            self._own[place] = made

    async def close(self) -> None:
        self._is_closed = True
        await self.hold(())

    async def sent_before(self, places: list[TopicPartition]) -> frozenset[bytes]:
        """A transaction has its offsets with it: these are of streams that the metadata had no room for."""
        return await already_sent(self._settings, self._ends, places)

    def restored(self, metadata: str, place: TopicPartition) -> str:
        return self._ends.stands(metadata, place)

    def cut_off(self, why: Exception) -> None:
        """The successor's transactional id has fenced these producers; this only spares them the attempt."""
        for producer, _ in self._own.values():
            cut_off(producer, why)

    def take_back(self, place: TopicPartition) -> bool:
        producer, _ = self._own[place]
        self._own[place] = producer, self._made(producer)
        self._ends.begin(place)
        return True

    async def _producer_of(self, place: TopicPartition) -> tuple[AIOKafkaProducer, Outbox]:
        name = f"{self._clients.group}.{place.topic}.{place.partition}"
        producer = await start_producer(self._settings, transactional_id=name)
        return producer, self._made(producer)

    def _made(self, producer: AIOKafkaProducer) -> Outbox:
        outbox = self._outbox(producer)
        outbox.saw = self._ends.saw
        return outbox
