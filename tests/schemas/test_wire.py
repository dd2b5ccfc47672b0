"""Event ↔ bytes: round trips, and what is refused."""

import orjson
import pytest

from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output
from schemas.segment import CallDraft, Closed, Opened, Param, Relabel, Segment, SegmentKind
from schemas.token import Meta, Token
from schemas.toolcall import CallStatus, Repair, ToolCall
from schemas.wire import UndecodableError, decode, decode_token, encode, plain_tokens

EVENTS = [
    Token(stream_id="s", seq=0, text="你好", meta=Meta(model="m", tools=({"type": "function"},))),
    Opened(stream_id="s", meta=Meta(user="q")),
    Segment(stream_id="s", order=1, kind=SegmentKind.RESPONSE, text="x", span=(0, 1)),
    Segment(
        stream_id="s", order=2, kind=SegmentKind.TOOL_CALL, text="f(x=1)", span=(1, 7),
        call=CallDraft(dialect="d", name="f", params=(Param(key="x", value="1"),)),
    ),
    Relabel(stream_id="s", order=1, kind=SegmentKind.REASONING),
    ToolCall(
        stream_id="s", id="call_0", name="f", requested_name="f", arguments={"x": 1}, raw="f(x=1)", order=2, span=(1, 7),
        status=CallStatus.REPAIRED, strategy="json", confidence=0.9, repairs=(Repair(code="auto_quoted_keys"),),
    ),
    Failure(stream_id="s", code=FailureCode.NO_FORMAT, stage=Stage.SEGMENT),
    Closed(stream_id="s", chars=7, tokens=3),
    Output(stream_id="s", pii={"PHONE": 1}),
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.schema)
def test_decode_gives_back_what_was_encoded(event) -> None:
    assert decode(encode(event)) == event


def test_unknown_fields_pass_through_readers() -> None:
    assert decode_token(b'{"schema":"token/1","stream_id":"s","seq":0,"text":"a","later":1}').text == "a"


def test_lone_surrogate_becomes_replacement_character() -> None:
    assert decode_token(encode(Token(stream_id="s", seq=0, text="a\ud800b"))).text == "a?b"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (None, "EOF"),
        (b"\xff\xfe", "JSON"),
        (b"[]", ""),
        (b'{"schema":"token/1","seq":0,"text":"a"}', "stream_id"),
        (b'{"schema":"token/1","stream_id":"s","seq":"x","text":"a"}', "seq"),
        (b'{"schema":"token/9","stream_id":"s","seq":0,"text":"a"}', "token/1"),
    ],
)
def test_record_that_is_not_ours_says_why_without_content(data, place) -> None:
    with pytest.raises(UndecodableError) as error:
        decode_token(data)
    assert place in str(error.value)


@pytest.mark.parametrize("seq", [-1, 2**53, 2**63, 10**30, 10**400])
def test_number_of_a_delta_is_one_that_every_reader_can_hold(seq) -> None:
    data = b'{"stream_id": "s", "seq": %d, "text": "x"}' % seq
    assert plain_tokens([data]) == [None]
    for read in (decode_token, decode):
        with pytest.raises(UndecodableError):
            read(data.replace(b'"stream_id"', b'"schema": "token/1", "stream_id"'))


def test_what_orjson_cannot_write_is_written() -> None:
    odd = {"n": 10**30, "big": -(10**400), "torn": ["\ud83d"], "\ud83d": 2**64}
    written = orjson.loads(encode(Opened(stream_id="s", meta=Meta(attrs=odd))))["meta"]["attrs"]
    assert written["n"] == 1e30
    assert written["big"] == "-1" + "0" * 400
    assert "\ufffd" in written["torn"][0] or written["torn"][0] == "?"


@pytest.mark.parametrize("depth", [200, 260, 400, 900, 5_000])
def test_token_that_is_read_can_be_written(depth) -> None:
    for text in (b"x", b"\\ud83d"):
        deep = b"[" * depth + b"]" * depth
        data = b'{"stream_id": "s", "seq": 0, "text": "%s", "meta": {"attrs": {"a": %s}}}' % (text, deep)
        try:
            token = decode_token(data)
        except UndecodableError:
            continue
        encode(token)
        encode(Opened(stream_id="s", meta=token.meta))
