"""A topic → its records from a place or a time up to its end now, without a group: nothing is committed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaError

from streams.client_options import kafka_options
from streams.open_stream import Record
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.topics import partition_counts

FETCH_BYTES = 20_000_000
ASKED_MAX = 10


@asynccontextmanager
async def _consumer(settings: Settings) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        max_partition_fetch_bytes=FETCH_BYTES,
        **kafka_options(settings),
    )
    try:
        await consumer.start()
        yield consumer
    except (KafkaConnectionError, KafkaError) as error:
        raise ServerAwayError(f"Kafka at {settings.kafka_bootstrap}: {error}") from None
    finally:
        await consumer.stop()


async def records(settings: Settings, topic: str, since_ms: int | None = None) -> AsyncIterator[Record]:
    """Records that are there now, partition by partition in order; from a time on if one is given."""
    async with _consumer(settings) as consumer:
        places = await _places(settings, topic)
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        starts = await consumer.beginning_offsets(places)
        if since_ms is not None:
            found = await consumer.offsets_for_times(dict.fromkeys(places, since_ms))
            starts = {place: at.offset if at else ends[place] for place, at in found.items()}
        for place in places:
            consumer.seek(place, starts[place])
        async for record in _until(consumer, {place: end for place, end in ends.items() if starts[place] < end}):
            yield record


async def _until(consumer: AIOKafkaConsumer, ends: dict[TopicPartition, int]) -> AsyncIterator[Record]:
    """Records of these partitions up to their ends."""
    seen: set[TopicPartition] = set()
    left = set(ends)
    while left:
        for place, batch in (await consumer.getmany(*left, timeout_ms=500)).items():
            if place not in seen:
                seen.add(place)
                ends[place] = max(ends[place], consumer.highwater(place) or 0)  # see `_true_ends`
            for record in batch:
                yield record
        left = {place for place in left if await consumer.position(place) < ends[place]}


async def record_at(settings: Settings, topic: str, partition: int, offset: int) -> Record:
    """One record; raises ConfigError when it isn't there."""
    async with _consumer(settings) as consumer:
        place = TopicPartition(topic, partition)
        if place not in await _places(settings, topic):
            raise ConfigError(f"{topic} has no partition {partition}")
        consumer.assign([place])
        start = (await consumer.beginning_offsets([place]))[place]
        end = (await _true_ends(consumer, [place]))[place]
        if not start <= offset < end:
            raise ConfigError(f"{topic}, partition {partition}: no offset {offset}; there are {start} to {end - 1}")
        consumer.seek(place, offset)
        found: Record = await consumer.getone()
        return found


async def ends(settings: Settings, topic: str) -> dict[int, int]:
    """Partition → offset of the next record."""
    async with _consumer(settings) as consumer:
        places = await _places(settings, topic)
        consumer.assign(places)
        return {place.partition: offset for place, offset in (await _true_ends(consumer, places)).items()}


async def _true_ends(consumer: AIOKafkaConsumer, places: list[TopicPartition]) -> dict[TopicPartition, int]:
    """Where partitions end: the embedded broker says where the last batch begins, so the batch itself is asked too."""
    ends: dict[TopicPartition, int] = await consumer.end_offsets(places)
    waiting = {place for place in places if ends[place] > 0}
    for place in waiting:
        consumer.seek(place, ends[place] - 1)
    for _ in range(ASKED_MAX):
        if not waiting:
            break
        await consumer.getmany(*waiting, timeout_ms=200)
        waiting = {place for place in waiting if consumer.highwater(place) is None}
    return {place: max(end, consumer.highwater(place) or 0) for place, end in ends.items()}


async def _places(settings: Settings, topic: str) -> list[TopicPartition]:
    count = (await partition_counts(settings, [topic]))[topic]
    return [TopicPartition(topic, partition) for partition in range(count)]
