"""Consumer groups of a pipeline → how far each is behind, by topic."""

from collections.abc import Sequence

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaConnectionError, KafkaError

from streams.client_options import kafka_options
from streams.settings import ServerAwayError, Settings
from streams.topic_reader import ends
from streams.topics import Topology


async def lags(settings: Settings, topology: Topology) -> list[dict[str, object]]:
    """One row for each group and topic that it reads: records committed, records there, records that wait."""
    admin = AIOKafkaAdminClient(**kafka_options(settings))
    rows = []
    try:
        await admin.start()
        groups = sorted(group for group, *_ in await admin.list_consumer_groups())
        for group in groups:
            for topic in _reads(settings, topology, group):
                rows.append(await _row(admin, settings, group, topic))
    except (KafkaConnectionError, KafkaError) as error:
        raise ServerAwayError(f"Kafka at {settings.kafka_bootstrap}: {error}") from None
    finally:
        await admin.close()
    return rows


def _reads(settings: Settings, topology: Topology, group: str) -> Sequence[str]:
    """Topics that a group reads: those of its first stage, by its name."""
    prefix = settings.group_prefix + "."
    first = group.removeprefix(prefix).split(".")[0] if group.startswith(prefix) else ""
    return next((entry.reads for entry in topology.stages.values() if entry.group == first), ())


async def _row(admin: AIOKafkaAdminClient, settings: Settings, group: str, topic: str) -> dict[str, object]:
    there = await ends(settings, topic)
    lag = committed = 0
    for partition, end in there.items():  # one partition at a time, which every broker answers rightly
        place = TopicPartition(topic, partition)
        found = (await admin.list_consumer_group_offsets(group, partitions=[place])).get(place)
        offset = max(0, found.offset) if found else 0
        committed += offset
        lag += max(0, end - offset)
    return {"group": group, "topic": topic, "committed": committed, "end": sum(there.values()), "lag": lag}
