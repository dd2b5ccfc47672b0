"""The tool stage: statuses, names, links, failures."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.limits import Limits
from processors.repair import RuleBook
from processors.tool import ToolOptions, ToolStage
from processors.tools.definition import accept_min
from processors.tools.lessons import at
from processors.tools.links import cues
from processors.tools.toolbox import Toolbox
from schemas.failure import Failure, FailureCode
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.reasoning import Label, Node, ReasoningStep
from schemas.segment import CallDraft, Closed, Opened, Param, Segment, SegmentKind
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall
from schemas.wire import decode, encode

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "fields": {"type": "array"}},
            "required": ["city"],
        },
    },
}
MAIL = {"name": "send_email", "description": "Send an e-mail", "parameters": {"type": "object", "properties": {}}}


def call(start, name="get_weather", text="…", **draft) -> Segment:
    if not {"value", "params", "arguments_text"} & set(draft):
        draft["value"] = {"city": "Oslo"}
    return Segment(
        stream_id="s",
        order=start // 10,
        kind=SegmentKind.TOOL_CALL,
        text=text,
        span=(start, start + 9),
        call=CallDraft(dialect="json_object", name=name, **draft),
    )


def response(start, text="Here you are.") -> Segment:
    return Segment(stream_id="s", order=start // 10, kind=SegmentKind.RESPONSE, text=text, span=(start, start + 9))


def node(start, label=Label.SELF_CORRECTION, text="Wait.") -> Node:
    span = (start, start + 9)
    return Node(
        stream_id="s", id=f"rn_{start}", type=label, confidence=0.9, text=text, order=start // 10, span=span,
        steps=(ReasoningStep(type=label, confidence=0.9, span=span),),
    )  # fmt: skip


def run(*events, tools=(WEATHER, MAIL), options=None):
    stage = ToolStage(Toolbox(tools), options)
    given_out = [out for event in events for out in stage.feed(event)]
    return given_out + list(stage.close())


def calls(*events, **given_with):
    """The last state of each call, by id."""
    return {out.id: out for out in run(*events, **given_with) if isinstance(out, ToolCall)}


STATUSES = [
    ("as registered", call(0), CallStatus.OK, "get_weather", {"city": "Oslo"}),
    ("namespace of a harness", call(0, "functions.get_weather"), CallStatus.OK, "get_weather", {"city": "Oslo"}),
    ("other case", call(0, "getWeather"), CallStatus.RENAMED, "get_weather", {"city": "Oslo"}),
    ("typing error", call(0, "get_wether"), CallStatus.RENAMED, "get_weather", {"city": "Oslo"}),
    ("no such tool", call(0, "launch_rocket"), CallStatus.UNKNOWN_TOOL, "launch_rocket", {"city": "Oslo"}),
    ("required parameter missing", call(0, value={"days": 1}), CallStatus.REFUSED, "get_weather", None),
    ("cut off", call(0, complete=False), CallStatus.TRUNCATED, "get_weather", None),
    ("no grammar reads it", replace(call(0), call=None), CallStatus.UNPARSEABLE, None, None),
    ("no name", call(0, None), CallStatus.UNPARSEABLE, None, None),
    ("name only", call(0, value=None), CallStatus.UNPARSEABLE, "get_weather", None),
    (
        "parameters typed by the schema",
        call(0, params=(Param(key="city", value="北京"), Param(key="days", value="3"))),
        CallStatus.OK,
        "get_weather",
        {"city": "北京", "days": 3},
    ),
]


@pytest.mark.parametrize(
    ("segment", "status", "name", "arguments"), [row[1:] for row in STATUSES], ids=[row[0] for row in STATUSES]
)
def test_each_call_gets_its_status(segment, status, name, arguments) -> None:
    out = calls(segment)["call_0"]
    assert (out.status, out.name, out.requested_name) == (status, name, segment.call.name if segment.call else None)
    if arguments is not None or status is not CallStatus.REFUSED:
        assert out.arguments == arguments
    assert out.raw == segment.text
    assert (out.span, out.order) == (segment.span, segment.order)


FAILURES = [
    (call(0, "launch_rocket"), FailureCode.UNKNOWN_TOOL),
    (call(0, value={"days": 1}), FailureCode.REFUSED_CALL),
    (call(0, complete=False), FailureCode.TRUNCATED_CALL),
    (replace(call(0), call=None), FailureCode.UNPARSEABLE_CALL),
    (replace(call(0), repairs=("missing_close",)), FailureCode.REPAIRED),
]


@pytest.mark.parametrize(("segment", "code"), FAILURES, ids=[code for _, code in FAILURES])
def test_a_call_that_needed_something_leaves_a_failure_before_it(segment, code) -> None:
    failure, out = run(segment)
    assert isinstance(failure, Failure)
    assert isinstance(out, ToolCall)
    assert failure.code is code
    assert failure.context["tools"] == ["get_weather", "send_email"]


def test_a_failure_says_what_could_be_learned() -> None:
    opened = Opened(stream_id="s", meta=Meta(model="m", tenant="acme"))
    _, failure, _ = run(opened, call(10, "getWeather", arguments_text='{"City": "Oslo", "days": "3"}'))
    context = failure.context
    assert (context["tool"], context["requested"], context["model"], context["tenant"]) == (
        "get_weather", "getWeather", "m", "acme",
    )  # fmt: skip
    changes = {repair["path"]: (repair["written"], repair["became"]) for repair in context["repairs"]}
    assert changes["/days"] == ("3", 3) or changes["/days"] == (None, 3)
    assert "/city" in changes


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("", {"a/b": [{"~": 1}]}), ("/a~1b/0/~0", 1), ("/a~1b/7", None), ("/x/y", None), ("/a~1b/x", None)],
)
def test_a_pointer_finds_its_value_or_none(pointer, value) -> None:
    assert at({"a/b": [{"~": 1}]}, pointer) == value


def test_a_good_call_leaves_no_failure() -> None:
    assert [type(out) for out in run(call(0))] == [ToolCall]


def test_without_tools_any_well_formed_call_has_its_own_name() -> None:
    out = calls(call(0, "anything", params=(Param(key="n", value="5"), Param(key="o", value='{"a": 1}'))), tools=())
    assert out["call_0"].status is CallStatus.OK
    assert (out["call_0"].name, out["call_0"].arguments) == ("anything", {"n": "5", "o": {"a": 1}})


def test_a_learned_format_can_only_call_registered_tools() -> None:
    learned = ToolOptions(learned_formats=frozenset({"learned_1"}))
    segment = replace(call(0, "anything"), format="learned_1")
    assert calls(segment, tools=(), options=learned)["call_0"].status is CallStatus.UNKNOWN_TOOL
    known = replace(call(0), format="learned_1")
    assert calls(known, options=learned)["call_0"].status is CallStatus.OK


def test_tools_given_with_the_stream_override_the_registry() -> None:
    own = {"name": "get_weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}
    opened = Opened(stream_id="s", meta=Meta(tools=({"type": "function", "function": own},)))
    out = calls(opened, call(20, value={"place": "Oslo"}), call(30, "send_email", value={}))
    assert [found.status for found in out.values()] == [CallStatus.OK, CallStatus.OK]


def alias(number, word, tool, **scope) -> Pattern:
    definition = {"kind": "tool_alias", "match": {"folded": word}, "action": {"call": tool}, "scope": scope}
    state = PatternState.ACTIVE
    return Pattern(id=f"r{number}", version=1, kind=PatternKind.REPAIR_RULE, definition=definition, state=state)


def test_a_learned_alias_goes_before_likeness() -> None:
    options = ToolOptions(rules=RuleBook([alias(1, "send_mails", "get_weather")]))
    out = calls(call(0, "send_mails"), options=options)["call_0"]
    assert (out.status, out.name, out.warnings[0].code) == (CallStatus.RENAMED, "get_weather", "renamed")
    assert (out.repairs[0].code, out.repairs[0].rule) == ("tool_renamed", "r1")
    assert 0.9 < out.confidence < 1


def test_an_alias_of_a_tool_that_the_stream_lacks_is_none() -> None:
    options = ToolOptions(rules=RuleBook([alias(1, "天气", "get_forecast")]))
    assert calls(call(0, "天气预警"), options=options)["call_0"].status is CallStatus.UNKNOWN_TOOL


def test_a_tenants_alias_is_its_own() -> None:
    options = ToolOptions(rules=RuleBook([alias(1, "wx", "get_weather", tenant="acme")]))
    opened = Opened(stream_id="s", meta=Meta(tenant="acme"))
    assert calls(opened, call(10, "wx"), options=options)["call_0"].name == "get_weather"
    assert calls(call(10, "wx"), options=options)["call_0"].status is CallStatus.UNKNOWN_TOOL


def test_unknown_names_come_with_candidates() -> None:
    out = calls(call(0, "weather_history"))["call_0"]
    assert out.status is CallStatus.UNKNOWN_TOOL
    assert out.warnings[0].candidates[0]["name"] == "get_weather"
    assert 0 < out.warnings[0].candidates[0]["score"] < 1


def test_ids_of_the_model_are_kept_while_they_are_unique() -> None:
    events = [call(0, call_id="a"), call(10, call_id="a"), call(20, call_id="call_3"), call(30), call(40, call_id="")]
    assert list(calls(*events)) == ["a", "call_1", "call_3", "call_3_", "call_4"]


def test_equal_calls_of_one_list_are_kept() -> None:
    out = calls(call(0), call(10), response(20, "\n"), call(30))
    assert [found.duplicate_of for found in out.values()] == [None, None, None]


def test_an_equal_call_after_an_answer_is_a_duplicate() -> None:
    spaced = call(20, value={"days": 2, "city": "Oslo"})
    out = calls(call(0, value={"city": "Oslo", "days": 2}), response(10), spaced)
    assert out["call_1"].duplicate_of == "call_0"
    assert out["call_1"].status is CallStatus.OK
    assert out["call_0"].duplicate_of is None


def test_another_call_after_an_answer_is_none() -> None:
    out = calls(call(0), response(10), call(20, value={"city": "奥斯陆"}))
    assert [found.duplicate_of for found in out.values()] == [None, None]


@pytest.mark.parametrize("city", ["Oslo", "奥斯陆"])
def test_a_call_after_a_self_correction_supersedes(city) -> None:
    out = calls(call(0), node(10), call(20, value={"city": city}))
    assert (out["call_0"].superseded_by, out["call_0"].status) == ("call_1", CallStatus.REFUSED)
    assert (out["call_1"].status, out["call_1"].duplicate_of, out["call_1"].superseded_by) == (
        CallStatus.OK,
        None,
        None,
    )


def test_the_most_alike_call_is_superseded() -> None:
    two = [call(0, value={"city": "Oslo", "days": 1}), call(10, value={"city": "Rom", "days": 2})]
    out = calls(*two, node(20), call(30, value={"city": "Oslo", "days": 9}))
    assert [found.superseded_by for found in out.values()] == ["call_2", None, None]


@pytest.mark.parametrize("example", cues()["examples"], ids=lambda example: example["said"][:20])
def test_a_correction_takes_a_call_back_only_if_it_speaks_of_it(example) -> None:
    said = node(10, text=example["said"])
    out = calls(call(0, value={"city": "Paris"}), said, call(20, value={"city": "Nice"}))
    assert (out["call_0"].superseded_by == "call_1") is example["takes_back"]


def test_a_correction_that_names_a_value_of_the_call_takes_it_back() -> None:
    said = node(10, text="Hmm, the user is in Nice, so Paris was for the flight that comes later on.")
    out = calls(call(0, value={"city": "Paris"}), said, call(20, value={"city": "Nice"}))
    assert out["call_0"].superseded_by == "call_1"


def test_a_call_with_other_parameters_is_no_second_try() -> None:
    out = calls(call(0, value={"city": "Rom"}), node(10), call(20, value={"city": "Rom", "days": 1, "fields": []}))
    assert out["call_0"].superseded_by is None


def test_other_reasoning_supersedes_nothing() -> None:
    out = calls(call(0), node(10, Label.PLANNING), call(20, value={"city": "Rom"}))
    assert [found.superseded_by for found in out.values()] == [None, None]


def test_a_correction_that_is_told_late_still_counts() -> None:
    closed = Closed(stream_id="s", chars=30, tokens=3)
    in_order = calls(call(0), node(10), call(20), closed)
    late = calls(call(0), call(20), node(10), closed)
    assert in_order == late


def test_more_calls_than_the_limit_are_response() -> None:
    out = run(call(0), call(10), options=ToolOptions(limits=replace(Limits(), calls_max=1)))
    assert [getattr(event, "code", None) or event.schema for event in out] == ["call/1", "too_many_calls", "segment/1"]


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"properties": {"a": value}}
    return value


BAD_TOOLS = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": 7}}}},
    {"name": "get_weather", "parameters": {"properties": {"city": {"pattern": "("}}}},
    {"name": "get_weather", "parameters": nested(2_000)},
    {"name": "get_weather", "parameters": {"$ref": "#/nowhere"}},
]


@pytest.mark.parametrize("tool", BAD_TOOLS, ids=["type", "pattern", "depth", "reference"])
def test_a_malformed_schema_is_said_and_does_not_stop_the_call(tool) -> None:
    out = calls(call(0), tools=(tool,))["call_0"]
    assert (out.status, out.arguments) == (CallStatus.OK, {"city": "Oslo"})
    assert [warning.code for warning in out.warnings] == ["malformed_schema"]


def test_a_definition_with_torn_text_still_has_candidates() -> None:
    torn = {"name": "get_weather", "description": "torn \ud83d", "parameters": {}}
    assert calls(call(0, "get_wether"), tools=(torn,))["call_0"].name == "get_weather"


def test_damaged_text_is_repaired_by_the_schema() -> None:
    out = calls(call(0, arguments_text="{'city': \"北京\", days: '3',}"))["call_0"]
    assert (out.status, out.strategy, out.arguments) == (CallStatus.REPAIRED, "repair", {"city": "北京", "days": 3})
    assert 0.5 < out.confidence < 1
    assert all(repair.code for repair in out.repairs)


LINES = [
    ({}, CallStatus.REPAIRED),
    ({"min_confidence": 1}, CallStatus.REFUSED),
    ({"min_confidence": 0.99, "annotations": {"readOnlyHint": True}}, CallStatus.REFUSED),
    ({"annotations": {"readOnlyHint": True}}, CallStatus.REPAIRED),
]


@pytest.mark.parametrize(("said", "status"), LINES)
def test_a_tool_says_how_far_arguments_must_be_trusted(said, status) -> None:
    tool = {**WEATHER["function"], **said}
    out = calls(call(0, arguments_text="{'city': \"北京\", days: '3',}"), tools=(tool,))["call_0"]
    assert out.status is status
    if status is CallStatus.REFUSED:
        assert (out.refusal.code, out.refusal.candidate["days"], out.arguments) == ("low_confidence", 3, None)


def test_without_a_line_of_its_own_a_tool_that_only_reads_wants_less() -> None:
    assert accept_min(None) > accept_min({"annotations": {"readOnlyHint": True}}) > 0
    assert accept_min({"annotations": {"readOnlyHint": "yes"}}) == accept_min({})


def test_a_refusal_says_why_in_words_for_the_model() -> None:
    out = calls(call(0, arguments_text='{"city": "Os', complete=True))["call_0"]
    assert (out.status, out.arguments, out.refusal.code) == (CallStatus.REFUSED, None, "truncated_text")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
DRAFTS = st.builds(
    CallDraft,
    dialect=st.just("json_object"),
    name=st.none()
    | st.sampled_from(["get_weather", "functions.", "()", "获取天气", "send-email"])
    | st.text(max_size=40),
    call_id=st.none() | st.text(max_size=5),
    value=VALUES,
    params=st.none() | st.lists(st.builds(Param, key=st.text(max_size=9), value=st.text(max_size=30))).map(tuple),
    arguments_text=st.none() | st.text(max_size=60),
    complete=st.booleans(),
)
EVENTS = st.lists(
    st.one_of(
        DRAFTS.map(lambda draft: lambda at: replace(call(at), call=draft)),
        st.sampled_from(list(Label)).map(lambda label: lambda at: node(at, label)),
        st.text(max_size=5).map(lambda text: lambda at: response(at, text)),
    ),
    max_size=8,
)


@given(EVENTS, st.lists(VALUES, max_size=2))
def test_nothing_raises_and_every_call_comes_out_once(makers, odd_tools) -> None:
    events = [make(10 * place) for place, make in enumerate(makers)]
    out = run(*events, tools=(WEATHER, *odd_tools))
    segments = [event for event in events if isinstance(event, Segment) and event.kind is SegmentKind.TOOL_CALL]
    last = {event.order: event for event in out if isinstance(event, ToolCall)}
    assert list(last) == [segment.order for segment in segments]
    assert all(decode(encode(event)) for event in out)


MOMENTS = [
    ("2026-03-18T09:00:00Z", True),
    ("2026-03-18T09:00:00+08:00", True),
    ("2026-03-18T09:00", True),
    ("2026-03-18T09:00:00.5", True),
    ("2026-02-30T09:00:00", False),
    ("2026-03-18T25:00:00", False),
    ("2026-03-18", False),
    ("tomorrow", False),
]


@pytest.mark.parametrize(("text", "is_right"), MOMENTS)
def test_a_date_time_may_leave_the_offset_out(text, is_right) -> None:
    moment = {"type": "string", "format": "date-time"}
    tool = {"name": "remind", "parameters": {"type": "object", "properties": {"at": moment}, "required": ["at"]}}
    out = calls(call(0, "remind", value={"at": text}), tools=(tool,))["call_0"]
    assert (out.status is CallStatus.OK) is is_right
