"""The stage `retrospect` between its topics: what it says of failures, of signals, and after a restart; rollback."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from uuid import uuid4

import orjson
import pytest

from processors.snapshot import Snapshot
from processors.strategies.strategy import Strategy
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.signal import Signal
from schemas.toolcall import AppliedStrategy, ToolResult
from schemas.trajectory import Step
from schemas.wire import encode
from streams import running as running_module
from streams.cli.retrospect import tell
from streams.pattern_registry import connected
from streams.settings import ConfigError, Settings
from tests.streams.flow import consumed, prepared, produce

pytestmark = pytest.mark.engines
LOST = {"kind": "TimeoutError", "code": None}


async def calls(settings: Settings, *given: tuple[str, str, dict]) -> None:
    """Calls and their results: stream, status and what else the result has."""
    steps, results = [], []
    for stream_id, status, more in given:
        detail = {"id": "c", "name": "charge", "arguments": {"order": stream_id}}
        steps.append((stream_id, encode(Step(stream_id=stream_id, order=0, kind="tool_call", detail=detail))))
        results.append((stream_id, encode(ToolResult(stream_id=stream_id, call_id="c", status=status, **more))))
    await produce(settings, settings.topic_prefix + "llm.steps", steps)
    await produce(settings, settings.topic_prefix + "llm.tool-results", [*results, ("x", b"no event")])


async def said(settings: Settings, count: int) -> list[dict]:
    return [orjson.loads(one.value) for one in await consumed(settings, "llm.retrospections", count, wait_s=20)]


@asynccontextmanager
async def retrospecting(settings: Settings) -> AsyncIterator[running_module.Running]:
    workers = running_module.prepare(settings, ["retrospect"])
    stop = asyncio.Event()
    task = asyncio.create_task(running_module.run(settings, workers, stop))
    try:
        await asyncio.wait_for(workers.retrospector.is_ready.wait(), 20)
        yield workers
    finally:
        stop.set()
        await task


def play(running, story: Callable[[Settings], Awaitable[None]]) -> None:
    async def main() -> None:
        settings, _ = await prepared(running.settings, f"{uuid4()}.")
        await story(settings)

    asyncio.run(main())


def test_a_lost_call_is_jitter_until_an_alert_comes_and_a_question_is_answered(running) -> None:
    async def story(settings: Settings) -> None:
        async with retrospecting(settings) as workers:
            fine = [(f"ok{n}", "ok", {"content": {"n": n}}) for n in range(10)]
            await calls(settings, *fine, ("lost", "system_error", {"content": LOST, "error": "no answer"}))
            (first,) = await said(settings, 1)
            assert (first["schema"], first["stream_id"], first["cause"]) == ("attribution/1", "lost", "jitter")
            assert time.time() * 1000 - first["ts"] < 10_000
            await tell(settings, Signal(kind="alert", about="charge", text="charge is down", ts=time.time() * 1000))
            passive = (await said(settings, 2))[1]
            assert (passive["schema"], passive["trigger"], passive["cause"]) == (
                "retrospection/1",
                "passive",
                "dependency",
            )
            assert passive["evidence_trace"][0]["data"]["why"] == "alert: charge is down"
            await tell(settings, Signal(kind="retrospect", stream_id="lost", text="why was it lost?"))
            explicit = (await said(settings, 3))[2]
            assert (explicit["trigger"], explicit["strategy"]) == ("explicit", None)
            assert workers.retrospector.figures() == {"llm_attributions_total": 1, "llm_retrospections_total": 2}

    play(running, story)


def test_after_a_restart_nothing_is_said_twice_and_what_was_usual_is_known(running) -> None:
    async def story(settings: Settings) -> None:
        lost = {"content": LOST, "error": "no answer"}
        async with retrospecting(settings):
            await calls(settings, *((f"a{n}", "system_error", lost) for n in range(3)))
            before = await said(settings, 4)
            assert sorted(one["schema"] for one in before) == ["attribution/1"] * 3 + ["retrospection/1"]
            # Longer than a failure may wait at the end of the first process, so that none is judged by both.
            await asyncio.sleep(8)
        async with retrospecting(settings):
            await calls(settings, ("b", "system_error", lost))
            found = await said(settings, 5)
            attributions = [one["stream_id"] for one in found if one["schema"] == "attribution/1"]
            assert sorted(attributions) == ["a0", "a1", "a2", "b"]
            last = next(one for one in found if one["schema"] == "attribution/1" and one["stream_id"] == "b")
            assert last["evidence"][3]["data"]["repeats"] == "4 of 4 calls in 300 s"

    play(running, story)


def entry(state: PatternState) -> Pattern:
    strategy = Strategy.model_validate(
        {
            "schema": "strategy/1", "id": "s1", "trigger": {"tool": "charge"}, "action": {"kind": "require_review"},
            "impact": {"risk": "high"},
        }
    )  # fmt: skip
    return Pattern(id="s1", version=1, kind=PatternKind.STRATEGY, definition=strategy.dump(), state=state)


async def until(workers: running_module.Running, holds: Callable[[Snapshot], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds(workers.snapshots.current()):
            await asyncio.sleep(0.05)


def test_a_strategy_is_taken_back_by_verdicts_and_by_calls_that_went_well_without_it(running) -> None:
    async def story(settings: Settings) -> None:
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            await registry.publish([entry(PatternState.ACTIVE)])
            async with retrospecting(settings) as workers:
                await until(workers, lambda now: bool(now.of(PatternKind.STRATEGY)))
                for _ in range(3):
                    await tell(settings, Signal(kind="review", about="s1", is_right=False))
                await until(workers, lambda now: bool(now.of(PatternKind.STRATEGY, PatternState.SHADOW)))
                version = (await registry.snapshot()).get(PatternKind.STRATEGY, "s1").version
                note = AppliedStrategy(id="s1", version=version, is_served=False, did="review")
                await calls(settings, *((f"w{n}", "ok", {"strategies": (note,)}) for n in range(5)))
                await until(workers, lambda now: bool(now.of(PatternKind.STRATEGY, PatternState.REJECTED)))
                kept = (await registry.snapshot()).get(PatternKind.STRATEGY, "s1")
                assert [one.data["reason"] for one in kept.evidence] == ["worse than control", "worse than control"]
                assert kept.counters["invalid"] >= 3

    play(running, story)


def test_contracts_that_can_not_be_read_stop_the_start(running, tmp_path) -> None:
    file = tmp_path / "contracts.toml"
    for text, why in (
        (None, "No such file"),
        ("tool =", "retrospect_contracts"),
        ("[[contract]]", "tool: Field required"),
    ):
        with suppress(FileNotFoundError):
            file.unlink()
        if text is not None:
            file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=why):
            running_module.prepare(replace(running.settings, retrospect_contracts=str(file)), ["retrospect"])
