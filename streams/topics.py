"""topics.yaml → Topology; declares its topics on a cluster, finds drift, and refuses stages that it doesn't name.

Nothing else knows a topic's name. Where the file and the code differ (a stage that only one of them has, a topic that
nobody writes or reads, a schema that is no event's), loading raises ConfigError with the file and the key.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaConnectionError, KafkaError, TopicAlreadyExistsError, for_code
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from schemas.wire import Event
from streams.client_options import kafka_options
from streams.settings import ConfigError, ServerAwayError, Settings

EVENT_SCHEMAS = frozenset(get_args(event.__annotations__["schema"])[0] for event in get_args(Event))
BESIDE_EVENTS = frozenset({"count/1"})
"""Schemas of records that are not events: the learner's counts."""

CLEAN = "clean"
"""The stage behind which text is clean."""
KEEPING = frozenset({"sink", "learn"})
"""Stages that put what they read into a store."""

REPLICATION_MAX = 3
"""Copies of a topic on a cluster with that many brokers: one may be lost while another is restarted."""

LED_S_MAX = 30.0
"""Longest wait for the leaders of new topics."""
LED_ASK_S = 0.1


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Topic(_Entry):
    """One topic as declared."""

    description: str
    key: str
    schemas: tuple[str, ...]
    access: Literal["public", "internal"]
    partitions: PositiveInt
    retention_hours: int
    cleanup: Literal["delete", "compact"]
    producers: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()

    def configuration(self) -> dict[str, str]:
        """Kafka's own settings for this topic."""
        retention_ms = self.retention_hours * 3_600_000 or -1
        return {"cleanup.policy": self.cleanup, "retention.ms": str(retention_ms)}


class StageEntry(_Entry):
    """One stage as declared: topics in, event schema → topic out."""

    reads: tuple[str, ...]
    writes: dict[str, str]
    group: str


class Topology(_Entry):
    """Everything topics.yaml says."""

    delivery: Literal["at_least_once", "exactly_once"]
    topics: dict[str, Topic]
    stages: dict[str, StageEntry]

    def topic_of(self, stage: str, schema: str) -> str | None:
        """Where a stage's event goes; None when it is not published."""
        writes = self.stages[stage].writes
        return writes.get(schema, writes.get("*"))

    def dead_letters(self) -> str:
        """The topic for records that no stage could read."""
        return next(name for name, topic in self.topics.items() if not topic.schemas)


def load_topology(settings: Settings) -> Topology:
    """The shipped topology or the one settings name, with the prefix put before each topic; raises ConfigError."""
    if settings.topics_file:
        place = settings.topics_file
        try:
            text = Path(place).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{place}: {error.strerror}") from error
    else:
        place, text = "topics.yaml", _shipped()
    return _with_prefix(read_topology(text, place), settings.topic_prefix)


def read_topology(text: str, place: str) -> Topology:
    """Text of a topics.yaml → its Topology; raises ConfigError that names the place and the key."""
    try:
        topology = Topology.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ConfigError(f"{place}: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{place}: {key or 'whole file'}: {first['msg']}") from None
    for problem in _problems(topology):
        raise ConfigError(f"{place}: {problem}")
    return topology


def check_stages(topology: Topology, built: Iterable[str]) -> None:
    """Refuse to start when a stage is only in the file or only in the code."""
    names = set(built)
    for name in sorted(topology.stages.keys() - names):
        raise ConfigError(
            f"topics.yaml: stages.{name}: no code builds this stage; there are {', '.join(sorted(names))}"
        )
    for name in sorted(names - topology.stages.keys()):
        raise ConfigError(f"topics.yaml: stages: {name!r} is missing, the code has it")


def _problems(topology: Topology) -> Iterable[str]:
    written = {topic for stage in topology.stages.values() for topic in stage.writes.values()}
    read = {topic for stage in topology.stages.values() for topic in stage.reads}
    for name, stage in topology.stages.items():
        for used in (*stage.reads, *stage.writes.values()):
            if used not in topology.topics:
                yield f"stages.{name}: topic {used!r} is not declared"
    for name, topic in topology.topics.items():
        if name not in written and not topic.producers:
            yield f"topics.{name}: nobody writes it"
        if name not in read and not topic.consumers:
            yield f"topics.{name}: nobody reads it"
        if unknown := set(topic.schemas) - EVENT_SCHEMAS - BESIDE_EVENTS:
            yield f"topics.{name}.schemas: {min(unknown)!r} is no event's schema"
    yield from _leaks(topology)
    if sum(not topic.schemas for topic in topology.topics.values()) != 1:
        yield "topics: exactly one must have no schemas, the one for dead letters"


def _leaks(topology: Topology) -> Iterable[str]:
    """Ways by which text that was not cleaned gets to what is public or kept: from the tokens to `clean` it is so, and
    dead letters are records as received.
    """
    unclean = {name for name, topic in topology.topics.items() if "token/1" in topic.schemas or not topic.schemas}
    stages = {name: stage for name, stage in topology.stages.items() if name != CLEAN}
    for _ in stages:
        unclean |= {topic for stage in stages.values() if unclean & set(stage.reads) for topic in stage.writes.values()}
    for name, stage in stages.items():
        if not unclean & set(stage.reads):
            continue
        for topic in stage.writes.values():
            if topic in topology.topics and topology.topics[topic].access == "public":
                yield f"stages.{name}: writes to the public topic {topic!r} what was not cleaned"
        if name in KEEPING:
            yield f"stages.{name}: reads {min(unclean & set(stage.reads))!r}, which was not cleaned"


