"""Answers of a language model: what may be used of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.repair import compile_tool
from processors.tools.grounding import Ground
from processors.tools.llm_answer import can_ask, mended, question
from schemas.toolcall import CallStatus, Refusal, ToolCall

SCHEMA = compile_tool(
    {
        "name": "book",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "guests": {"type": "integer", "maximum": 9},
                "smoking": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["city", "guests"],
        },
    }
)
RAW = 'book: \'Zürich, guests -> 2 (smoking: no), tags: quiet / "top floor", 北京'


def call(status=CallStatus.REFUSED, code="wrong_type", raw=RAW) -> ToolCall:
    return ToolCall(
        stream_id="s", id="call_0", name="book", requested_name="book", arguments=None, raw=raw, order=0,
        span=(0, len(raw)), status=status, strategy="none", confidence=0.0, refusal=Refusal(code=code) if code else None,
    )  # fmt: skip


GOOD = [
    '{"city": "Zürich", "guests": 2}',
    '{"city": "zürich", "guests": 2, "smoking": false, "tags": ["quiet", "top floor"]}',
    '```json\n{"city": "北京", "guests": 2}\n```',
]
BAD = [
    ('{"city": "Bern", "guests": 2}', "/city"),
    ('{"city": "Zürich", "guests": 3}', "/guests"),
    ('{"city": "Zür", "guests": 2}', "/city"),
    ('{"city": "Zürich", "guests": 2, "smoking": true}', "/smoking"),
    ('{"city": "Zürich", "guests": 2, "tags": ["quiet", "cheap"]}', "/tags/1"),
    ('{"city": "Zürich", "guests": 2, "pets": "quiet"}', "/pets"),
    ('{"city": "Zürich"}', "missing_required"),
    ('{"unrepairable": true, "city": "Zürich", "guests": 2}', "no way"),
    ("I can't help with that.", "refused"),
    ('{"city": "Zürich", "guests": ', "refused"),
    ("", "refused"),
    ("[" * 100_000, "refused"),
]


@pytest.mark.parametrize("answer", GOOD)
def test_an_answer_that_uses_what_was_written_mends_the_call(answer) -> None:
    out = mended(call(), SCHEMA, "", answer)
    assert (out.status, out.strategy, out.refusal) == (CallStatus.REPAIRED, "llm", None)
    assert 0 < out.confidence <= 0.8
    assert out.repairs[-1].code == "llm_repaired"


@pytest.mark.parametrize(("answer", "why"), BAD, ids=[why for _, why in BAD])
def test_any_other_answer_leaves_the_call_as_it_was(answer, why) -> None:
    out = mended(call(), SCHEMA, "", answer)
    assert (out.status, out.arguments, out.refusal) == (CallStatus.REFUSED, None, Refusal(code="wrong_type"))
    assert why in out.warnings[-1].message


def test_values_of_the_conversation_may_be_used() -> None:
    out = mended(call(), SCHEMA, "We are 4, in Bern.", '{"city": "Bern", "guests": 4}')
    assert out.arguments == {"city": "Bern", "guests": 4}


@pytest.mark.parametrize(
    ("status", "code", "wanted"),
    [
        (CallStatus.REFUSED, "enum_no_match", True),
        (CallStatus.UNPARSEABLE, None, True),
        (CallStatus.REFUSED, "truncated_text", False),
        (CallStatus.REFUSED, "two_objects", False),
        (CallStatus.REFUSED, "superseded", False),
        (CallStatus.TRUNCATED, None, False),
        (CallStatus.OK, None, False),
        (CallStatus.UNKNOWN_TOOL, None, False),
    ],
)
def test_only_what_an_answer_can_mend_is_asked(status, code, wanted) -> None:
    assert can_ask(call(status, code)) is wanted


def test_the_question_keeps_data_apart_and_bounded() -> None:
    system, user = question(call(raw="x\ud800"), SCHEMA, "a" * 1_000_000)
    assert "data" in system["content"]
    assert len(user["content"]) < 30_000


FOUND = [
    ("price 1,234.50", 1234.5, True),
    ("1,2,3", [1, 2, 3], True),
    ("10-12", 12, True),
    ("10-12", -12, False),
    ("t = -4", -4, True),
    ("2011", 1, False),
    ("size 2.0", 2, True),
    ("a b", "a  b", True),
    ("line\\nbreak", "line\nbreak", True),
    ("caf\\u00e9", "café", True),
    ("concat", "cat", False),
    ("我住在北京市", "北京", True),
    ("x: []", [], True),
    ("x", {}, False),
    ('a: ""', "", True),
    ("a", "", False),
    ("a: null", None, True),
    ("a", None, False),
    ("９ items", 9, True),
]


@pytest.mark.parametrize(("text", "value", "is_there"), FOUND)
def test_a_value_is_found_as_a_whole_or_not_at_all(text, value, is_there) -> None:
    assert (Ground(text).missing(value) is None) is is_there


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.text(max_size=60), VALUES, st.text(max_size=60))
def test_nothing_raises(raw, value, answer) -> None:
    Ground(raw).missing(value)
    out = mended(call(raw=raw), SCHEMA, "", answer)
    assert out.confidence <= 0.8
