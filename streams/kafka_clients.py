"""Settings and a chain → a worker's Kafka clients, closed in every case."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError, UnknownError, UnsupportedVersionError

from streams.client_options import kafka_options
from streams.outbox import RECORD_BYTES_MAX
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.stage import Chain

BATCH_BYTES = 512_000
"""Below the 1 MB that a broker takes by default; one larger record still goes alone."""
FETCH_BYTES = 4_000_000
"""What one partition gives at once: 20,000 tokens; a longer record still comes."""
FETCH_WAIT_MS = 20
"""Longest that the broker holds a fetch: the embedded one holds it to the end, even when records come."""
REBALANCE_MS_MAX = 60_000
"""Longest wait of a forming group for a member that is alive and still has a batch to finish; a dead one is noticed by
its session. A member that is given up while it is sending would write what its successor writes too."""
CLOSE_S_MAX = 10.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Clients:
    """Started clients of one worker."""

    consumer: AIOKafkaConsumer
    producer: AIOKafkaProducer
    admin: AIOKafkaAdminClient
    group: str

    async def partitions(self, topics: Iterable[str]) -> dict[str, int]:
        """How many partitions each topic has."""
        described = await self.admin.describe_topics(sorted(topics))
        return {topic["topic"]: len(topic["partitions"]) for topic in described}

    async def committed(self, place: TopicPartition) -> tuple[int, str] | None:
        """Offset and metadata last committed; asked for one partition, which every broker answers rightly."""
        found = await self.admin.list_consumer_group_offsets(self.group, partitions=[place])
        offset = found.get(place)
        return (offset.offset, offset.metadata or "") if offset and offset.offset >= 0 else None


@asynccontextmanager
async def opened(settings: Settings, chain: Chain) -> AsyncIterator[Clients]:
    """Start the clients of a worker; raises the client's errors."""
    options = kafka_options(settings)
    consumer = AIOKafkaConsumer(
        group_id=chain.group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        session_timeout_ms=settings.session_timeout_ms,
        heartbeat_interval_ms=settings.session_timeout_ms // 5,
        rebalance_timeout_ms=max(settings.session_timeout_ms, REBALANCE_MS_MAX),
        max_partition_fetch_bytes=FETCH_BYTES,
        fetch_max_wait_ms=FETCH_WAIT_MS,
        isolation_level="read_committed" if chain.is_transactional else "read_uncommitted",
        **options,
    )
    admin = AIOKafkaAdminClient(**options)
    closing: list[Callable[[], Awaitable[None]]] = [consumer.stop, admin.close]
    try:
        producer = await start_producer(settings)
        closing.insert(0, partial(close_producer, producer))
        await admin.start()
        await consumer.start()
        yield Clients(consumer, producer, admin, chain.group)
    finally:
        for close in closing:
            await _close(close)


async def start_producer(settings: Settings, transactional_id: str | None = None) -> AIOKafkaProducer:
    """A started producer: with an id, a transactional one; else an idempotent one where the broker has that."""
    options = {
        "acks": "all",
        "max_batch_size": BATCH_BYTES,
        "max_request_size": 2 * RECORD_BYTES_MAX,
        **kafka_options(settings),
    }
    producer = AIOKafkaProducer(enable_idempotence=True, transactional_id=transactional_id, **options)
    try:
        with _quiet("aiokafka.producer.sender"):
            await producer.start()
    except (UnknownError, UnsupportedVersionError) as error:  # what a broker says that has no producer ids
        await _close(producer.stop)
        if transactional_id is not None:
            raise ConfigError("delivery: exactly_once: this broker has no transactions") from error
        producer = AIOKafkaProducer(**options)
        await producer.start()
    except BaseException:
        await _close(producer.stop)
        raise
    return producer


async def close_producer(producer: AIOKafkaProducer) -> None:
    """Let it send what it has, or after CLOSE_S_MAX drop that: a producer left to itself would send it later."""
    await _close(producer.stop)
    cut_off(producer, ServerAwayError("the producer was closed"))
    await _close(producer.client.close)


def cut_off(producer: AIOKafkaProducer, why: Exception) -> None:
    """Drop at once what is not on its way to the broker; the client has no public way."""
    sender = producer._sender.sender_task  # noqa: SLF001
    if sender is not None and not sender.done():
        producer._message_accumulator.fail_all(why)  # noqa: SLF001
        sender.cancel()


async def _close(close: Callable[[], Awaitable[None]]) -> None:
    try:
        await asyncio.wait_for(close(), CLOSE_S_MAX)
    except (KafkaError, TimeoutError) as error:  # the server is away: nothing more can be said to it
        log.warning("a Kafka client did not close in order", extra={"error": type(error).__name__})


@contextmanager
def _quiet(logger: str) -> Iterator[None]:
    """The client reports as an error what is only an answer to a question."""
    named = logging.getLogger(logger)
    level = named.level
    named.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        named.setLevel(level)
