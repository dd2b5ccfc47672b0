"""Calls of outputs executed: each once, within bounds, results kept; and the worker between its two topics."""

import asyncio
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import orjson
import pytest

from processors.dispatch import plan
from processors.dispatching.bounds import Bounds
from schemas.execution import Execution, Handover
from schemas.output import Output
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall
from schemas.wire import decode, encode
from streams.dispatch import Dispatcher, DispatchOptions
from streams.dispatch_stage import options_of
from streams.executing.load import load_tools
from streams.leases import Kept, Terms, leases
from streams.rows import DEFAULT_TENANT
from streams.running import prepare, run
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from streams.web.calls import calls_of_run
from tests.streams.flow import consumed, prepared, produce

pytestmark = pytest.mark.engines
TOOLS_FILE = Path(__file__).parent / "dispatch_tools.py"
TOOLS = load_tools(TOOLS_FILE)
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

    def story(*outputs: Output, options: DispatchOptions = OPTIONS, told: list | None = None):
        async def tell(event) -> None:
            if told is not None:
                told.append(event)

        async def main():
            async with leases(running.settings.redis_url, prefix) as kept:
                dispatcher = Dispatcher(TOOLS, kept, options, tell=tell)
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
    assert results[7][0].error == "skipped: tool:broken had 3 system errors in a row"


def test_a_model_that_called_wrongly_is_told_how_to_call(dispatched) -> None:
    wrong = output("s", ("look_up", {"city": 5}), ("nobody", {}))
    unknown = replace(wrong.tool_calls[1], status=CallStatus.UNKNOWN_TOOL)
    ((result, other),), _ = dispatched(replace(wrong, tool_calls=(unknown, wrong.tool_calls[0])))
    assert [result.status, other.status] == ["param_error"] * 2
    assert result.content["usage"] == "There are these tools: broken, look_up, pay, say, sleepy."
    assert other.error == 'city: 5 is not of type "string"'
    assert other.content["usage"].startswith("look_up takes city (string, required): name of the city; unit (one of")
    assert other.content["usage"].endswith('For example: {"city": "…"}')


