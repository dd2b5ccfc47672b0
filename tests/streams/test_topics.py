"""topics.yaml: what it may not say, and that a cluster gets what it says."""

import asyncio
from dataclasses import replace
from importlib.resources import files

import pytest

from streams.permissions import permissions
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.topics import apply, check_stages, drift, load_topology, read_topology

SMALL = """
delivery: at_least_once
topics:
  a: &topic {description: d, key: stream_id, schemas: [token/1], access: public, partitions: 2, retention_hours: 1,
             cleanup: delete, producers: [app]}
  b: {<<: *topic, access: internal, consumers: [app]}
  dead: {<<: *topic, schemas: [], consumers: [app]}
stages:
  one: {reads: [a], writes: {"*": b}, group: one}
"""


def test_shipped_file_is_sound() -> None:
    topology = load_topology(Settings())
    assert topology.topic_of("clean", "output/1") == "llm.outputs"
    assert topology.topic_of("segment", "segment/1") == "llm.segments"
    assert topology.topic_of("clean", "segment/1") is None
    assert topology.dead_letters() == "llm.dead-letters"


def test_prefix_stands_before_every_topic() -> None:
    topology = load_topology(Settings(topic_prefix="x."))
    assert all(name.startswith("x.llm.") for name in topology.topics)
    assert topology.topic_of("segment", "segment/1") == "x.llm.segments"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("reads: [a]", "reads: [z]", "stages.one: topic 'z' is not declared"),
        ('"*": b', '"*": z', "stages.one: topic 'z' is not declared"),
        ("consumers: [app]}\n  dead", "}\n  dead", "topics.b: nobody reads it"),
        ("[token/1]", "[word/1]", "topics.a.schemas: 'word/1'"),
        ("partitions: 2", "partitions: 0", "topics.a.partitions"),
        ("group: one", "colour: red", "stages.one"),
        ("delivery: at_least_once", "delivery: maybe", "delivery"),
        ("schemas: []", "schemas: [token/1]", "dead letters"),
        ("topics:", "topics: [", "there.yaml"),
    ],
)
def test_wrong_file_is_refused_with_its_key(old, new, why) -> None:
    with pytest.raises(ConfigError) as error:
        read_topology(SMALL.replace(old, new, 1), "there.yaml")
    assert why in str(error.value)


def test_stage_that_only_one_side_has_is_refused() -> None:
    topology = read_topology(SMALL, "there.yaml")
    check_stages(topology, ["one"])
    with pytest.raises(ConfigError, match="'two' is missing"):
        check_stages(topology, ["one", "two"])
    with pytest.raises(ConfigError, match="no code builds"):
        check_stages(topology, [])


@pytest.mark.engines
def test_missing_topics_are_created_and_drift_is_seen(running) -> None:
    settings = replace(running.settings, topic_prefix="topics-test.")
    topology = load_topology(settings)
    assert len(asyncio.run(drift(settings, topology))) == len(topology.topics)
    assert asyncio.run(apply(settings, topology)) == list(topology.topics)
    assert asyncio.run(drift(settings, topology)) == []
    name = "topics-test.llm.tokens"
    more = topology.topics | {name: topology.topics[name].model_copy(update={"partitions": 13})}
    found = asyncio.run(drift(settings, topology.model_copy(update={"topics": more})))
    assert found == [f"{name}: 12 partitions, declared are 13"]


def test_each_stage_may_read_and_write_just_its_topics() -> None:
    rows = list(permissions(Settings(), load_topology(Settings())))
    segment = {(row["name"], row["operations"]) for row in rows if row["principal"] == "segment"}
    assert segment == {
        ("llm.tokens", "Read, Describe"), ("llm.segments", "Write, Describe"), ("llm.dead-letters", "Write, Describe"),
        ("hermes.segment", "Read, Describe"),
    }  # fmt: skip
    assert {row["name"] for row in rows if row["principal"] == "consumers"} == {"llm.outputs", "llm.steps"}


def test_absent_cluster_is_said_with_its_address() -> None:
    settings = Settings(kafka_bootstrap="127.0.0.1:1")
    with pytest.raises(ServerAwayError, match=r"127\.0\.0\.1:1"):
        asyncio.run(apply(settings, load_topology(settings)))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('{"*": llm.segments}', '{"*": llm.segments, failure/1: llm.steps}', "segment: writes to the public topic 'llm.steps'"),
        ('{"*": llm.parsed}', '{"*": llm.parsed, failure/1: llm.outputs}', "tool: writes to the public topic 'llm.outputs'"),
        ("[llm.steps, ", "[llm.parsed, ", "stages.sink: reads 'llm.parsed', which was not cleaned"),
        ("[llm.steps, ", "[llm.tokens, ", "stages.sink: reads 'llm.tokens', which was not cleaned"),
        ("[llm.steps, ", "[llm.dead-letters, ", "stages.sink: reads 'llm.dead-letters', which was not cleaned"),
        ("[llm.pattern-discovery, ", "[llm.segments, llm.pattern-discovery, ", "stages.learn: reads 'llm.segments', which"),
        ("schemas: [token/1]", "schemas: [token/1, opened/1]", ""),
    ],
)  # fmt: skip
def test_a_wiring_that_leads_around_clean_is_refused(old: str, new: str, why: str) -> None:
    shipped = files("streams").joinpath("topics.yaml").read_text(encoding="utf-8")
    assert old in shipped
    text = shipped.replace(old, new, 1)
    if not why:
        text, why = text.replace("[llm.steps, ", "[llm.tokens, "), "which was not cleaned"
    with pytest.raises(ConfigError) as error:
        read_topology(text, "there.yaml")
    assert why in str(error.value)
