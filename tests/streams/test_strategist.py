"""Strategies in the dispatcher: held up, looked up first, replaced, within what the operator permits; watched otherwise."""

import asyncio
import time
from dataclasses import replace
from uuid import uuid4

import pytest

from processors.dispatching.policy import ToolRule
from processors.snapshot import snapshot_of
from processors.strategies.match import StrategyIndex
from processors.strategies.strategy import Strategy
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.toolcall import ToolResult
from streams.dispatch import Dispatcher, DispatchOptions
from streams.executing.protocol import Answer
from streams.executing.python_tool import BusinessFailure, tool
from streams.leases import leases
from streams.strategies_in_use import StrategiesInUse
from tests.streams.test_dispatching import output

pytestmark = pytest.mark.engines
MADE: list[tuple[str, object]] = []


@tool(ToolRule())
def refund(amount: float, tier: str = "normal") -> dict:
    """Give money back.

    Side effects: money moves.
    """
    MADE.append(("refund", amount))
    if tier == "vip":
        raise BusinessFailure("the fast lane gave up on mail@example.com")
    return {"refunded": amount}


@tool()
def queue(amount: float) -> Answer:
    """Put a refund on a person's desk.

    Side effects: a ticket is opened.
    """
    MADE.append(("queue", amount))
    return Answer({"ticket": 7, "phone": "13800138000"}, 0.5)


@tool()
def list_age(days: float) -> dict:
    """When the list was made.

    Side effects: none
    """
    return {"as_of": time.time() - days * 86_400}


TOOLS = {"refund": refund, "queue": queue, "list_age": list_age}
OPTIONS = DispatchOptions(permitted=frozenset({"refund", "queue"}))
VIP = {"path": "tier", "value": "vip"}


def entry(action: dict, state: PatternState = PatternState.ACTIVE, **more) -> Pattern:
    definition = Strategy.model_validate(
        {
            "schema": "strategy/1", "id": "s1", "trigger": {"tool": "refund", "context": [VIP]}, "action": action,
            "impact": {"risk": "high"}, **more,
        }
    ).dump()  # fmt: skip
    return Pattern(id="s1", version=3, kind=PatternKind.STRATEGY, definition=definition, state=state)


@pytest.fixture
def refunded(running):
    """Dispatch one VIP refund with strategies; gives its result and what was done."""

    def story(*entries: Pattern, options: DispatchOptions = OPTIONS, tier: str = "vip") -> tuple[ToolResult, list]:
        async def main() -> ToolResult:
            async with leases(running.settings.redis_url, f"{uuid4()}.") as kept:
                dispatcher = Dispatcher(TOOLS, kept, options, lambda: StrategyIndex(entries))
                (found,) = await dispatcher.dispatch(output("s", ("refund", {"amount": 5, "tier": tier})))
                (again,) = await dispatcher.dispatch(output("s", ("refund", {"amount": 5, "tier": tier})))
                assert found == again
                return found

        MADE.clear()
        return asyncio.run(main()), list(MADE)

    return story


def notes(result: ToolResult) -> list[tuple]:
    return [(one.id, one.version, one.is_served, one.did, one.is_answered) for one in result.strategies]


def test_a_call_that_needs_review_is_not_run_and_says_what_is_to_be_decided(refunded) -> None:
    result, made = refunded(entry({"kind": "require_review", "reason": "VIP refunds fail"}))
    assert (result.status, result.error, made) == ("not_run", "refund was not run: review (VIP refunds fail)", [])
    assert result.content["call"]["arguments"] == {"amount": 5, "tier": "vip"}
    assert notes(result) == [("s1", 3, True, "review", None)]


def test_calls_that_a_strategy_does_not_fit_and_streams_that_do_not_get_it_go_their_usual_way(refunded) -> None:
    review = {"kind": "require_review"}
    result, made = refunded(entry(review), tier="normal")
    assert (result.status, made, result.strategies) == ("ok", [("refund", 5)], ())
    result, made = refunded(entry(review, PatternState.SHADOW))
    assert (result.status, made, notes(result)) == (
        "business_failure", [("refund", 5)], [("s1", 3, False, "review", None)],
    )  # fmt: skip


def check(days: float, tool_name: str = "list_age") -> dict:
    call = {"tool": tool_name, "arguments": {"days": days}}
    return {"kind": "pre_check", "call": call, "expect": [{"path": "as_of", "op": "age_max_s", "value": 86_400}]}


def test_a_check_lets_the_call_through_or_holds_it_up_and_one_without_an_answer_says_nothing(refunded) -> None:
    result, made = refunded(entry(check(0.5)))
    assert (result.status, made, notes(result)) == (
        "business_failure", [("refund", 5)], [("s1", 3, True, "nothing", True)],
    )  # fmt: skip
    result, made = refunded(entry(check(2)))
    assert (result.status, made, notes(result)) == ("not_run", [], [("s1", 3, True, "review", True)])
    for broken in (check("old"), check(1, "gone"), check(1, "queue")):
        result, made = refunded(entry(broken, side_effects=["queue"]))
        assert (result.status, made, notes(result)[0][3:]) == ("business_failure", [("refund", 5)], ("nothing", False))


FALLBACK = {"kind": "fallback", "call": {"tool": "queue", "arguments": {"amount": "$amount"}}}


def test_a_fallback_takes_the_place_of_a_failure_and_is_clean(refunded) -> None:
    result, made = refunded(entry(FALLBACK, side_effects=["queue"]))
    assert (result.status, result.content, result.error) == ("ok", {"ticket": 7, "phone": "[PHONE_REDACTED]"}, None)
    assert (made, result.cost_usd, notes(result)) == (
        [("refund", 5), ("queue", 5)], 0.5, [("s1", 3, True, "fallback", True)],
    )  # fmt: skip


def test_a_fallback_keeps_to_declared_and_permitted_side_effects_and_to_its_contract(refunded) -> None:
    contract = [{"path": "ticket", "op": "gt", "value": 100}]
    for one, options in (
        (entry(FALLBACK), OPTIONS),
        (entry(FALLBACK, side_effects=["queue"]), replace(OPTIONS, permitted=frozenset({"refund"}))),
    ):
        result, made = refunded(one, options=options)
        assert (result.status, made, notes(result)[0][3:]) == ("business_failure", [("refund", 5)], ("fallback", False))
    result, made = refunded(entry(FALLBACK, side_effects=["queue"], output_contract=contract))
    assert (result.status, len(made), notes(result)[0][3:]) == ("business_failure", 2, ("fallback", False))
    assert result.error == "the fast lane gave up on [EMAIL_REDACTED]"


def test_a_step_is_made_before_the_call(refunded) -> None:
    step = {"kind": "add_step", "call": {"tool": "queue", "arguments": {"amount": 1}}}
    result, made = refunded(entry(step, side_effects=["queue"]))
    assert (made, notes(result)) == ([("queue", 1), ("refund", 5)], [("s1", 3, True, "step", True)])


def test_the_index_follows_the_registry() -> None:
    snapshots = [
        snapshot_of([entry({"kind": "skip"})], 1),
        snapshot_of([entry({"kind": "skip"}, PatternState.RETIRED)], 2),
    ]
    now = [snapshots[0]]
    in_use = StrategiesInUse(lambda: now[0])
    assert in_use().size == 1
    assert in_use() is in_use()
    now[0] = snapshots[1]
    assert in_use().size == 0
