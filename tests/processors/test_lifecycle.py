"""The life of an entry: each step with its evidence, by a sequential test; who may be moved and who not."""

from dataclasses import replace

import pytest

from processors.knowledge import knowledge_of
from processors.learning.lifecycle import (
    UNUSED_DAYS,
    Approval,
    Trial,
    Verdict,
    control_share,
    displaced,
    entered,
    is_canary,
    judged,
    moved,
    unused,
)
from processors.pipeline import run
from processors.snapshot import snapshot_of
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.token import Meta

DAY_MS = 86_400_000
FORMAT = {
    "id": "learned_ring",
    "models": [],
    "source": "a test",
    "calls": [{"open": ["⟦ring:$name⟧"], "close": ["⟦/ring⟧"], "body": "json_object"}],
    "examples": [{"text": '⟦ring:f⟧{"a": 1}⟦/ring⟧', "calls": [{"name": "f", "arguments": {"a": 1}}]}],
    "counter_examples": ["A plain answer."],
}


def entry(state: PatternState, **changes) -> Pattern:
    return replace(
        Pattern(id="learned_ring", version=1, kind=PatternKind.FORMAT, definition=FORMAT, state=state), **changes
    )


def trial(results: str, **options) -> Trial:
    found = Trial()
    for result in results:
        found = found.after(is_valid=result == "+", **options)
    return found


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ("", Verdict.WAIT),
        ("+" * 16, Verdict.WAIT),
        ("+" * 17, Verdict.AS_GOOD),
        ("---", Verdict.WORSE),
        ("+-+-+-+-", Verdict.WORSE),
        ("+" * 9 + "-" + "+" * 15, Verdict.AS_GOOD),
    ],
)
def test_the_sequential_test_decides_as_soon_as_it_can(results, verdict) -> None:
    assert trial(results).verdict is verdict


def test_a_long_good_time_does_not_pay_for_a_bad_one() -> None:
    assert trial("+" * 1000 + "---", in_use=True).verdict is Verdict.WORSE
    assert trial(("+" * 19 + "-") * 200, in_use=True).verdict is Verdict.WAIT


def test_control_is_bounded_and_needs_support() -> None:
    assert control_share(0, 10) == 0.95
    assert control_share(0, 1000) == 0.9
    assert control_share(1000, 0) == 0.98


@pytest.mark.parametrize(
    ("state", "results", "approval", "then"),
    [
        (PatternState.SHADOW, "++", Approval.AUTO, PatternState.ACTIVE),
        (PatternState.SHADOW, "+", Approval.AUTO, None),
        (PatternState.SHADOW, "-++", Approval.AUTO, None),
        (PatternState.SHADOW, "++", Approval.CANARY, None),
        (PatternState.SHADOW, "+" * 17, Approval.CANARY, PatternState.CANARY),
        (PatternState.SHADOW, "---", Approval.AUTO, PatternState.REJECTED),
        (PatternState.CANARY, "+" * 17, Approval.CANARY, PatternState.ACTIVE),
        (PatternState.CANARY, "---", Approval.CANARY, PatternState.SHADOW),
        (PatternState.ACTIVE, "---", Approval.AUTO, PatternState.SHADOW),
    ],
)
def test_what_is_seen_moves_an_entry(state, results, approval, then) -> None:
    found = judged(entry(state), trial(results), approval)
    assert (found.state if found else None) is then
    if found:
        step = found.evidence[-1]
        assert (step.data["from"], step.data["to"]) == (state, then)
        assert step.data["valid"] + step.data["invalid"] == len(results)


def test_a_pinned_entry_stays() -> None:
    pinned = entry(PatternState.ACTIVE, pinned=True)
    assert judged(pinned, trial("-----"), Approval.AUTO) is None
    assert unused(pinned, 0, 1000 * DAY_MS) is None


@pytest.mark.parametrize(
    ("approval", "valid", "state"),
    [
        (Approval.AUTO, 5, PatternState.SHADOW),
        (Approval.AUTO, 12, PatternState.ACTIVE),
        (Approval.CANARY, 100, PatternState.SHADOW),
        (Approval.MANUAL, 100, PatternState.CANDIDATE),
    ],
)
def test_a_proven_entry_begins_where_approval_says(approval, valid, state) -> None:
    assert entered(entry(PatternState.ACTIVE), approval, valid).state is state


def test_unused_entries_retire() -> None:
    active = entry(PatternState.ACTIVE)
    assert unused(active, 0, (UNUSED_DAYS - 1) * DAY_MS) is None
    assert unused(active, 0, UNUSED_DAYS * DAY_MS).state is PatternState.RETIRED


def test_a_rejected_entry_comes_back_only_by_a_person() -> None:
    rejected = entry(PatternState.REJECTED)
    assert moved(rejected, PatternState.CANARY, "", {}) is None
    assert moved(rejected, PatternState.ACTIVE, "approved", {}).state is PatternState.ACTIVE


def test_one_entry_of_a_group_is_active() -> None:
    old = entry(PatternState.ACTIVE, id="old", exclusive_group="ring")
    new = entry(PatternState.CANARY, id="new", exclusive_group="ring")
    (retired,) = displaced([old, new], new)
    assert (retired.id, retired.state) == ("old", PatternState.RETIRED)
    assert displaced([replace(old, pinned=True)], new) is None
    assert displaced([old], replace(new, exclusive_group=None)) == ()


def test_a_canary_is_served_to_its_share_of_streams_and_no_other() -> None:
    streams = [f"stream-{number}" for number in range(4000)]
    share = sum(map(is_canary, streams)) / len(streams)
    assert 0.04 < share < 0.06
    knowledge = knowledge_of(snapshot_of([entry(PatternState.CANARY)], 7))
    text = '⟦ring:get_weather⟧{"city": "Oslo"}⟦/ring⟧'
    meta = Meta(tools=({"function": {"name": "get_weather", "parameters": {"properties": {"city": {}}}}},))
    for stream in streams[:200]:
        calls = run(stream, [text], meta, knowledge).tool_calls
        assert [call.name for call in calls] == (["get_weather"] if is_canary(stream) else [])
