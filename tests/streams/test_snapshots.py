"""Hot reload: what becomes active in the registry is in force in a running process within 2 s."""

import asyncio
import time
from dataclasses import replace

import pytest
import redis

from processors.knowledge import knowledge_of
from processors.snapshot import snapshot_of
from schemas.pattern import Pattern, PatternKind, PatternState
from streams.pattern_registry import connected
from streams.settings import Settings
from streams.snapshots import Snapshots

RELOAD_S_MAX = 2.0


@pytest.mark.engines
def test_published_pattern_is_in_force_within_two_seconds(running) -> None:
    pattern = Pattern(id="hot", version=1, kind=PatternKind.REASONING, definition={}, state=PatternState.ACTIVE)

    settings = replace(running.settings, topic_prefix="hot.")

    async def flow():
        snapshots, stop = Snapshots(), asyncio.Event()
        task = asyncio.create_task(snapshots.follow(settings, stop))
        await snapshots.wait_for_first()
        before = snapshots.current()
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            await registry.publish([pattern])
        published = time.monotonic()
        while "reasoning/hot" not in snapshots.current().entries:
            await asyncio.sleep(0.01)
        took_s = time.monotonic() - published
        stop.set()
        await task
        return before, took_s

    before, took_s = asyncio.run(flow())
    assert "reasoning/hot" not in before.entries
    assert took_s < RELOAD_S_MAX


def test_absent_registry_does_not_stop_a_start(monkeypatch) -> None:
    monkeypatch.setattr("streams.snapshots.FIRST_S_MAX", 0.3)

    async def flow():
        snapshots, stop = Snapshots(), asyncio.Event()
        task = asyncio.create_task(snapshots.follow(Settings(redis_url="redis://127.0.0.1:1/0"), stop))
        await snapshots.wait_for_first()
        stop.set()
        await task
        return snapshots.current().version

    assert asyncio.run(flow()) == 0


def entry(kind: PatternKind, entry_id: str, definition: dict) -> Pattern:
    return Pattern(id=entry_id, version=1, kind=kind, definition=definition, state=PatternState.ACTIVE)


@pytest.mark.engines
def test_entry_that_nothing_can_be_built_from_keeps_no_other_out(running, caplog) -> None:
    settings = replace(running.settings, topic_prefix="poison.")
    good = entry(PatternKind.TOOL, "f", {"name": "f", "parameters": {}})
    bad = [entry(PatternKind.FORMAT, f"bad-{n}", {"calls": [n], "id": "13800138000"}) for n in range(2)]

    async def flow():
        snapshots, stop = Snapshots(knowledge_of), asyncio.Event()
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            await registry.publish([*bad, good])
            task = asyncio.create_task(snapshots.follow(settings, stop))
            await snapshots.wait_for_first()
            first = snapshots.current()
            await registry.publish([entry(PatternKind.TOOL, "g", {"name": "g", "parameters": {}})])
            while snapshots.current().version < 2:
                await asyncio.sleep(0.01)
        stop.set()
        await task
        return first, snapshots.current()

    first, second = asyncio.run(asyncio.wait_for(flow(), 20))
    assert list(first.entries) == ["tool/f"]
    assert list(second.entries) == ["tool/f", "tool/g"]
    assert "format/bad-0 was left out" in caplog.text
    assert "13800138000" not in caplog.text


@pytest.mark.parametrize("kind", list(PatternKind))
def test_no_definition_raises_more_than_a_value_error(kind) -> None:
    for definition in ({}, {"name": 5}, {"calls": 5}, {"kind": "value_alias", "scope": 5, "match": 5}, {"type": "x"}):
        try:
            knowledge_of(snapshot_of([entry(kind, "x", definition)], 1))
        except ValueError:
            continue


@pytest.mark.engines
@pytest.mark.parametrize("broken", ["version", "entries", "log"])
def test_follower_outlives_garbage_under_the_registrys_keys(running, broken) -> None:
    settings = replace(running.settings, topic_prefix=f"garbage-{broken}.")
    key = f"{{{settings.topic_prefix}registry}}:{broken}"

    async def flow():
        snapshots, stop = Snapshots(), asyncio.Event()
        client = redis.Redis.from_url(settings.redis_url)
        client.set(key, "garbage")
        task = asyncio.create_task(snapshots.follow(settings, stop))
        await asyncio.sleep(0.3)
        client.delete(key)
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            await registry.publish([entry(PatternKind.REASONING, "later", {})])
        while not snapshots.current().entries:
            await asyncio.sleep(0.01)
        stop.set()
        await task

    asyncio.run(asyncio.wait_for(flow(), 20))
