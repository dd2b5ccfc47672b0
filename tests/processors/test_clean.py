"""The clean stage: every event of a stream without personal data, originals apart, failing closed."""

from dataclasses import replace

from processors.clean import CleanOptions, CleanStage
from processors.limits import LIMITS
from processors.pii.arguments import marked
from processors.pii.redact import Finding
from processors.pii.rules import SHIPPED, indexed
from processors.pii.span import PiiSpan
from schemas.failure import Failure, FailureCode, Stage
from schemas.reasoning import Label, Node, StateEntry
from schemas.segment import CallDraft, Closed, Delta, Opened, Param, Segment, SegmentKind
from schemas.token import Meta
from schemas.toolcall import CallStatus, CallWarning, Refusal, Repair, ToolCall
from schemas.wire import Event, encode

PHONE, MAIL = "13800138001", "lin.tao@example.com"
SECRETS = (PHONE, MAIL)
TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "send",
            "description": f"for example to {MAIL}",
            "parameters": {
                "properties": {
                    "tel": {"type": "integer"},
                    "to": {"type": "string"},
                    "mail": {"type": "string", "format": "email"},
                }
            },
        },
    },
)
OPENED = Opened(stream_id="s", meta=Meta(user=f"call {PHONE}", tools=TOOLS, attrs={"mail": MAIL}, session_id="u-1"))
SEGMENT = Segment(stream_id="s", order=1, kind=SegmentKind.RESPONSE, text=f"Call {PHONE} or {MAIL}.", span=(5, 60))
CALL = ToolCall(
    stream_id="s", id="call_0", name="send", requested_name="send", order=2, span=(60, 90), status=CallStatus.REPAIRED,
    strategy="json", confidence=1.0, raw=f'{{"tel": {PHONE}, "to": "{MAIL}"}}',
    arguments={"tel": int(PHONE), "to": MAIL, "mail": MAIL, "nested": f'{{"tel": "{PHONE}"}}'},
    repairs=(Repair(code="x", detail=f"{PHONE} → '{PHONE}'"),),
    refusal=Refusal(code="y", candidate=PHONE, message=f"was it {PHONE}?"),
    warnings=(CallWarning(code="z", message=MAIL, candidates=({"name": MAIL},)),),
)  # fmt: skip
EVENTS: tuple[Event, ...] = (
    OPENED,
    SEGMENT,
    CALL,
    Node(stream_id="s", id="rn_0", type=Label.PLANNING, confidence=1, text=f"ask {PHONE} first", order=0, span=(0, 5)),
    StateEntry(stream_id="s", key=MAIL, source="c", content={"tel": int(PHONE)}, confidence=1, order=3, span=(1, 2), history=([MAIL],)),
    Failure(stream_id="s", code=FailureCode.REPAIRED, stage=Stage.TOOL, found=PHONE, context={"near": [MAIL]}),
    Segment(
        stream_id="s", order=4, kind=SegmentKind.TOOL_CALL, text=PHONE, span=(0, 1),
        call=CallDraft(dialect="json", value={"a": MAIL}, params=(Param(key="k", value=PHONE),), arguments_text=MAIL),
    ),
    Closed(stream_id="s", chars=1, tokens=1, usage={"who": MAIL}),
)  # fmt: skip


def cleaned(*events: Event, options: CleanOptions | None = None) -> tuple[list[Event], CleanStage]:
    stage = CleanStage(options) if options else CleanStage()
    return [out for event in events for out in stage.feed(event)] + list(stage.close()), stage


def test_no_event_holds_a_value_after_cleaning() -> None:
    out, _ = cleaned(*EVENTS)
    assert [type(event) for event in out] == [type(event) for event in EVENTS]
    for event in out:
        assert not [value for value in SECRETS if value.encode() in encode(event)], event


def test_cleaning_twice_changes_nothing() -> None:
    once, _ = cleaned(*EVENTS)
    twice, stage = cleaned(*once, options=CleanOptions(keeps_originals=True))
    assert [replace(event, warnings=()) if isinstance(event, ToolCall) else event for event in twice] == [
        replace(event, warnings=()) if isinstance(event, ToolCall) else event for event in once
    ]
    assert stage.take_originals() is None


def test_spans_identities_and_clean_events_stay() -> None:
    (segment,), _ = cleaned(SEGMENT)
    assert isinstance(segment, Segment)
    assert segment.text == "Call [PHONE_REDACTED] or [EMAIL_REDACTED]."
    assert segment.span == SEGMENT.span
    plain = replace(SEGMENT, text="Nothing here.")
    assert cleaned(plain)[0][0] is plain


