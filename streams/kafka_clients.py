"""Settings and a chain → a worker's Kafka clients, closed in every case."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.client_options import kafka_options
from streams.outbox import RECORD_BYTES_MAX
from streams.settings import Settings
from streams.stage import Chain

BATCH_BYTES = 512_000
"""Below the 1 MB that a broker takes by default; one larger record still goes alone."""
FETCH_BYTES = 4_000_000
"""What one partition gives at once: 20,000 tokens; a longer record still comes."""
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
        max_partition_fetch_bytes=FETCH_BYTES,
        isolation_level="read_committed" if chain.is_transactional else "read_uncommitted",
        **options,
    )
    producer = AIOKafkaProducer(
        acks="all", max_batch_size=BATCH_BYTES, max_request_size=2 * RECORD_BYTES_MAX, **options
    )
    admin = AIOKafkaAdminClient(**options)
    try:
        await producer.start()
        await admin.start()
        await consumer.start()
        yield Clients(consumer, producer, admin, chain.group)
    finally:
        for client in (consumer.stop, producer.stop, admin.close):
            try:
                await asyncio.wait_for(client(), CLOSE_S_MAX)
            except (KafkaError, TimeoutError) as error:  # the server is away: nothing more can be said to it
                log.warning("a Kafka client did not close in order", extra={"error": type(error).__name__})
