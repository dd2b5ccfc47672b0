"""Calls of outputs executed: each once, within bounds, results kept; and the worker between its two topics."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import orjson
import pytest

from processors.dispatch import plan
from processors.dispatching.bounds import Bounds
from schemas.output import Output
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall
from schemas.wire import encode
from streams.dispatch import Dispatcher, DispatchOptions
from streams.dispatch_worker import DispatchWorker
from streams.executing.load import load_tools
from streams.leases import Terms, leases
from streams.settings import ConfigError, ServerAwayError
from tests.streams.flow import consumed, prepared, produce

pytestmark = pytest.mark.engines
TOOLS = load_tools(Path(__file__).parent / "dispatch_tools.py")
OPTIONS = DispatchOptions(permitted=frozenset({"pay"}), lease_s=0.3, rest_s=60)


def output(stream_id: str, *calls: tuple[str, dict], run_id: str | None = None, **extra) -> Output:
    return Output(
        stream_id=stream_id,
        tool_calls=tuple(
            ToolCall(
                stream_id=stream_id, id=f"call_{place}", name=name, requested_name=name, arguments=arguments, raw="",
                order=place, span=(0, 0), status=CallStatus.OK, strategy="json", confidence=1.0,
            )
            for place, (name, arguments) in enumerate(calls)
        ),
        meta=Meta(run_id=run_id), extra=extra,
    )  # fmt: skip


@pytest.fixture
def dispatched(running, tmp_path, monkeypatch):
    """Dispatch outputs one after the other; gives (status, error) of each result, and the lines of effects."""
    monkeypatch.setenv("EFFECTS", str(tmp_path / "effects"))
    prefix = f"{uuid4()}."

    def story(*outputs: Output, options: DispatchOptions = OPTIONS):
        async def main():
            async with leases(running.settings.redis_url, prefix) as kept:
                dispatcher = Dispatcher(TOOLS, kept, options)
                return [await dispatcher.dispatch(one) for one in outputs]

        results = asyncio.run(main())
        file = tmp_path / "effects"
        return results, file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []

    return story


def test_a_call_read_again_is_not_run_again_and_has_the_same_result(dispatched) -> None:
    one = output("s", ("look_up", {"city": "Oslo"}), ("pay", {"amount": 5}))
    (first, again), effects = dispatched(one, one)
    assert [(result.status, result.content) for result in first] == [
        ("ok", {"city": "Oslo", "unit": "c", "phone": "[PHONE_REDACTED]"}), ("ok", {"paid": 5}),
    ]  # fmt: skip
    assert first == again
    assert effects == [plan(one, {"pay": replace(TOOLS["pay"].rule, is_permitted=True)}).waves[0][0].execution_id]
    assert first[1].cost_usd == 0.25
    assert first[1].duration_ms is not None


def test_other_arguments_at_the_same_place_do_not_run(dispatched) -> None:
    (_, second), effects = dispatched(output("s", ("pay", {"amount": 5})), output("s", ("pay", {"amount": 6})))
    assert (second[0].status, len(effects)) == ("not_run", 1)


def test_without_permission_nothing_with_side_effects_runs(dispatched) -> None:
    one = output("s", ("pay", {"amount": 5}), ("look_up", {"city": "Oslo"}))
    (results,), effects = dispatched(one, options=DispatchOptions())
    assert [result.status for result in results] == ["not_run", "ok"]
    assert effects == []


def test_a_dry_run_executes_and_keeps_nothing(dispatched) -> None:
    one = output("s", ("pay", {"amount": 5}), ("look_up", {}))
    (results,), effects = dispatched(one, options=replace(OPTIONS, is_dry_run=True))
    assert [(result.status, result.error) for result in results] == [
        ("not_run", "dry run"), ("param_error", 'arguments: "city" is a required property'),
    ]  # fmt: skip
    assert effects == []
    (results,), effects = dispatched(one)
    assert (results[0].status, len(effects)) == ("ok", 1)


def test_what_was_written_after_a_failed_side_effect_is_not_run(dispatched) -> None:
    (results,), effects = dispatched(output("s", ("pay", {"amount": 500}), ("pay", {"amount": 1})))
    assert [(result.status, result.error) for result in results] == [
        ("business_failure", "余额不足"), ("not_run", "pay was not run: earlier_failed"),
    ]  # fmt: skip
    assert len(effects) == 1


def test_a_broken_tool_is_called_three_times_and_not_eight(dispatched) -> None:
    results, effects = dispatched(*(output(f"s{n}", ("broken", {"n": n})) for n in range(8)))
    assert effects == ["broken 0", "broken 1", "broken 2"]
    assert {one[0].status for one in results} == {"system_error"}
    assert results[0][0].error == "no way to [EMAIL_REDACTED]"
    assert results[7][0].error == "skipped: broken had 3 system errors in a row"


def test_a_call_that_takes_too_long_is_given_up(dispatched) -> None:
    bounds = Bounds(step_s_max=0.5)
    (results,), _ = dispatched(output("s", ("sleepy", {})), options=replace(OPTIONS, bounds=bounds))
    assert (results[0].status, results[0].error) == ("system_error", "no answer within 0.5 s")


@pytest.mark.parametrize(
    ("bounds", "bound", "runs"),
    [
        (Bounds(steps_max=2, cost_usd_max=9), "steps_max", 2), (Bounds(cost_usd_max=0.5), "cost_usd_max", 2),
        (Bounds(tokens_max=25, cost_usd_max=9), "tokens_max", 2),
    ],
)  # fmt: skip
def test_a_task_that_met_a_bound_ends_with_a_handover(dispatched, bounds, bound, runs) -> None:
    outputs = [output(f"s{n}", ("pay", {"amount": n}), run_id="r", usage={"total_tokens": 10}) for n in range(4)]
    results, effects = dispatched(*outputs, *outputs, options=replace(OPTIONS, bounds=bounds))
    assert len(effects) == runs
    statuses = [one[0].status for one in results]
    assert statuses == ["ok"] * runs + ["not_run"] * (4 - runs) + ["ok"] * runs + ["not_run"] * (4 - runs)
    record = results[3][0].content["handover"]
    assert (record["task"], record["bound"]) == ("r", bound)
    assert record["left"] == [{"call_id": "call_0", "name": "pay"}]


def test_two_dispatchers_at_once_run_a_call_once(running, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EFFECTS", str(tmp_path / "effects"))
    one = output("s", ("pay", {"amount": 1, "slow_s": 1.0}))

    async def main():
        async with leases(running.settings.redis_url, f"{uuid4()}.") as kept:
            both = [Dispatcher(TOOLS, kept, OPTIONS), Dispatcher(TOOLS, kept, OPTIONS)]
            return await asyncio.gather(*(dispatcher.dispatch(one) for dispatcher in both))

    first, second = asyncio.run(main())
    assert first == second
    assert first[0].status == "ok"  # longer than a lease, which was renewed
    assert len((tmp_path / "effects").read_text(encoding="utf-8").splitlines()) == 1


@pytest.mark.parametrize(("name", "word"), [("pay", "lost"), ("look_up", "go")])
def test_a_lease_that_ran_out_is_lost_for_side_effects_and_its_worker_is_fenced(running, name, word) -> None:
    one = output("s", (name, {}))
    found = plan(one, {"pay": replace(TOOLS["pay"].rule, is_permitted=True), "look_up": TOOLS["look_up"].rule})
    ((planned,),) = found.waves

    async def main():
        async with leases(running.settings.redis_url, f"{uuid4()}.") as kept:
            terms = Terms(Bounds(), 50)
            first = await kept.take(planned, found, terms)
            busy = await kept.take(planned, found, terms)
            await asyncio.sleep(0.1)
            second = await kept.take(planned, found, terms)
            assert (first.word, busy.word, second.word) == ("go", "busy", word)
            assert await kept.renew(planned, found, first.fence, 50) is False
            assert await kept.finish(planned, found, first.fence, (b"old", 0.0)) == b""
            assert await kept.finish(planned, found, second.fence, (b"new", 0.0)) == b"new"
            assert await kept.finish(planned, found, first.fence, (b"old", 0.0)) == b"new"
            assert (await kept.take(planned, found, terms)).result == b"new"

    asyncio.run(main())


def test_a_permission_for_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="pya"):
        Dispatcher(TOOLS, None, DispatchOptions(permitted=frozenset({"pya"})))


def test_while_redis_is_away_nothing_is_executed(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EFFECTS", str(tmp_path / "effects"))

    async def main():
        async with leases("redis://127.0.0.1:1") as kept:
            await Dispatcher(TOOLS, kept, OPTIONS).dispatch(output("s", ("pay", {"amount": 1})))

    with pytest.raises(ServerAwayError):
        asyncio.run(main())
    assert not (tmp_path / "effects").exists()


def test_the_worker_publishes_results_and_again_when_outputs_are_read_again(running, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EFFECTS", str(tmp_path / "effects"))
    given = [output(f"s{n}", ("pay", {"amount": n}), ("look_up", {"city": "Oslo"})) for n in range(5)]

    async def once(settings, topology, kept, count):
        stop = asyncio.Event()
        worker = DispatchWorker(settings, topology, Dispatcher(TOOLS, kept, OPTIONS))
        task = asyncio.create_task(worker.run(stop))
        found = await consumed(settings, "llm.tool-results", count)
        stop.set()
        await task
        return [orjson.loads(record.value) for record in found]

    async def main():
        settings, topology = await prepared(running.settings, f"d{uuid4().hex[:6]}.")
        values = [(one.stream_id, encode(one)) for one in given]
        await produce(settings, f"{settings.topic_prefix}llm.outputs", [*values, ("x", b"not ours")])
        async with leases(settings.redis_url, settings.topic_prefix) as kept:
            first = await once(settings, topology, kept, 10)
            return first, await once(replace(settings, group_prefix="again"), topology, kept, 20)

    first, both = asyncio.run(main())
    assert len(first) == 10
    assert {result["status"] for result in both} == {"ok"}
    as_text = sorted(map(orjson.dumps, first))
    assert sorted(map(orjson.dumps, both)) == sorted([*as_text, *as_text])
    assert len((tmp_path / "effects").read_text(encoding="utf-8").splitlines()) == 5
