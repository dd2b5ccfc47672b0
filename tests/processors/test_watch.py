"""Which questions are asked of a running system: by failures, contracts, latency, strategies, alerts; and how often."""

import pytest

from processors.attribution.context import Terms
from processors.retrospect import Question
from processors.retrospection.contract import read_contracts
from processors.retrospection.watch import NEEDED_MAX, Surveyed, Watch
from schemas.attribution import Attribution
from schemas.signal import Signal
from schemas.toolcall import AppliedStrategy, ToolResult
from schemas.trajectory import Step

NOW = 1_700_000_000_000.0
CONTRACTS = read_contracts("""
[[contract]]
tool = "refund"
after_failure = "review"

[[contract]]
tool = "quote"
upstream = "desk"
latency_ms_max = 300
""")
REVIEWED = AppliedStrategy(id="s1", version=1, is_served=True, did="review")


def took(watch: Watch, number: int, tool: str, status: str = "ok", at_s: float = 0, **more) -> list:
    """One call and its result."""
    stream_id = more.pop("stream_id", f"s{number}")
    detail = {"id": f"c{number}", "name": tool, "arguments": {"n": number}}
    step = Step(stream_id=stream_id, order=0, kind="tool_call", run_id=more.pop("run_id", None), detail=detail)
    result = ToolResult(stream_id=stream_id, call_id=f"c{number}", status=status, **more)
    return [*watch.result(result, NOW + at_s * 1000), *watch.step(step)]


def due(watch: Watch, at_s: float) -> list:
    return list(watch.due(NOW + at_s * 1000))


def asked(found: list) -> list[tuple[str, str, str]]:
    return [(one.case_id, one.trigger, one.why) for one in found if isinstance(one, Question)]


LOST = {"status": "system_error", "content": {"kind": "TimeoutError"}, "error": "no answer"}


def test_a_defect_is_asked_about_once_a_minute_and_jitter_is_not() -> None:
    watch = Watch(Surveyed(contracts=CONTRACTS))
    took(watch, 1, "quote", at_s=0, **LOST)
    (only,) = due(watch, 3)
    assert (only.cause, only.is_defect) == ("jitter", False)
    for n in range(2, 12):
        took(watch, n, "quote", at_s=n, **LOST)
    found = due(watch, 15)
    assert len([one for one in found if isinstance(one, Attribution)]) == 10
    assert asked(found) == [("s2/c2", "implicit", "system_error: dependency")]
    took(watch, 50, "quote", at_s=80, **LOST)
    assert asked(due(watch, 84)) == [("s50/c50", "implicit", "system_error: dependency")]


def test_a_failure_that_a_contract_has_something_to_say_about_is_asked_about_at_once() -> None:
    watch = Watch(Surveyed(contracts=CONTRACTS))
    took(watch, 1, "refund", "business_failure", error="declined")
    took(watch, 2, "search", "business_failure", error="declined")
    assert [one[0] for one in asked(due(watch, 4))] == ["s1/c1"]


@pytest.mark.parametrize(
    ("tool", "usual", "ms", "why"),
    [
        ("quote", 0, 301.0, "latency: 301 ms, the contract allows 300 ms"), ("quote", 0, 300.0, None),
        ("search", 30, 5_000.0, "latency: 5000 ms, usual are 100 ms"), ("search", 10, 5_000.0, None),
        ("search", 30, 900.0, None), ("search", 30, None, None),
    ],
)  # fmt: skip
def test_a_slow_call_is_asked_about(tool, usual, ms, why) -> None:
    watch = Watch(Surveyed(contracts=CONTRACTS))
    for n in range(usual):
        took(watch, n, tool, duration_ms=100.0)
    found = asked(took(watch, 999, tool, duration_ms=ms))
    assert [one[2] for one in found] == ([why] if why else [])


def test_a_strategy_that_is_needed_again_and_again_is_asked_about() -> None:
    watch = Watch(Surveyed())
    found = [took(watch, n, "refund", "not_run", at_s=n, strategies=(REVIEWED,)) for n in range(NEEDED_MAX)]
    assert [asked(one) for one in found[:-1]] == [[]] * (NEEDED_MAX - 1)
    assert asked(found[-1])[0][1:] == ("implicit", f"strategy s1 was needed {NEEDED_MAX} times")
    slowly = Watch(Surveyed())
    found = [took(slowly, n, "refund", "not_run", at_s=n * 100, strategies=(REVIEWED,)) for n in range(NEEDED_MAX)]
    assert asked(found[-1]) == []


def test_an_alert_asks_about_what_failed_a_short_time_ago() -> None:
    watch = Watch(Surveyed(contracts=CONTRACTS))
    took(watch, 1, "quote", at_s=0, **LOST)
    took(watch, 2, "search", at_s=0, **LOST)
    alert = Signal(kind="alert", about="desk", text="red")
    assert asked(list(watch.signal(alert, NOW + 10_000))) == [("s1/c1", "passive", "alert: red")]
    assert asked(list(watch.signal(Signal(kind="alert", about="bank"), NOW + 10_000))) == []
    late = Watch(Surveyed(terms=Terms(within_ms=5_000)))
    took(late, 1, "quote", at_s=0, **LOST)
    assert asked(list(late.signal(Signal(kind="alert"), NOW + 10_000))) == []


@pytest.mark.parametrize(
    ("stream_id", "call_id", "found"),
    [("s2", "c2", "s2/c2"), ("s1", "", "s1/c1"), ("run", "", "s1/c1"), ("s2", "", None), ("gone", "", None)],
)
def test_a_question_is_answered_about_the_call_or_the_last_that_failed(stream_id, call_id, found) -> None:
    watch = Watch(Surveyed())
    took(watch, 1, "quote", run_id="run", **LOST)
    took(watch, 2, "quote", run_id="run")
    signal = Signal(kind="retrospect", stream_id=stream_id, call_id=call_id)
    questions = list(watch.signal(signal, NOW))
    assert [one.case_id for one in questions] == ([found] if found else [])
    for question in questions:
        memory = watch.memory(question)
        assert [one.id for one in memory.chain] == ["s1/c1", "s2/c2"]


def test_what_is_not_known_any_more_has_no_memory() -> None:
    assert Watch(Surveyed()).memory(Question(case_id="x/y", trigger="explicit")) is None
