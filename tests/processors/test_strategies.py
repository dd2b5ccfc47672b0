"""Strategies: which apply to a call, what they do, what proves them, how they move on and are taken back."""

import time
from dataclasses import replace

import pytest
from pydantic import ValidationError

from benchmarks.harm import played
from processors.dispatching.policy import ToolRule
from processors.learning.lifecycle import UNUSED_DAYS, is_canary
from processors.strategies.conditions import Condition
from processors.strategies.decide import Did, Looked, Wanted, after, before, wanted_call
from processors.strategies.fares import Fares
from processors.strategies.match import UNFILED_MAX, StrategyIndex
from processors.strategies.prove import Case, Known, proved
from processors.strategies.strategy import Strategy, strategy_of
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.toolcall import AppliedStrategy, ToolResult

DAY_MS = 86_400_000.0
NOW = 20_000 * DAY_MS
VIP = {"path": "tier", "value": "vip"}
FRESH = {
    "kind": "pre_check", "call": {"tool": "list_status", "arguments": {"name": "countries", "for": "$country"}},
    "expect": [{"path": "as_of", "op": "age_max_s", "value": 86_400}], "reason": "the list may be stale",
}  # fmt: skip


def strategy(action: dict | str, *context: dict, **more) -> Strategy:
    given = {"kind": action} if isinstance(action, str) else action
    trigger = {"tool": "refund", "context": list(context), "errors": more.pop("errors", ())}
    return Strategy.model_validate({"schema": "strategy/1", "id": "s1", "trigger": trigger, "action": given, **more})


def entry(one: Strategy, state: PatternState = PatternState.ACTIVE, **more) -> Pattern:
    made = Pattern(id=one.id, version=1, kind=PatternKind.STRATEGY, definition=one.dump(), state=state)
    return replace(made, **more)


def case(number: int, status: str = "ok", at_ms: float = NOW, **more) -> Case:
    arguments = more.pop("arguments", {"tier": "normal", "amount": number})
    return Case(id=f"c{number}", tool="refund", arguments=arguments, status=status, at_ms=at_ms, **more)


@pytest.mark.parametrize(
    ("condition", "given", "holds"),
    [
        (VIP, {"tier": "vip"}, True), (VIP, {"tier": "VIP"}, False), (VIP, {}, False), (VIP, "vip", False), (VIP, None, False),
        ({"path": "a.b", "op": "exists"}, {"a": {"b": None}}, True), ({"path": "a.b", "op": "missing"}, {"a": []}, True),
        ({"path": "n", "op": "in", "value": [1, "x"]}, {"n": 1.0}, True), ({"path": "n", "op": "in", "value": [1]}, {"n": True}, False),
        ({"path": "n", "op": "in", "value": 1}, {"n": 1}, False), ({"path": "n", "op": "not_in", "value": [1]}, {"n": 2}, True),
        ({"path": "n", "op": "ne", "value": 1}, {"n": True}, True), ({"path": "n", "op": "ge", "value": 2}, {"n": 2}, True),
        ({"path": "n", "op": "lt", "value": 2}, {"n": "1"}, False), ({"path": "n", "op": "lt", "value": "b"}, {"n": "a"}, True),
        ({"path": "n", "op": "gt", "value": 1}, {"n": float("nan")}, False), ({"path": "", "op": "eq", "value": [1]}, [1], True),
        ({"path": "t", "op": "age_max_s", "value": 60}, {"t": NOW / 1000 - 59}, True),
        ({"path": "t", "op": "age_max_s", "value": 60}, {"t": NOW - 61_000}, False),
        ({"path": "t", "op": "age_max_s", "value": 60}, {"t": "2024-10-04T00:00:00+00:00"}, True),
        ({"path": "t", "op": "age_max_s", "value": 60}, {"t": "2024-10-03"}, False),
        ({"path": "t", "op": "age_max_s", "value": "x"}, {"t": NOW}, False), ({"path": "t", "op": "age_max_s", "value": 60}, {"t": "soon"}, False),
    ],
)  # fmt: skip
def test_conditions(condition, given, holds) -> None:
    assert Condition.model_validate(condition).holds(given, NOW) is holds


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "fallback"}, {"kind": "add_step"}, {"kind": "pre_check"}, {"kind": "skip", "expect": [VIP]},
        {"kind": "bribe"}, {"kind": "skip", "more": 1},
    ],
)  # fmt: skip
def test_an_action_that_is_not_whole_is_refused(wrong) -> None:
    with pytest.raises(ValidationError):
        strategy(wrong)


