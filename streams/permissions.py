"""topics.yaml → the least that each stage must be allowed on Kafka: one row for each right."""

from collections.abc import Iterator

from streams.settings import Settings
from streams.topics import Topology

Row = dict[str, str]


def permissions(settings: Settings, topology: Topology) -> Iterator[Row]:
    """Rights of each stage by its own principal; a chain has those of its stages, its group is their names joined."""
    for stage, entry in topology.stages.items():
        group = f"{settings.group_prefix}.{entry.group}"
        for topic in entry.reads:
            yield _row(stage, "topic", topic, "Read, Describe")
        for topic in dict.fromkeys((*entry.writes.values(), topology.dead_letters())):
            yield _row(stage, "topic", topic, "Write, Describe")
        if "output/1" in entry.writes:
            # who takes a partition over reads what was sent and not committed
            yield _row(stage, "topic", entry.writes["output/1"], "Read, Describe")
        if stage == "learn":
            (table,) = (name for name, topic in topology.topics.items() if topic.schemas == ("count/1",))
            yield _row(stage, "topic", table, "Read, Write, Describe")
        yield _row(stage, "group", group, "Read, Describe")
        if topology.delivery == "exactly_once" and stage != "learn":
            yield _row(stage, "transactional-id", f"{group}.", "Write, Describe (prefixed)")
    yield _row("producers", "topic", f"{settings.topic_prefix}llm.tokens", "Write, Describe")
    yield _row("consumers", "topic", f"{settings.topic_prefix}llm.outputs", "Read, Describe")
    yield _row("consumers", "topic", f"{settings.topic_prefix}llm.steps", "Read, Describe")


def _row(principal: str, kind: str, name: str, operations: str) -> Row:
    return {"principal": principal, "resource": kind, "name": name, "operations": operations}
