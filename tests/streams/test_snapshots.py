"""Hot reload: what becomes active in the registry is in force in a running process within 2 s."""

import asyncio
import time
from dataclasses import replace

import pytest

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