def test_an_entry_that_holds_no_strategy_is_none() -> None:
    good = entry(strategy("skip"))
    assert strategy_of(good) == strategy("skip")
    for definition in ({}, {"signature": "x"}, {**good.definition, "action": 1}, {**good.definition, "id": "other"}):
        assert strategy_of(replace(good, definition=definition)) is None


def test_what_applies_is_chosen_by_value_priority_and_group() -> None:
    entries = [
        entry(strategy("skip", VIP, id="a"), exclusive_group="g", priority=1),
        entry(strategy("skip", {"path": "tier", "op": "in", "value": ["vip", "gold"]}, id="b"), exclusive_group="g", priority=2),
        entry(strategy("skip", {"path": "amount", "op": "gt", "value": 10}, id="c"), priority=3),
        entry(strategy("skip", {"path": "amount", "op": "gt", "value": 10}, id="d", input_constraint=[{"path": "x", "op": "exists"}])),
        entry(strategy("skip", id="e"), definition={}),
        entry(strategy("skip", VIP, id="f"), PatternState.SHADOW, exclusive_group="g", priority=9),
    ]  # fmt: skip
    index = StrategyIndex(entries)

    def ids(**arguments) -> list[str]:
        return [one.pattern.id for one in index.matching("refund", arguments, NOW)]

    assert ids(tier="vip", amount=11) == ["f", "c", "b"]
    assert ids(tier="gold", amount=1) == ["b"]
    assert ids(tier="normal", amount=11, x=1) == ["c", "d"]
    assert ids(tier=["vip"], amount=None) == []
    assert index.matching("other", {"tier": "vip"}, NOW) == []
    assert (index.left_out, index.size) == (["e"], 5)


def test_ten_thousand_strategies_are_matched_in_a_millisecond_also_on_one_tool() -> None:
    filed = [entry(strategy("skip", {"path": "id", "value": f"v{n}"}, id=f"s{n}")) for n in range(9_800)]
    unfiled = [entry(strategy("skip", {"path": "amount", "op": "gt", "value": n}, id=f"u{n}")) for n in range(200)]
    index = StrategyIndex([*filed, *unfiled])
    assert len(index.left_out) == 200 - UNFILED_MAX
    began = time.process_time()
    for n in range(200):
        index.matching("refund", {"id": f"v{n}", "amount": -1}, NOW)
    assert (time.process_time() - began) / 200 < 0.001


def test_a_canary_is_served_by_hash_and_a_shadow_to_nobody() -> None:
    def served(state: PatternState, **more) -> float:
        index = StrategyIndex([entry(strategy("skip", VIP, **more), state)])
        (one,) = index.matching("refund", {"tier": "vip"}, NOW)
        return sum(one.is_served(f"stream{n}") for n in range(4_000)) / 4_000

    assert served(PatternState.SHADOW) == 0
    assert 0.03 < served(PatternState.CANARY) < 0.07
    assert 0.96 < served(PatternState.ACTIVE) < 1
    assert served(PatternState.ACTIVE, impact={"risk": "high"}) == 1
    assert is_canary("s1/stream1") is is_canary("s1/stream1")


def test_what_is_done_before_and_after_a_call() -> None:
    check = strategy(FRESH)
    assert wanted_call(check, {"country": "NG"}) == Wanted("list_status", {"name": "countries", "for": "NG"})
    assert before(check, {}, Looked({"as_of": NOW - 3_600_000}), NOW) is Did.NOTHING
    assert before(check, {}, Looked({"as_of": NOW - 2 * DAY_MS}), NOW) is Did.REVIEW
    assert before(check, {}, Looked(None, is_answered=False), NOW) is Did.NOTHING
    own = strategy({"kind": "pre_check", "expect": [{"path": "amount", "op": "gt", "value": 0}], "otherwise": "skip"})
    assert before(own, {"amount": 0}, None, NOW) is Did.SKIP
    other = strategy(
        {"kind": "fallback", "call": {"tool": "queue", "arguments": {"all": "$", "n": ["$amount", "$no"]}}},
        errors=["system_error"],
    )
    assert wanted_call(other, {"amount": 2}) == Wanted("queue", {"all": {"amount": 2}, "n": [2, None]})
    assert [after(other, status) for status in ("ok", "system_error", "business_failure", "not_run")] == [
        Did.NOTHING, Did.FALLBACK, Did.NOTHING, Did.NOTHING,
    ]  # fmt: skip