def _with_prefix(topology: Topology, prefix: str) -> Topology:
    stages = {
        name: stage.model_copy(
            update={
                "reads": tuple(prefix + topic for topic in stage.reads),
                "writes": {schema: prefix + topic for schema, topic in stage.writes.items()},
            }
        )
        for name, stage in topology.stages.items()
    }
    topics = {prefix + name: topic for name, topic in topology.topics.items()}
    return topology.model_copy(update={"topics": topics, "stages": stages})


@cache
def _shipped() -> str:
    return files("streams").joinpath("topics.yaml").read_text(encoding="utf-8")


async def apply(settings: Settings, topology: Topology) -> list[str]:
    """Create the topics that are missing; gives their names. Raises ServerAwayError."""
    async with _Admin(settings) as admin:
        present = set(await admin.list_topics())
        missing = [name for name in topology.topics if name not in present]
        if not missing:
            return []
        brokers = len((await admin.describe_cluster())["brokers"])
        replication = min(REPLICATION_MAX, brokers)
        response = await admin.create_topics([_new_topic(name, topology.topics[name], replication) for name in missing])
        for name, code, *_ in response.topic_errors:
            if for_code(code) is TopicAlreadyExistsError:
                continue  # another process applied at the same time
            if code:
                raise ConfigError(f"topic {name}: {for_code(code).__name__}")
        await _led(admin, missing)
        return missing


async def _led(admin: AIOKafkaAdminClient, names: Sequence[str]) -> None:
    """Wait until topics have leaders: Apache Kafka answers before its brokers know what it created."""
    deadline = time.monotonic() + LED_S_MAX
    while time.monotonic() < deadline:
        described = {topic["topic"]: topic for topic in await admin.describe_topics(list(names))}
        if all(name in described and _is_led(described[name]) for name in names):
            return
        await asyncio.sleep(LED_ASK_S)
    raise ServerAwayError(f"topics were created {LED_S_MAX:g} s ago and have no leaders yet: {', '.join(names)}")


def _is_led(described: Mapping[str, Any]) -> bool:
    partitions = described["partitions"]
    return bool(partitions) and all(not part["error_code"] and part["leader"] >= 0 for part in partitions)


async def partition_counts(settings: Settings, names: Sequence[str]) -> dict[str, int]:
    """How many partitions each topic has; raises ConfigError for one that does not exist, and ServerAwayError.

    The admin client is asked: on Apache Kafka a consumer knows only of topics that it has subscribed to.
    """
    async with _Admin(settings) as admin:
        present = set(await admin.list_topics())
        for name in names:
            if name not in present:
                raise ConfigError(f"topic {name} does not exist: run `hermes-streams topics apply`")
        return {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics(list(names))}


async def drift(settings: Settings, topology: Topology) -> list[str]:
    """What on the cluster differs from the topology, one sentence each. Raises ServerAwayError."""
    async with _Admin(settings) as admin:
        described = {topic["topic"]: topic for topic in await admin.describe_topics()}
        found = [f"{name}: does not exist" for name in topology.topics if name not in described]
        for name in topology.topics.keys() & described.keys():
            actual = await _configuration(admin, name)
            found += _differences(name, topology.topics[name], len(described[name]["partitions"]), actual)
        return sorted(found)


def _differences(name: str, wanted: Topic, partitions: int, actual: dict[str, str]) -> Iterable[str]:
    if partitions != wanted.partitions:
        yield f"{name}: {partitions} partitions, declared are {wanted.partitions}"
    for key, value in wanted.configuration().items():
        if key in actual and actual[key] != value:
            yield f"{name}: {key} is {actual[key]}, declared is {value}"


def _new_topic(name: str, topic: Topic, replication: int) -> NewTopic:
    return NewTopic(name, topic.partitions, replication, topic_configs=topic.configuration())


async def _configuration(admin: AIOKafkaAdminClient, name: str) -> dict[str, str]:
    (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
    return {entry[0]: entry[1] for resource in response.resources for entry in resource[4]}


class _Admin:
    """An admin client, whose faults are a ServerAwayError."""

    def __init__(self, settings: Settings) -> None:
        self._bootstrap = settings.kafka_bootstrap
        self._client = AIOKafkaAdminClient(**kafka_options(settings))

    async def __aenter__(self) -> AIOKafkaAdminClient:
        try:
            await self._client.start()
        except (KafkaError, OSError) as error:
            await self._client.close()
            raise ServerAwayError(f"Kafka at {self._bootstrap} does not answer: {error}") from error
        return self._client

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self._client.close()
        if isinstance(error, KafkaConnectionError) or (isinstance(error, KafkaError) and error.retriable):
            raise ServerAwayError(f"Kafka at {self._bootstrap}: {error}") from error
