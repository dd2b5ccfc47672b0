"""A stream's record: made from data alone, and reusable only by the rule."""

import pytest

from processors.reasoning.goals import features_of, tool_hash
from processors.reasoning.options import options_of
from processors.reasoning.record import Facts, Reuse, record_id, record_of
from schemas.reasoning import Gap, Label, Node, ReasoningStep
from schemas.toolcall import CallStatus, Repair, ToolCall, ToolResult
from schemas.wire import encode


def node(number: int, confidence: float = 0.9, **more: object) -> Node:
    given = {"type": Label.PLANNING, "text": f"Plan {number}.", "led_to": ("call_0",)} | more
    return Node(stream_id="s", id=f"rn_{number}", confidence=confidence, order=number, span=(0, 7), **given)


def call(status: CallStatus = CallStatus.OK, number: int = 0, **more: object) -> ToolCall:
    return ToolCall(
        stream_id="s", id=f"call_{number}", name="query_sales", requested_name="query_sales", arguments={}, raw="", order=1,
        span=(0, 1), status=status, strategy="json", confidence=0.9, **more,
    )  # fmt: skip


def facts(**more: object) -> Facts:
    return Facts(**({"stream_id": "s", "goal": "Analyse sales", "ts": 1_780_272_000_000.0, "nodes": (node(0),)} | more))


def test_record_has_goal_tree_and_figures() -> None:
    repaired = call(CallStatus.REPAIRED, repairs=(Repair(code="quarter_to_range", rule="rr-7"),))
    record = record_of(facts(goal_id="g1", calls=(repaired,)))
    assert record is not None
    assert (record["record_id"], record["goal_id"], record["tools"]) == (
        record_id("s", 1_780_272_000_000.0),
        "g1",
        ["query_sales"],
    )
    assert record["record_id"].startswith("rr_20260601_")
    (only,) = record["reasoning_tree"]["nodes"]
    assert (only["repair_applied"], only["repair_rule"], only["led_to"]) == (["quarter_to_range"], "rr-7", ["call_0"])
    assert record["metadata"]["reusable"] is True
    assert record["metadata"]["repairs"] == 1


def test_same_stream_has_the_same_record() -> None:
    assert encode(record_of(facts())) == encode(record_of(facts()))  # type: ignore[arg-type]  # a record is no event


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"is_truncated": True}, "truncated"),
        ({"nodes": (node(0, 0.3),)}, "average confidence under 0.7"),
        ({"gaps": (Gap(between=("a", "b"), similarity=0.1),)}, "more than 0 gaps"),
        ({"calls": (call(CallStatus.REFUSED),)}, "a call failed"),
        (
            {"calls": (call(),), "results": (ToolResult(stream_id="s", call_id="call_0", status="system_error"),)},
            "a call failed",
        ),
    ],
)
def test_record_that_breaks_the_rule_says_why(more: dict[str, object], why: str) -> None:
    record = record_of(facts(**more))
    assert record is not None
    assert record["metadata"]["not_reusable_because"] == [why]


def test_what_was_taken_back_does_not_count_against_a_record() -> None:
    wrong = call(CallStatus.REFUSED, superseded_by="call_1")
    record = record_of(facts(nodes=(node(0, 0.1, superseded=True), node(1)), calls=(wrong, call(number=1))))
    assert record is not None
    assert record["metadata"]["reusable"] is True
    assert record["metadata"]["superseded_nodes"] == 1


def test_clean_view_leaves_out_what_was_taken_back() -> None:
    text = "The fee is 12. Wait, that is wrong. The fee is 13."
    spans = [(0, 14), (15, 35), (36, 50)]
    steps = tuple(
        ReasoningStep(type=Label.OTHER, confidence=0.9, span=span, superseded=span == (0, 14)) for span in spans
    )
    record = record_of(facts(nodes=(node(0, superseded=True), node(1, text=text, steps=steps), node(2))))
    assert record is not None
    assert record["clean_view"] == "Wait, that is wrong. The fee is 13.\nPlan 2."


def test_rule_is_a_setting_in_the_registry() -> None:
    options = options_of([{"type": "settings", "reuse": {"confidence_min": 0.95, "gaps_max": 3}}])
    assert options.reuse == Reuse(confidence_min=0.95, gaps_max=3)
    record = record_of(facts(), options.reuse)
    assert record is not None
    assert record["metadata"]["reusable"] is False


def test_registry_entries_shape_the_model() -> None:
    cues = {"type": "cues", "label": "evaluation", "en": ["\\broger\\b"]}
    feedback = {"type": "feedback", "delta": {"columns": {"7": [0.5] * 6}, "sentences": 20}}
    prior = {"type": "settings", "prior": dict.fromkeys(Label, 1 / 6)}
    options = options_of([cues, feedback, prior])
    assert options.model.cues.hits("Roger that.")
    assert options.model.grams[7][0] == options_of([]).model.grams[7][0] + 0.5


@pytest.mark.parametrize("definition", [{"type": "nothing"}, {"type": "cues", "label": "evaluation", "en": ["("]}])
def test_a_broken_entry_is_refused(definition: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        options_of([definition])


@pytest.mark.parametrize(
    ("ts", "now", "day"),
    [
        (None, None, "00000000"),
        (None, "2026-11-30T08:00:00", "20261130"),
        (float("nan"), None, "00000000"),
        (1e300, "x", "00000000"),
    ],
)
def test_date_is_made_from_data(ts: float | None, now: str | None, day: str) -> None:
    assert record_id("s", ts, now).split("_")[1] == day


def test_stream_without_reasoning_has_no_record_and_without_goal_its_plan_names_it() -> None:
    assert record_of(facts(nodes=())) is None
    record = record_of(facts(goal=" "))
    assert record is not None
    assert record["goal"] == "Plan 0."


def test_features_are_words_that_say_something() -> None:
    one, other = features_of("Summarise the freight invoices of 2026 Q1"), features_of("总结一季度的运费发票")
    assert len(one.hashes) == len(one.weights) >= 4
    assert len(other.hashes) >= 5
    assert features_of("").norm == 0
    assert tool_hash("a") != tool_hash("b")
    assert len(features_of("word%d " * 50 % tuple(range(50))).hashes) <= 32
