"""The learning loop: failures are counted once and become candidates; changes reach the log of patterns."""

import asyncio
from dataclasses import replace

import orjson
import pytest

from processors.snapshot import to_json
from schemas.failure import Failure, FailureCode, Stage
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from schemas.wire import encode
from streams.failures_to_patterns import SUPPORT_MIN, LearnWorker, Signatures
from streams.pattern_registry import connected
from streams.registry_changes import decided, edit
from streams.registry_log import faults, logged
from tests.streams.flow import consumed, prepared, produce


def failures(count: int, code: FailureCode) -> list[tuple[str, bytes]]:
    return [
        (code, encode(Failure(stream_id=f"s{i}", code=code, stage=Stage.TOOL, signature=f"tool:{code}:x")))
        for i in range(count)
    ]


def in_group(name: str, state: PatternState) -> Pattern:
    return Pattern(
        id=name, version=1, kind=PatternKind.STRATEGY, state=state, definition={"signature": name}, exclusive_group="g"
    )


@pytest.mark.engines
def test_signature_with_support_becomes_a_candidate_once(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "learn.")
        often = failures(SUPPORT_MIN + 3, FailureCode.NO_FORMAT)
        await produce(settings, "learn.llm.pattern-discovery", [*often, *often])
        await produce(settings, "learn.llm.pattern-discovery", failures(SUPPORT_MIN - 1, FailureCode.UNKNOWN_TOOL) * 2)
        await produce(settings, "learn.llm.pattern-discovery", [("x", b"\xff")])
        worker, stop = LearnWorker(settings, topology, Signatures()), asyncio.Event()
        task = asyncio.create_task(worker.run(stop))
        records = await consumed(settings, "llm.patterns", 1, wait_s=30)
        for _ in range(50):
            if worker.counted == 2 * SUPPORT_MIN + 2:
                break
            await asyncio.sleep(0.1)
        stop.set()
        await task
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            return records, worker.counted, await registry.snapshot()

    records, counted, snapshot = asyncio.run(flow())
    assert counted == 2 * SUPPORT_MIN + 2
    (entry,) = [entry for entry in snapshot.entries.values() if entry.definition.get("signature") == "tool:no_format:x"]
    assert entry.state is PatternState.CANDIDATE
    assert not any(entry.definition.get("signature") == "tool:unknown_tool:x" for entry in snapshot.entries.values())
    assert [orjson.loads(record.value)["id"] for record in records] == [entry.id]
    assert records[0].key == f"strategy/{entry.id}".encode()


@pytest.mark.engines
def test_registry_is_rebuilt_from_the_topic_to_the_byte(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "rebuild.")
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            await registry.publish([in_group("a", PatternState.ACTIVE), in_group("b", PatternState.CANDIDATE)])
            step = Evidence(step="decided")
            await edit(registry, lambda now: decided(now, now.entries["strategy/b"], PatternState.ACTIVE, step))
            worker, stop = LearnWorker(settings, topology, Signatures()), asyncio.Event()
            task = asyncio.create_task(worker.run(stop))
            await consumed(settings, "llm.patterns", 2, wait_s=30)
            stop.set()
            await task
            log = await logged(settings)
            sound = await faults(registry, log)
            async with connected(settings.redis_url, "rebuilt.") as empty:
                await empty.restore(log)
                is_same = to_json(await empty.snapshot()) == to_json(await registry.snapshot())
                await empty.publish([replace(log[0], version=log[0].version + 1)])
                return sound, is_same, await faults(empty, log), await registry.snapshot()

    sound, is_same, differing, snapshot = asyncio.run(flow())
    assert (sound, is_same) == ([], True)
    assert [(entry, "differs from the topic" in what) for entry, what in differing] == [("strategy/a", True)]
    assert [entry.state for entry in snapshot.entries.values()] == [PatternState.RETIRED, PatternState.ACTIVE]


@pytest.mark.engines
def test_counts_survive_a_restart(running) -> None:
    all_failures = failures(SUPPORT_MIN, FailureCode.NO_FORMAT)

    async def counted(settings, topology, count: int) -> list:
        worker, stop = LearnWorker(settings, topology, Signatures()), asyncio.Event()
        task = asyncio.create_task(worker.run(stop))
        for _ in range(300):
            if worker.counted >= count:
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(1.5)  # what was counted is committed once a second
        stop.set()
        await task
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            return [entry.definition["signature"] for entry in (await registry.snapshot()).entries.values()]

    async def flow():
        settings, topology = await prepared(running.settings, "restart.")
        await produce(settings, "restart.llm.pattern-discovery", all_failures[:-1])
        before = await counted(settings, topology, SUPPORT_MIN - 1)
        await produce(settings, "restart.llm.pattern-discovery", all_failures[-1:])
        return before, await counted(settings, topology, 1)

    before, after = asyncio.run(flow())
    assert "tool:no_format:x" not in before
    assert "tool:no_format:x" in after
