"""A call looked back at: chain, deviation, cause, strategy with its proof; and when nothing is to be learned."""

from dataclasses import replace

import pytest

from benchmarks.bench_incidents import strategy_from
from benchmarks.incidents import incidents
from processors.attribution.causes import Cause
from processors.dispatching.policy import ToolRule
from processors.learning.lifecycle import Approval
from processors.retrospect import Memory, Question, retrospect
from processors.retrospection.cases import CaseBook, seen_of
from processors.retrospection.contract import Contract, ContractError, read_contracts, upstreams
from processors.retrospection.deviation import located
from processors.retrospection.propose import ADVICE, telling_condition
from processors.strategies.prove import Case
from processors.strategies.strategy import strategy_of
from schemas.pattern import PatternState
from schemas.toolcall import AppliedStrategy, ToolResult
from schemas.trajectory import Step
from schemas.wire import decode, encode

NOW = 1_700_000_000_000.0
DAY_MS = 86_400_000.0
CONTRACTS = read_contracts("""
[[contract]]
tool = "refund"
upstream = "bank"
needs = ["find_order"]
after_failure = "review"
latency_ms_max = 2000
output = [{ path = "refunded", op = "exists" }]

[[contract]]
tool = "pay"
after_failure = ""
input = [{ path = "amount", op = "gt", value = 0 }]

[[contract.lists]]
name = "countries"
argument = "country"
check = { tool = "list_status", arguments = { name = "countries" } }
expect = [{ path = "as_of", op = "age_max_s", value = 86400 }]

[[contract]]
tool = "ship"
after_failure = "ship_by_post"
after_arguments = { order = "$order" }
""")
RULES = {name: ToolRule(is_permitted=True) for name in ("refund", "pay", "ship", "ship_by_post")} | {
    name: ToolRule(has_side_effects=False) for name in ("find_order", "list_status")
}


def case(number: int, tool: str = "refund", status: str = "ok", at_s: float = 0, **more) -> Case:
    arguments = more.pop("arguments", {"order": f"R{number:05}", "tier": ("normal", "plus")[number % 2]})
    content = more.pop("content", {"refunded": 1} if status == "ok" else None)
    return Case(
        id=f"s{number}/c", run_id=f"s{number}", tool=tool, arguments=arguments, status=status, at_ms=NOW + at_s * 1000,
        content=content, before=more.pop("before", ("find_order",)), **more,
    )  # fmt: skip


GOOD = [case(n, at_s=n - 1_200) for n in range(1_100)]
VIP = {"order": "R99999", "tier": "vip"}


def look_back(bad: Case, good: list[Case], others: tuple[Case, ...] = (), **more):
    chain = more.pop("chain", (bad,))
    memory = Memory(chain=chain, cases=[*good, *others, bad], contracts=CONTRACTS, rules=RULES, **more)
    return retrospect(Question(case_id=bad.id, trigger="explicit", why="a test"), memory)


def test_one_failure_of_a_contract_that_asks_for_review_becomes_a_review_of_such_calls() -> None:
    failed = case(5_000, status="business_failure", arguments=VIP, error="the fast lane gave up on mail@example.com")
    found = look_back(failed, GOOD)
    said, entry = found.retrospection, found.entry
    assert (said.deviation, said.cause, said.strategy, said.advice) == ("unhandled", "skipped_fallback", entry.id, "")
    assert [one.step for one in said.evidence_trace] == ["trigger", "chain", "deviation", "cause", "tried"]
    tried = said.evidence_trace[-1].data
    assert (tried["mended"], tried["changed"], tried["good"], tried["reasons"]) == (1, 0, 1_100, [])
    assert "example.com" not in str(found)
    strategy = strategy_of(entry)
    assert (strategy.action.kind, strategy.trigger.context[0].model_dump(mode="json")) == (
        "require_review", {"path": "tier", "op": "eq", "value": "vip"},
    )  # fmt: skip
    assert (entry.state, entry.exclusive_group.split("/")[0], len(entry.positives)) == (
        PatternState.CANARY,
        "refund",
        1,
    )
    assert look_back(failed, GOOD) == found


def test_a_person_who_approves_finds_a_candidate_and_999_good_calls_prove_nothing() -> None:
    failed = case(5_000, status="business_failure", arguments=VIP, error="no")
    question = Question(case_id=failed.id, trigger="implicit")
    memory = Memory(chain=(failed,), cases=[*GOOD, failed], contracts=CONTRACTS, rules=RULES)
    assert retrospect(question, memory, Approval.MANUAL).entry.state is PatternState.CANDIDATE
    few = look_back(failed, GOOD[:999])
    assert (few.entry, few.retrospection.strategy) == (None, None)
    assert few.retrospection.evidence_trace[-2].data["reasons"] == ["only 999 good calls to try it on, 1000 are wanted"]


