"""The learning loop: failures are counted once and become candidates; changes reach the log of patterns."""

import asyncio

import orjson
import pytest

from schemas.failure import Failure, FailureCode, Stage
from schemas.pattern import PatternState
from schemas.wire import encode
from streams.failures_to_patterns import SUPPORT_MIN, LearnWorker, Signatures
from streams.pattern_registry import connected
from tests.streams.flow import consumed, prepared, produce


def failures(count: int, code: FailureCode) -> list[tuple[str, bytes]]:
    return [
        (code, encode(Failure(stream_id=f"s{i}", code=code, stage=Stage.TOOL, signature=f"tool:{code}:x")))
        for i in range(count)
    ]


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
