"""Laws of redaction on texts that Hypothesis makes from pieces of values, their neighbours and noise.

The examples are the same in each run, so that a run says something about the change; to search for more, take out
`derandomize` and raise `max_examples`.
"""

import time

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.pii.find import find_pii
from processors.pii.redact import redact, redact_json
from processors.pii.stream import StreamRedactor

PIECES = st.sampled_from(
    [
        "13800138001", "+86 138 0013 8001", "86-", "(+86)", "0532-31660786", "(646) 555-0113", "11010519491231002X", "W741749(A)",
        "110105 19491231 002X", "lin.tao@example.com", "o'hara@x.co.uk", "晨光@金穗.中国", "ann [at] example [dot] org", "4591115456218471",
        "6225 9484 7961 1119", "GB82 WEST 1234 5698 7654 32", "326-57-6891", "护照", "E99110821", "passport ", "10:2a:c9:a9:cb:23",
        "2a02:5cf8::5b87", "172.27.26.91", "sk-proj-Zk3vQ81xPq7mNw2LtYb5RcD9HsJf4GaUe6TiOoXp", "ghp_mX3QUVzKObi1Q8HnrNvcc6Yd6Toz7HmG1hVT",
        "SG.O_7BigGSWmWntSsOnn7fbY.uDLmb15gbjPLHbd7yNfFsd7zZKoycmkYFN4ZmKQ_Qb", "password: ", "密码是", "Tr0ub4dor&3x", "token=", "api_key",
        "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI4OTRkIn0.c-i1MBDWT", "postgres://app:s3cr3t!x@db/x", "鄂DP9XX3", "苏C·T1X77",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n", "-----END RSA PRIVATE KEY-----", "0x65B7Ad3DdD5f8b4aB768dB09c93fd86090EB6E43",
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "１３８００１３８００１", "[PHONE_REDACTED]", "\\u0031", "\\n", '\\"', "\\\\", '{"tel": ', '"',
        " ", "  ", "\n", "，", "。", ",", ".", "-", "_", "/", ":", "=", "@", "+", "(", ")", "[", "]", "word", "the ", "中文", "是", "a", "1",
        "12", "123", "X", "é", "😀", "\ud83d", "\x00", "aa", "value",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)
APART = st.sampled_from([" ", "\n", "，", "。", '"', ", ", "; ", " (", ") ", "\t", "<", "| ", "："])
WRITTEN = st.lists(st.tuples(PIECES, APART).map("".join), max_size=14).map("".join)
"""Pieces with something between them, as in writing."""


@given(TEXTS)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_spans_are_in_order_apart_and_inside(text: str) -> None:
    place = 0
    for span in find_pii(text):
        assert place <= span.start < span.end <= len(text)
        place = span.end


@given(TEXTS)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(WRITTEN, st.lists(st.integers(1, 20), min_size=1, max_size=8))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_cut_gives_what_the_whole_gives(text: str, sizes: list[int]) -> None:
    stream, parts, at, turn = StreamRedactor(), [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        parts.append(stream.feed(text[at : at + size]))
        at, turn = at + size, turn + 1
    assert "".join(parts) + stream.close() == redact(text).text


@given(
    st.recursive(
        TEXTS | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=12,
    )
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_json_stays_json_and_clean_stays_clean(value: object) -> None:
    cleaned, _ = redact_json(value)
    again, findings = redact_json(cleaned)
    assert again == cleaned
    assert not findings


@given(TEXTS.filter(lambda text: "\ud83d" not in text))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_json_text_stays_json_text(text: str) -> None:
    nested = orjson.dumps({"arguments": orjson.dumps({"text": text, "tel": 13800138001}).decode()}).decode()
    assert orjson.loads(orjson.loads(redact(nested).text)["arguments"]).keys() >= {"text", "tel"}


CHARS = 300_000
HOSTILE = {
    "one letter": "a", "digits": "1", "spaced digits": "1 ", "dots": ".", "ats": "@a", "labels": "a.", "hex": "ab:", "secret": "secret_",
    "quote": "x=", "openers": "-----BEGIN PRIVATE KEY-----\n", "urls": "://a:a", "colons": ":", "quads": "1.", "keys": "key=", "plus": "+1",
    "padding": "=", "jwt": "eyJ", "backslashes": "\\", "codes": "\\u0031", "line ends": "\\n", "cues": "密码", "brackets": "[at]", "capitals": "AB12",
    "plates": "京A", "groups": "138 ", "wide": "１", "spelled": "a (at) ", "spaces": " ", "NUL": "\x00", "sk": "sk-",
}  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * (CHARS // len(piece) + 1))[:CHARS]
    began = time.process_time()
    find_pii(text)
    assert time.process_time() - began < 1.0