RULES = {
    "refund": ToolRule(is_permitted=True), "queue": ToolRule(is_permitted=True), "pay": ToolRule(), "list_status": ToolRule(has_side_effects=False),
}  # fmt: skip
KNOWN = Known(rules=RULES, works={"queue": (20, 20), "pay": (20, 20)})
GOOD = [case(n) for n in range(1_000)]
FAILED = [case(-1, "business_failure", arguments={"tier": "vip", "amount": 1})]
QUEUE = {"kind": "fallback", "call": {"tool": "queue", "arguments": {"amount": "$amount"}}}


@pytest.mark.parametrize(
    ("one", "good", "reasons"),
    [
        (strategy("require_review", VIP), GOOD, ()),
        (strategy("require_review", VIP), GOOD[:999], ("only 999 good calls to try it on, 1000 are wanted",)),
        (strategy("require_review"), GOOD, ("changes 1000 good calls",)),
        (strategy("skip", {"path": "tier", "value": "gold"}), GOOD, ("mends 0 of 1 failures",)),
        (strategy(QUEUE, side_effects=["queue"]), GOOD, ()),
        (strategy(QUEUE), GOOD, ("side effects of queue are not declared",)),
        (strategy({**QUEUE, "call": {"tool": "pay"}}, side_effects=["pay"]), GOOD, ("side effects of pay are not permitted",)),
        (
            strategy({**QUEUE, "call": {"tool": "gone"}}, side_effects=["gone"]), GOOD,
            ("there is no tool gone", "mends 0 of 1 failures"),
        ),
        (strategy(QUEUE, side_effects=["queue"], errors=["system_error"]), GOOD, ("mends 0 of 1 failures",)),
        (
            strategy({**FRESH, "call": {"tool": "queue"}}, VIP, side_effects=["queue"]), GOOD,
            ("a check must not have side effects", "mends 0 of 1 failures"),
        ),
    ],
)  # fmt: skip
def test_a_strategy_must_mend_failures_leave_good_calls_and_keep_to_its_side_effects(one, good, reasons) -> None:
    proof = proved(
        one,
        FAILED
        if one.action.call is None or one.action.kind == "fallback"
        else [replace(FAILED[0], looked={"queue": {"as_of": NOW}})],
        good,
        KNOWN,
    )
    assert proof.reasons == reasons
    assert proof.is_accepted is not bool(reasons)


def test_a_freshness_check_is_proved_on_what_the_list_said_then() -> None:
    stale = {"list_status": {"as_of": NOW - 3 * DAY_MS}}
    failures = [case(n, "business_failure", arguments={"country": "NG"}, looked=stale) for n in range(3)]
    fresh = [replace(one, arguments={"country": "NG"}, looked={"list_status": {"as_of": NOW - 1_000}}) for one in GOOD]
    check = strategy(FRESH, {"path": "country", "value": "NG"})
    proof = proved(check, failures, fresh, KNOWN)
    assert (proof.is_accepted, proof.mended, proof.touched, proof.effects) == (True, 3, 1_000, ())
    assert proved(check, failures, [replace(one, looked=stale) for one in fresh], KNOWN).changed == 1_000


def test_an_added_step_is_proved_by_good_calls_that_had_it() -> None:
    step = strategy({"kind": "add_step", "call": {"tool": "list_status"}})
    assert proved(step, FAILED, [replace(one, before=("list_status",)) for one in GOOD], KNOWN).is_accepted
    assert not proved(step, FAILED, GOOD, KNOWN).is_accepted