def test_the_operators_rules_about_errors_come_first(dispatched, tmp_path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(
        '[[rule]]\nid = "limit"\nerror = "param_error"\ntools = ["pay"]\nwords = ["余额"]\nusage = "Pay less."\n'
        'positives = [{ text = "余额不足" }]\nnegatives = [{ text = "away" }]\n',
        encoding="utf-8",
    )
    asked = replace(Settings(), dispatch_permit="pay", dispatch_error_rules=str(file))
    ((result,),), _ = dispatched(output("s", ("pay", {"amount": 500})), options=options_of(asked))
    assert (result.status, result.content["rule"]) == ("param_error", "limit")
    assert result.content["usage"].startswith("Pay less. pay takes amount (number, required)")
    file.write_text("rule = 5", encoding="utf-8")
    with pytest.raises(ConfigError, match="dispatch_error_rules"):
        options_of(asked)


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


def test_a_call_that_is_given_up_ends_its_task_with_a_handover(dispatched) -> None:
    bounds = Bounds(step_s_max=0.3)
    first = output("s", ("sleepy", {}), ("pay", {"amount": 1}), run_id="r")
    second = output("t", ("pay", {"amount": 1}), run_id="r")
    told = []
    results, effects = dispatched(first, second, options=replace(OPTIONS, bounds=bounds), told=told)
    assert [[result.status for result in one] for one in results] == [["system_error", "not_run"], ["not_run"]]
    assert effects == []
    record = results[0][0].content["handover"]
    assert (record["bound"], record["limit"], record["left"]) == (
        "step_s_max", 0.3, [{"call_id": "call_1", "name": "pay"}],
    )  # fmt: skip
    assert results[1][0].content["handover"]["done"][0]["tool"] == "sleepy"
    assert [(event.task, event.bound) for event in told if isinstance(event, Handover)] == [("r", "step_s_max")] * 2
    again, effects = dispatched(second, options=replace(OPTIONS, bounds=Bounds(step_s_max=1)))
    assert (again[0][0].status, len(effects)) == ("ok", 1)  # a person raised the bound


def test_what_was_done_beside_a_call_that_is_given_up_is_not_left(dispatched) -> None:
    one = output("s", ("sleepy", {}), ("look_up", {"city": "Oslo"}), ("pay", {"amount": 1}))
    (results,), _ = dispatched(one, options=replace(OPTIONS, bounds=Bounds(step_s_max=0.3)))
    assert [result.status for result in results] == ["system_error", "ok", "not_run"]
    assert results[0].content["handover"]["left"] == [{"call_id": "call_2", "name": "pay"}]


def test_each_change_of_a_call_is_told_clean_and_with_its_cost(dispatched) -> None:
    one = output(
        "s", ("look_up", {"city": "13800138000"}), ("pay", {"amount": 5}), ("pay", {}), ("nobody", {}),
        usage={"total_tokens": 7},
    )  # fmt: skip
    told = []
    _, effects = dispatched(one, one, told=told)
    assert len(effects) == 1
    states = [(event.call_id, event.state, event.status, event.is_again) for event in told]
    planned = [(f"call_{n}", "planned", "", False) for n in range(3)]
    held = ("call_3", "ended", "not_run", False)
    ran = [
        ("call_0", "running", "", False), ("call_0", "ended", "ok", False),
        ("call_1", "running", "", False), ("call_1", "ended", "ok", False),
        ("call_2", "running", "", False), ("call_2", "ended", "param_error", False),
    ]  # fmt: skip
    again = [("call_0", "ended", "ok", True), ("call_1", "ended", "ok", True), ("call_2", "ended", "param_error", True)]
    assert states == [held, *planned, *ran, held, *planned, *again]
    paid = next(event for event in told if event.status == "ok" and event.tool == "pay")
    assert (paid.cost_usd, paid.tokens, paid.arguments, paid.task) == (0.25, 7, '{"amount":5}', "s")
    assert paid.duration_ms is not None
    assert told[1].arguments == '{"city":"[PHONE_REDACTED]"}'
    ids = [{event.execution_id for event in told if event.call_id == f"call_{n}"} for n in range(4)]
    assert [len(one) for one in ids] == [1] * 4
    assert ids[3] == {""}  # not executed
    assert told[4].ts < told[5].ts < told[6].ts


def test_what_is_told_is_one_row_a_call_and_an_end_is_never_taken_back(dispatched, tmp_path) -> None:
    one, odd = output("s", ("look_up", {"city": "Oslo"}), run_id="r"), output("\ud800", ("look_up", {"city": "\ud800"}))
    told = []
    outputs = [output(f"s{n}", ("pay", {"amount": n}), run_id="many") for n in range(3)]
    bounds = Bounds(steps_max=2)
    dispatched(one, odd, *outputs, options=replace(OPTIONS, bounds=bounds), told=told)
    sink = Sink(f"chdb://{tmp_path}/store")
    sink.migrate()
    decoded = [decode(encode(event)) for event in told]
    sink.write([*decoded, *decoded[:2]])
    with closing(Reader(f"chdb://{tmp_path}/store")) as reader:
        rows = reader.query("SELECT task, call_id, state, status FROM executions FINAL ORDER BY task, stream_id").rows
        ended = reader.query("SELECT task, bound, JSONExtractInt(record, 'limit') FROM handovers FINAL").rows
    sink.close()
    assert rows == [
        ("?", "call_0", "ended", "ok"), *[("many", "call_0", "ended", status) for status in ("ok", "ok", "not_run")],
        ("r", "call_0", "ended", "ok"),
    ]  # fmt: skip
    assert ended == [("many", "steps_max", 2)]


def test_of_many_calls_to_come_the_next_ones_are_shown_and_of_those_done_the_last(tmp_path: Path) -> None:
    sink = Sink(f"chdb://{tmp_path}/store")
    sink.migrate()
    now_ms = time.time() * 1000
    sink.write(
        [
            Execution(stream_id="s", call_id=f"c{n}", task="r", tool="pay", order=n, state=state, ts=now_ms)
            for n, state in enumerate(["planned"] * 150 + ["ended"] * 150)
        ]
    )
    with closing(Reader(f"chdb://{tmp_path}/store")) as reader:
        calls = calls_of_run(reader, {"tenant": DEFAULT_TENANT, "run_id": "r"})
    sink.close()
    assert [call["order"] for call in calls.next] == list(range(100))
    assert [call["order"] for call in calls.done] == list(range(299, 199, -1))
    assert calls.counts == {"planned": 150, "ended": 150}


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
            assert await kept.finish(planned, found, first.fence, Kept(b"old")) == b""
            assert await kept.finish(planned, found, second.fence, Kept(b"new")) == b"new"
            assert await kept.finish(planned, found, first.fence, Kept(b"old")) == b"new"
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

    async def once(settings, count):
        stop = asyncio.Event()
        stage = prepare(settings, ["dispatch"])
        task = asyncio.create_task(run(settings, stage, stop))
        found = await consumed(settings, "llm.tool-results", count)
        stop.set()
        await task
        return [orjson.loads(record.value) for record in found]

    async def main():
        asked = replace(running.settings, dispatch_tools=str(TOOLS_FILE), dispatch_permit="pay")
        settings, _ = await prepared(asked, f"d{uuid4().hex[:6]}.")
        values = [(one.stream_id, encode(one)) for one in given]
        await produce(settings, f"{settings.topic_prefix}llm.outputs", [*values, ("x", b"not ours")])
        first = await once(settings, 10)
        both = await once(replace(settings, group_prefix="again"), 20)
        told = await consumed(settings, "llm.executions", 50)
        return first, both, [decode(record.value) for record in told]

    first, both, told = asyncio.run(main())
    assert Counter((event.tool, event.state, event.is_again) for event in told) == {
        (tool, *state): 10 if state[0] == "planned" else 5
        for tool in ("pay", "look_up")
        for state in (("planned", False), ("running", False), ("ended", False), ("ended", True))
    }
    assert len(first) == 10
    assert {result["status"] for result in both} == {"ok"}
    as_text = sorted(map(orjson.dumps, first))
    assert sorted(map(orjson.dumps, both)) == sorted([*as_text, *as_text])
    assert len((tmp_path / "effects").read_text(encoding="utf-8").splitlines()) == 5


def test_bounds_and_permissions_come_from_settings() -> None:
    assert options_of(Settings()) == DispatchOptions()
    asked = replace(
        Settings(), dispatch_permit="pay, say", dispatch_mode="dry_run", dispatch_steps_max=3, dispatch_tokens_max=4,
        dispatch_step_s_max=5.0, dispatch_parallel_max=6, dispatch_cost_usd_max=7.0,
    )  # fmt: skip
    bounds = Bounds(steps_max=3, tokens_max=4, step_s_max=5.0, parallel_max=6, cost_usd_max=7.0)
    assert options_of(asked) == DispatchOptions(bounds=bounds, permitted=frozenset({"pay", "say"}), is_dry_run=True)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "dispatch_tools"), ({"dispatch_tools": "/nowhere.py"}, "not a Python file"),
        ({"dispatch_tools": str(TOOLS_FILE), "dispatch_permit": "pya"}, "dispatch_permit: there is no tool 'pya'"),
        ({"dispatch_tools": str(TOOLS_FILE), "dispatch_mode": "dry"}, "dispatch_mode: 'dry'"),
    ],
)  # fmt: skip
def test_the_stage_does_not_start_with_settings_that_are_wrong(changes, why) -> None:
    with pytest.raises(ConfigError, match=why):
        prepare(replace(Settings(), **changes), ["dispatch"])