@pytest.mark.parametrize("kind", ["TimeoutError", "ConnectionResetError"])
def test_a_lost_call_is_jitter_and_teaches_nothing_even_against_a_contract(kind) -> None:
    lost = case(5_000, status="system_error", arguments=VIP, error="lost", content={"kind": kind})
    found = look_back(lost, GOOD)
    assert (found.retrospection.cause, found.entry) == ("jitter", None)
    assert found.retrospection.advice.startswith("Nothing is to be learned")


COUNTRIES = ("DE", "FR", "JP", "US")


def paid(number: int, country: str, status: str = "ok", at_s: float = 0, age_days: float = 0.1) -> Case:
    looked = {"list_status": {"as_of": NOW + at_s * 1000 - age_days * DAY_MS}}
    content = {"kind": "http", "code": 403} if status != "ok" else {"paid": 1}
    return case(
        number, "pay", status, at_s, arguments={"country": country, "amount": 1 + number % 90, "id": number},
        content=content, error="refused" if status != "ok" else "", looked=looked,
    )  # fmt: skip


def test_a_stale_list_becomes_a_freshness_check_for_the_values_that_fail() -> None:
    before = [paid(n, (*COUNTRIES, "NG", "KE")[n % 6], at_s=n * 10 - 20_000) for n in range(1_200)]
    since = [paid(2_000 + n, COUNTRIES[n % 4], at_s=-250 + n * 5, age_days=3) for n in range(50)]
    bad = [paid(3_000 + n, ("NG", "KE")[n % 2], "business_failure", -240 + n * 50, age_days=3) for n in range(5)]
    found = look_back(bad[-1], [*before, *since], tuple(bad[:-1]))
    assert (found.retrospection.cause, found.retrospection.deviation) == ("stale_list", "failed")
    strategy = strategy_of(found.entry)
    assert strategy.trigger.context[0].model_dump(mode="json") == {"path": "country", "op": "in", "value": ["KE", "NG"]}
    assert (strategy.action.kind, strategy.action.call.tool, strategy.action.otherwise) == (
        "pre_check", "list_status", "review",
    )  # fmt: skip
    proof = found.retrospection.evidence_trace[-1].data
    assert (proof["mended"], proof["changed"], proof["touched"]) == (5, 0, 400)


def test_a_step_that_is_missing_is_added_if_good_calls_had_it() -> None:
    failed = case(5_000, status="business_failure", before=(), error="no order")
    found = look_back(failed, GOOD, (case(6_000, "find_order", arguments={"order": "R1"}),))
    assert found.retrospection.deviation == "step_missing"
    assert strategy_of(found.entry).action.model_dump(mode="json")["call"] == {
        "tool": "find_order", "arguments": {"order": "$order"},
    }  # fmt: skip


def test_arguments_that_the_contract_does_not_allow_are_refused_before_the_call() -> None:
    bad = replace(paid(5_000, "DE", "param_error"), arguments={"country": "DE", "amount": -1, "id": 1})
    found = look_back(bad, [paid(n, COUNTRIES[n % 4], at_s=n - 1_200) for n in range(1_100)])
    strategy = strategy_of(found.entry)
    assert (found.retrospection.deviation, strategy.action.kind, strategy.action.otherwise) == (
        "input",
        "pre_check",
        "skip",
    )


def shipped(number: int, status: str = "ok", at_s: float = 0, tool: str = "ship") -> Case:
    error = {"kind": "http", "code": 503} if status != "ok" else {"sent": 1}
    return case(
        number, tool, status, at_s, arguments={"order": number}, content=error, error="down" if status != "ok" else ""
    )


def test_a_dependency_that_is_down_falls_back_on_what_the_contract_names() -> None:
    good = [shipped(n, at_s=n - 1_400) for n in range(1_000)]
    post = [shipped(7_000 + n, at_s=n - 1_400, tool="ship_by_post") for n in range(10)]
    other = [case(8_000 + n, at_s=-30 + n) for n in range(30)]
    bad = [shipped(5_000 + n, "system_error", n - 8) for n in range(5)]
    found = look_back(bad[-1], [*good, *post, *other], tuple(bad[:-1]))
    strategy = strategy_of(found.entry)
    assert (found.retrospection.cause, strategy.action.kind, strategy.side_effects) == (
        "dependency", "fallback", ("ship_by_post",),
    )  # fmt: skip
    assert strategy.action.call.arguments == {"order": "$order"}


def test_what_a_person_gives_as_the_reason_is_kept_clean_and_can_be_written() -> None:
    failed = case(5_000, status="business_failure", arguments=VIP)
    memory = Memory(chain=(failed,), cases=[*GOOD, failed], contracts=CONTRACTS, rules=RULES)
    found = retrospect(Question(case_id=failed.id, trigger="explicit", why="mail@example.com asked \ud800"), memory)
    assert found is not None
    why = found.retrospection.evidence_trace[0].data["why"]
    assert "mail@example.com" not in why
    assert "asked" in why
    assert decode(encode(found.retrospection)) == found.retrospection