def result(number: int, status: str, is_served: bool, did: str, **more) -> ToolResult:
    note = AppliedStrategy(id="s1", version=1, is_served=is_served, did=did, is_answered=more.pop("is_answered", None))
    return ToolResult(stream_id=f"r{number}", call_id="c", status=status, strategies=(note,), **more)


def moves(pattern: Pattern, results: list[ToolResult]) -> list[tuple[PatternState, int]]:
    """To which states an entry moves, and after how many results the first time."""
    fares = Fares()
    fares.use([pattern], NOW)
    found = []
    for n, one in enumerate(results, start=1):
        found += [(moved.state, n) for moved in fares.feed(one, NOW)]
        if found:
            break
    return found


REVIEW, SWAP = strategy("require_review", VIP), strategy(QUEUE, side_effects=["queue"])
CANARY, ACTIVE, SHADOW = PatternState.CANARY, PatternState.ACTIVE, PatternState.SHADOW


@pytest.mark.parametrize(
    ("one", "state", "results", "moved"),
    [
        (REVIEW, CANARY, [("business_failure", False, "review")] * 30, [(ACTIVE, 17)]),
        (REVIEW, CANARY, [("ok", False, "review")] * 30, [(SHADOW, 3)]),
        (REVIEW, CANARY, [("not_run", True, "review")] * 300, []),
        (REVIEW, SHADOW, [("business_failure", False, "review")] * 30, [(CANARY, 17)]),
        (REVIEW, SHADOW, [("ok", False, "review")] * 30, [(PatternState.REJECTED, 3)]),
        (REVIEW, ACTIVE, [("ok", False, "review")] * 30, [(SHADOW, 3)]),
        (SWAP, CANARY, [("ok", True, "fallback")] * 30, [(ACTIVE, 17)]),
        (SWAP, CANARY, [("system_error", True, "fallback")] * 30, [(SHADOW, 3)]),
        (SWAP, ACTIVE, [*[("ok", True, "fallback")] * 200, *[("system_error", True, "fallback")] * 4], [(SHADOW, 203)]),
        (SWAP, CANARY, [("system_error", False, "fallback"), ("ok", True, "nothing")] * 100, []),
    ],
)  # fmt: skip
def test_how_a_strategy_fares_moves_it(one, state, results, moved) -> None:
    fed = [result(n, *each, is_answered=each[0] == "ok") for n, each in enumerate(results)]
    assert moves(entry(one, state), fed) == moved
    assert moves(entry(one, state, pinned=True), fed) == []


def test_a_result_published_again_and_one_of_an_older_version_do_not_count() -> None:
    pattern = entry(REVIEW, CANARY)
    assert moves(pattern, [result(1, "business_failure", False, "review")] * 100) == []
    assert moves(replace(pattern, version=2), [result(n, "ok", False, "review") for n in range(100)]) == []


def test_a_strategy_that_makes_calls_much_slower_is_taken_back() -> None:
    usual = [result(n, "ok", False, "nothing", duration_ms=20) for n in range(20)]
    slow = [result(100 + n, "ok", True, "step", duration_ms=3_000, is_answered=True) for n in range(5)]
    step = strategy({"kind": "add_step", "call": {"tool": "list_status"}})
    assert moves(entry(step, CANARY), [*usual, *slow]) == [(SHADOW, 23)]


def test_a_persons_verdict_counts_and_what_is_unused_retires() -> None:
    fares = Fares()
    fares.use([entry(REVIEW)], NOW)
    assert [one.state for n in range(3) for one in fares.verdict("s1", is_right=False)] == [SHADOW]
    assert fares.verdict("gone", is_right=False) == []
    fares.use([entry(strategy("skip", VIP, id="s2")), entry(strategy("skip", id="s3", is_critical=True))], NOW)
    assert fares.idle(NOW + UNUSED_DAYS * DAY_MS - 1) == []
    assert [(one.id, one.state) for one in fares.idle(NOW + UNUSED_DAYS * DAY_MS)] == [("s2", PatternState.RETIRED)]


def test_no_strategy_that_does_harm_in_canary_becomes_active_and_those_that_do_none_do() -> None:
    found = list(played(30, seed=3))
    assert {one.was_active for one in found if one.harm} == {False}
    assert {one.state for one in found if not one.harm} == {ACTIVE}
