"""Calls whose dates the user's words settle: from the call as written to the call that is executed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.repair import compile_tool
from processors.tool import ToolStage
from processors.tools.arguments import Said, read_arguments, said_in, settled
from processors.tools.toolbox import Toolbox
from schemas.segment import CallDraft, Opened, Param, Segment, SegmentKind
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall

DAY = {"type": "string", "format": "date"}
SALES = {
    "name": "query_sales_db",
    "parameters": {
        "type": "object",
        "properties": {
            "date_range": {"type": "array", "items": DAY, "minItems": 2, "maxItems": 2},
            "metrics": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["date_range", "metrics"],
    },
}
QUARTER = ["2026-01-01", "2026-03-31"]


def called(user, now=None, **draft) -> ToolCall:
    stage = ToolStage(Toolbox([SALES]))
    text = Segment(
        stream_id="s", order=0, kind=SegmentKind.TOOL_CALL, text="…", span=(0, 1),
        call=CallDraft(dialect="json_object", name="query_sales_db", **draft),
    )  # fmt: skip
    events = [Opened(stream_id="s", meta=Meta(user=user, now=now)), text]
    (call,) = [out for event in events for out in stage.feed(event) if isinstance(out, ToolCall)]
    return call


DRAFTS = {
    "typed": {"value": {"date": "2025-01-01", "metrics": "revenue"}},
    "text": {"arguments_text": '{"date": "2025-01-01", "metrics": "revenue"}'},
    "damaged text": {"arguments_text": "{'date_range': ['2025-01-01', '2025-03-31'], metrics: 'revenue',}"},
    "parameters": {
        "params": (
            Param(key="date_range", value='["2025-01-01", "2025-03-31"]'),
            Param(key="metrics", value='["revenue"]'),
        )
    },
}


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
@pytest.mark.parametrize("user", ["分析一下2026年Q1的销售额", "Analyse the sales of Q1 2026"])
def test_the_quarter_that_was_asked_for_is_the_one_that_is_queried(user, draft) -> None:
    call = called(user, **draft)
    assert (call.status, call.strategy) == (CallStatus.REPAIRED, "semantic")
    assert call.arguments == {"date_range": QUARTER, "metrics": ["revenue"]}
    assert call.confidence >= 0.9
    assert {"period_filled", "period_corrected"} & {repair.code for repair in call.repairs}


def test_a_relative_time_needs_to_know_when_it_was_said() -> None:
    value = {"metrics": ["revenue"]}
    assert called("last month's revenue", "2026-03-18T10:00:00", value=value).arguments["date_range"] == [
        "2026-02-01",
        "2026-02-28",
    ]
    assert called("last month's revenue", value=value).status is CallStatus.REFUSED


@pytest.mark.parametrize("user", ["Revenue, please.", "销售额", "Revenue of Q1"])
def test_words_that_settle_nothing_leave_the_refusal(user) -> None:
    call = called(user, "2026-03-18T10:00:00", value={"metrics": ["revenue"]})
    assert (call.status, call.arguments) == (CallStatus.REFUSED, None)


def test_a_right_call_stays_as_it_is() -> None:
    value = {"date_range": QUARTER, "metrics": ["revenue"]}
    call = called("Sales of Q1 2026", value=value)
    assert (call.status, call.arguments, call.repairs, call.confidence) == (CallStatus.OK, value, (), 1.0)


def test_a_cut_call_is_not_completed_with_the_users_words() -> None:
    call = called("Sales of Q1 2026", arguments_text='{"metrics": ["revenue"], "date_range": ["2025-0')
    assert call.status is CallStatus.REFUSED
    assert call.refusal.code.startswith("truncated")


@pytest.mark.parametrize("meta", [Meta(), Meta(user=""), Meta(now="2026-01-01")])
def test_without_words_nothing_was_said(meta) -> None:
    assert said_in(meta) is None


def test_a_time_or_policy_that_cannot_be_read_is_left_out() -> None:
    said = said_in(Meta(user="x", now="yesterday", policy={"week_start": 7}))
    assert said == Said(user="x")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["date", "date_range", "x"]), inner),
    max_leaves=6,
)
WORDS = st.text(max_size=30) | st.sampled_from(["Q1 2026", "上周", "yesterday 3pm", "\ud800 2026-01-01", "明天\0"])


@given(VALUES, WORDS, st.none() | st.text(max_size=20))
def test_nothing_raises(value, user, now) -> None:
    said = said_in(Meta(user=user, now=now))
    draft = CallDraft(dialect="json_object", name="query_sales_db", value=value)
    schema = compile_tool(SALES)
    reading = read_arguments(draft, schema)
    if said:
        again = settled(reading, draft, schema, said)
        assert again.arguments is None or schema.is_valid(again.arguments)


def test_repairs_of_damaged_text_are_told_beside_those_of_the_dates() -> None:
    call = called(
        "last month please",
        now="2026-04-02T10:00:00Z",
        arguments_text="{'date_range': 'last month', 'metrics': ['a'],}",
    )
    assert call.arguments == {"date_range": ["2026-03-01", "2026-03-31"], "metrics": ["a"]}
    codes = [one.code for one in call.repairs]
    assert "period_corrected" in codes
    assert "quotes_replaced" in codes