def test_what_is_in_order_or_not_in_the_chain_is_not_looked_back_at() -> None:
    fine = case(1)
    assert look_back(fine, GOOD) is None
    assert look_back(case(2, status="business_failure"), GOOD, chain=()) is None
    slow = case(3, duration_ms=5_000.0)
    found = look_back(slow, GOOD)
    assert (found.retrospection.deviation, found.entry) == ("slow", None)
    odd = look_back(case(4, content={"other": 1}), GOOD)
    assert odd.retrospection.deviation == "output"


def test_a_call_that_a_strategy_held_up_is_looked_back_at_without_another_one() -> None:
    note = AppliedStrategy(id="s", version=1, is_served=True, did="review")
    found = look_back(case(5_000, status="not_run", arguments=VIP, strategies=(note,)), GOOD)
    assert (found.retrospection.deviation, found.entry) == ("needed", None)
    assert "should be mended" in found.retrospection.advice


def test_arguments_are_kept_within_bounds() -> None:
    deep: dict = {}
    for _ in range(3_000):
        deep = {"a": deep}
    given = {"text": "x" * 10**6, "deep": deep, "many": list(range(10**5)), "keys": {str(n): n for n in range(10**5)}}
    book = CaseBook()
    assert list(book.call(step(1, "pay", "r", **given))) == []
    (one,) = book.result(result(1), NOW)
    assert len(str(one.arguments)) < 3_000


def test_the_nearest_deviation_of_the_run_is_taken_if_the_call_itself_has_none() -> None:
    failed, fine = case(1, status="business_failure"), case(2)
    assert located((failed, fine), fine.id, CONTRACTS).case is failed


def test_a_telling_value_is_a_choice_and_not_a_number_that_is_always_another() -> None:
    bad = [case(1, arguments={"id": "a1", "tier": "vip", "nested": {"lane": "fast"}})]
    good = [case(n, arguments={"id": f"b{n}", "tier": "normal", "nested": {"lane": "slow"}}) for n in range(100)]
    assert telling_condition(bad, good).path == "nested.lane"
    assert telling_condition(bad, good[:4]) is None
    assert telling_condition(bad, [replace(one, arguments={"id": one.arguments["id"]}) for one in good]) is None
    assert telling_condition([], good) is None


def step(number: int, name: str, run: str, **arguments) -> Step:
    detail = {"id": f"call_{number}", "name": name, "arguments": arguments}
    return Step(stream_id=f"s{number}", order=1, kind="tool_call", run_id=run, detail=detail)


def result(number: int, status: str = "ok", **more) -> ToolResult:
    return ToolResult(stream_id=f"s{number}", call_id=f"call_{number}", status=status, **more)


def test_steps_and_results_are_joined_in_any_order_and_once() -> None:
    book = CaseBook({"list_status"})
    assert list(book.call(step(1, "list_status", "r"))) == []
    (first,) = book.result(result(1, content={"as_of": 7, "deep": {"a": 1}, "long": "x" * 999}), NOW)
    assert (
        list(book.result(result(2, "business_failure", content={"kind": "http", "code": 403}, error="no"), NOW + 1))
        == []
    )
    (second,) = book.call(step(2, "pay", "r", country="NG"))
    assert (first.content, second.before, second.looked) == (
        {"as_of": 7},
        ("list_status",),
        {"list_status": {"as_of": 7}},
    )
    assert book.chain("r") == (first, second)
    assert [*book.call(step(2, "pay", "r")), *book.result(result(2), NOW)] == []
    assert list(book.call(replace(step(3, "pay", "r"), kind="reasoning"))) == []
    fault = seen_of(second).fault
    assert (fault.kind, fault.code, fault.text) == ("http", 403, "no")


def test_contracts_that_do_not_hold_are_refused_with_their_place() -> None:
    assert upstreams(CONTRACTS) == {"refund": "bank"}
    for text, why in (
        ("[[contract]]\n", "tool: Field required"),
        ("tool = [", "at end of document"),
        ("contract = 1", "contract: Input should be"),
        ('[[contract]]\ntool = "a"\nmore = 1', "more"),
    ):
        with pytest.raises(ContractError, match=why):
            read_contracts(text)


def test_every_cause_has_advice_but_the_one_that_always_has_a_contract() -> None:
    assert set(Cause) - set(ADVICE) == {Cause.SKIPPED_FALLBACK}


def test_of_simulated_jitter_no_strategy_is_made_whatever_the_contract_says() -> None:
    contracts = [Contract(tool="", after_failure=after) for after in ("review", "export", "")]
    jitter = [one for one in incidents(63, seed=21) if one.cause == "jitter"]
    assert [strategy_from(one, contract) for one in jitter for contract in contracts] == [None] * 27
