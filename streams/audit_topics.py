"""`llm.audit` and `llm.audit-keys`, read to their present end → sealed records and wrapped keys; tombstones to erase.

Kafka deletes an erased key when it compacts the topic; until then it is skipped here, because its tombstone follows it
in the same partition.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.audit import AuditKey, AuditRecord
from schemas.wire import UndecodableError, decode
from streams.client_options import kafka_options
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.topics import Topology, partition_counts

POLL_MS = 200


def audit_topics(topology: Topology) -> tuple[str, str]:
    """Names of the topics for records and keys; raises ConfigError when the clean stage writes none."""
    records, keys = topology.topic_of("clean", "audit/1"), topology.topic_of("clean", "audit-key/1")
    if records is None or keys is None:
        raise ConfigError("topics.yaml: stages.clean: writes no audit records")
    return records, keys


async def read_audit(settings: Settings, topology: Topology) -> list[AuditKey | AuditRecord]:
    """Everything the two topics hold now, erased keys left out. Raises ServerAwayError."""
    found: list[AuditKey | AuditRecord] = []
    async with _started(settings, AIOKafkaConsumer) as consumer:
        async for record in _to_end(settings, consumer, audit_topics(topology)):
            if record.value is None:
                found = [item for item in found if not _is_key_of(item, record.key)]
            else:
                found += _read(record.value)
    return found


def _read(value: bytes) -> list[AuditKey | AuditRecord]:
    try:
        event = decode(value)
    except UndecodableError:  # not one of ours, and nothing that could be opened
        return []
    return [event] if isinstance(event, AuditKey | AuditRecord) else []


async def erase_keys(settings: Settings, topology: Topology, stream_id: str) -> int:
    """A tombstone after the stream's keys, in each partition that holds one; gives how many. Raises ServerAwayError."""
    topic, key = audit_topics(topology)[1], stream_id.encode("utf-8", "replace")
    async with _started(settings, AIOKafkaConsumer) as consumer:
        places = {
            record.partition
            async for record in _to_end(settings, consumer, (topic,))
            if record.key == key and record.value
        }
    async with _started(settings, AIOKafkaProducer) as producer:
        for partition in sorted(places):
            await producer.send_and_wait(topic, None, key=key, partition=partition)
    return len(places)


def _is_key_of(item: AuditKey | AuditRecord, key: bytes) -> bool:
    return isinstance(item, AuditKey) and item.stream_id.encode("utf-8", "replace") == key


@asynccontextmanager
async def _started(settings: Settings, kind: Any) -> AsyncIterator[Any]:
    client = kind(**kafka_options(settings))
    try:
        await client.start()
        yield client
    except KafkaError as error:
        raise ServerAwayError(f"Kafka at {settings.kafka_bootstrap}: {error!r}") from error
    finally:
        await client.stop()


async def _to_end(settings: Settings, consumer: AIOKafkaConsumer, topics: tuple[str, ...]) -> AsyncIterator[Any]:
    counts = await partition_counts(settings, topics)
    parts = [TopicPartition(topic, partition) for topic in topics for partition in range(counts[topic])]
    consumer.assign(parts)
    starts, ends = await consumer.beginning_offsets(parts), await consumer.end_offsets(parts)
    for part in parts:
        consumer.seek(part, starts[part])
    for part in parts:
        while await consumer.position(part) < ends[part]:
            polled = await consumer.getmany(part, timeout_ms=POLL_MS)
            for record in polled.get(part, ()):
                yield record
