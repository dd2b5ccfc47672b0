"""The prompt's reminder from a real store and registry: original goal, done steps, strategies of the tools, similar work."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from processors.reasoning.record import Facts, record_of
from processors.strategies.strategy import strategy_of
from processors.strategies.words import in_words
from schemas.output import Output, Reasoning
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.reasoning import Label, Node
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall, ToolResult
from schemas.trajectory import Step
from streams.cli.app import main
from streams.pattern_registry import connected
from streams.reminding import Wanted, remind
from streams.settings import Settings
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from streams.web.serve import serving

TS = time.time() * 1000 - 60_000
AWAY = "redis://127.0.0.1:1"


def strategy(name: str, tool: str, state: PatternState = PatternState.ACTIVE, **action: object) -> Pattern:
    definition = {
        "schema": "strategy/1", "id": name, "trigger": {"tool": tool, "context": [{"path": "customer.tier", "value": "vip"}]},
        "action": {"kind": "require_review", "reason": "the fast lane has no fallback", **action},
    }  # fmt: skip
    return Pattern(id=name, kind=PatternKind.STRATEGY, state=state, definition=definition, version=1)


def stream(stream_id: str, goal: str, run: str, ts: float) -> list:
    node = Node(
        stream_id=stream_id, id="rn_0", type=Label.PLANNING, confidence=0.9, text="First the state, then refund.", order=0,
        span=(0, 15),
    )  # fmt: skip
    call = ToolCall(
        stream_id=stream_id, id="call_0", name="refund", requested_name="refund", arguments={"order": 7}, raw="", order=1,
        span=(16, 20), status=CallStatus.OK, strategy="json", confidence=0.9,
    )  # fmt: skip
    record = record_of(Facts(stream_id=stream_id, goal=goal, ts=ts, nodes=(node,), calls=(call,)))
    detail = {"name": "refund", "id": "call_0", "arguments": {"order": 7}}
    return [
        Step(stream_id=stream_id, run_id=run, order=1, kind="tool_call", text="", detail=detail, ts=ts),
        Output(
            stream_id=stream_id, reasoning=Reasoning(text=node.text, nodes=(node,)), tool_calls=(call,),
            reasoning_record=record, ts=ts, meta=Meta(run_id=run, user=goal),
        ),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("remind")
    sink = Sink(f"chdb://{folder}/clickhouse")
    sink.migrate()
    sink.write(
        [
            *stream("a", "Refund order 7 for a customer", "r1", TS), *stream("b", "and now tell her", "r1", TS + 5_000),
            *stream("c", "Refund the order of a customer", "r2", TS - 9_000),
            ToolResult(stream_id="a", call_id="call_0", status="ok", content={"refunded": 7}),
        ]
    )  # fmt: skip
    sink.close()
    return folder


WANTED = Wanted(goal="and tell her", run="r1", done=("asked a person",), similar_max=3)


@pytest.mark.engines
def test_a_prompt_is_reminded_of_goal_steps_strategies_and_similar_work(running, folder) -> None:
    other = strategy("mail-first", "mail")
    watched = strategy("not-yet", "refund", PatternState.CANARY)

    async def filled() -> None:
        async with connected(running.settings.redis_url) as registry:
            await registry.publish([strategy("vip-refund", "refund"), other, watched])

    asyncio.run(filled())
    settings = replace(running.settings, data_dir=str(folder), clickhouse_dsn=f"chdb://{folder}/clickhouse")
    found, missing = remind(settings, WANTED, 400)
    assert missing == ""
    assert found.tokens <= 400
    lines = found.text.splitlines()
    assert lines[:6] == [
        "Original goal: Refund order 7 for a customer", "Now: and tell her", "Done so far:",
        '- refund {"order":7} → ok ({"refunded":7})', '- refund {"order":7} → no result yet', "- asked a person → ok",
    ]  # fmt: skip
    assert lines[6:8] == [
        "What was learned about these tools:",
        '- refund, when customer.tier is "vip": goes to a person first. Why: the fast lane has no fallback',
    ]
    assert "Refund the order of a customer; tools: refund: First the state, then refund." in found.text
    offered, _ = remind(settings, replace(WANTED, tools=("mail",)), 400)
    assert '- mail, when customer.tier is "vip"' in offered.text


def test_a_registry_that_is_away_takes_only_the_strategies(folder) -> None:
    settings = replace(Settings(), data_dir=str(folder), clickhouse_dsn=f"chdb://{folder}/clickhouse", redis_url=AWAY)
    found, missing = remind(settings, replace(WANTED, run="nobody"))
    assert "Redis" in missing
    assert found.text.startswith("Original goal: and tell her\nDone so far:\n- asked a person → ok")


def test_the_page_that_holds_the_store_is_asked_by_the_command(folder, monkeypatch, capsys) -> None:
    settings = replace(
        Settings(), data_dir=str(folder), clickhouse_dsn=f"chdb://{folder}/clickhouse", redis_url=AWAY, web_port=0
    )
    monkeypatch.setenv("HERMES_DATA_DIR", str(folder))
    monkeypatch.setenv("CLICKHOUSE_DSN", settings.clickhouse_dsn)
    monkeypatch.setenv("REDIS_URL", AWAY)

    async def asked() -> None:
        async with serving(settings):
            await asyncio.to_thread(main, ["recall", "and tell her", "--prompt", "--run", "r1", "--tokens-max", "120"])

    with pytest.raises(SystemExit) as ended:
        asyncio.run(asked())
    said = capsys.readouterr()
    assert ended.value.code in {0, None}
    assert said.out.startswith("Original goal: Refund order 7 for a customer\nNow: and tell her\nDone so far:\n")
    assert "without strategies" in said.err
    with_no_page = Reader(settings.clickhouse_dsn)
    with_no_page.close()


CONDITION = {"path": "checked_at", "op": "age_max_s", "value": 60}


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({}, "goes to a person first."), ({"kind": "skip", "reason": ""}, 'when customer.tier is "vip": is not made.'),
        ({"kind": "fallback", "call": {"tool": "slow_refund"}}, "after a failure slow_refund is called instead."),
        ({"kind": "add_step", "call": {"tool": "log"}}, "log is called first."),
        (
            {"kind": "pre_check", "call": {"tool": "list_age"}, "expect": [CONDITION], "otherwise": "skip"},
            "list_age is asked first; unless checked_at is at most this many seconds old: 60, it is not made.",
        ),
        ({"kind": "pre_check", "expect": [{"path": "a", "op": "exists"}]}, "is checked first; unless a is there, it goes to a person."),
    ],
)  # fmt: skip
def test_a_strategy_is_said_in_words(action, said) -> None:
    assert said in in_words(strategy_of(strategy("s", "refund", **action)))