def test_what_the_model_wrote_is_counted_once() -> None:
    assert cleaned(SEGMENT)[1].counts == {"PHONE": 1, "EMAIL": 1}
    assert cleaned(CALL)[1].counts == {"PHONE": 2, "EMAIL": 2}
    assert cleaned(OPENED)[1].counts == {}


def test_arguments_that_no_longer_fit_their_schema_are_marked() -> None:
    out, _ = cleaned(OPENED, CALL)
    call = out[1]
    assert isinstance(call, ToolCall)
    assert call.arguments is not None
    assert call.arguments["tel"] == "[PHONE_REDACTED]"
    assert [warning.message.split(":")[0] for warning in call.warnings if warning.code == "pii_redacted"] == [
        "/mail",
        "/tel",
    ]


def test_an_argument_with_a_mark_of_pointers_in_its_name_is_found_in_the_schema() -> None:
    finding = Finding("/c~1o ~0", PiiSpan(0, len(MAIL), "email", "mail"), MAIL, was_text=True)
    (*_, warning) = marked(CALL, [finding], {"properties": {"c/o ~": {"format": "email"}}}).warnings
    assert warning.code == "pii_redacted"


def test_an_excerpt_that_was_cut_holds_no_half_value() -> None:
    for half in (PHONE[:7], "qzx.marker@lan"):
        full = ("It said so. " * 50)[: LIMITS.excerpt_chars_max - len(half)] + half
        (failure,), _ = cleaned(Failure(stream_id="s", code=FailureCode.UNPARSEABLE_CALL, stage=Stage.TOOL, found=full))
        assert isinstance(failure, Failure)
        assert failure.found.startswith("It said so.")
        assert half not in failure.found


def test_a_stream_ends_though_its_end_could_not_be_cleaned() -> None:
    def broken(text: str) -> list[PiiSpan]:
        if text == "broken":
            raise ValueError(text)
        return []

    options = CleanOptions(rules=replace(SHIPPED, finders=(broken,)))
    end = Closed(stream_id="s", chars=1, tokens=1, usage={"who": "broken"}, finish_reason="broken")
    failure, closed = cleaned(end, options=options)[0]
    assert isinstance(failure, Failure)
    assert failure.code is FailureCode.CLEAN_FAILED
    assert closed == Closed(stream_id="s", chars=1, tokens=1)


def test_originals_are_kept_apart_with_their_places() -> None:
    _, stage = cleaned(SEGMENT, options=CleanOptions(keeps_originals=True))
    originals = stage.take_originals()
    assert originals is not None
    assert [(entry.where, entry.span, entry.type, entry.original) for entry in originals.entries] == [
        ("segment/1/text", (5, 16), "PHONE", PHONE),
        ("segment/1/text", (20, 39), "EMAIL", MAIL),
    ]
    assert stage.take_originals() is None


def test_deltas_are_cleaned_and_their_rest_comes_before_the_segment() -> None:
    deltas = [
        Delta(stream_id="s", order=1, kind=SegmentKind.RESPONSE, text=part)
        for part in ("Call 138", "0013", "8001 or a@exam", "ple.com.")
    ]
    out, _ = cleaned(*deltas, SEGMENT)
    texts = [event.text for event in out if isinstance(event, Delta)]
    assert "".join(texts) == "Call [PHONE_REDACTED] or [EMAIL_REDACTED]."
    assert isinstance(out[-1], Segment)


def test_consistent_placeholders_have_numbers_in_a_stream() -> None:
    out, _ = cleaned(
        SEGMENT, replace(SEGMENT, order=2, text=f"{MAIL}, b@example.com"), options=CleanOptions(is_consistent=True)
    )
    assert [event.text for event in out if isinstance(event, Segment)] == [
        "Call [PHONE_1_REDACTED] or [EMAIL_1_REDACTED].",
        "[EMAIL_1_REDACTED], [EMAIL_2_REDACTED]",
    ]


def test_an_event_on_which_cleaning_raises_is_not_passed_on() -> None:
    def breaks(text: str) -> bool:
        return bool(int(text + "x"))

    broken = indexed(replace(rule, check=breaks) if rule.id == "cn_mobile" else rule for rule in SHIPPED.rules)
    (failure,), _ = cleaned(SEGMENT, options=CleanOptions(rules=broken))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.stage, failure.span, failure.state) == (
        FailureCode.CLEAN_FAILED,
        Stage.CLEAN,
        (5, 60),
        "segment",
    )
    assert PHONE.encode() not in encode(failure)
