"""Redaction of texts, JSON values and streams: own tables in English and Chinese."""

import orjson
import pytest

from processors.pii.find import find_pii
from processors.pii.redact import Numbered, redact, redact_json
from processors.pii.rules import SHIPPED
from processors.pii.stream import HELD_CHARS_MAX, StreamRedactor

KEY = "sk-proj-Zk3vQ81xPq7mNw2LtYb5RcD9HsJf4GaUe6TiOoXp"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + "IBAAKCAQEA7v3kQ9xT\n" * 12 + "-----END RSA PRIVATE KEY-----"

CASES = [
    ("Call me at +86 138 0013 8001 now", "Call me at [PHONE_REDACTED] now"),
    ("手机号１３８００１３８００１，谢谢", "手机号[PHONE_REDACTED]，谢谢"),
    ('{"tel": "\\u0031\\u0033800138001"}', '{"tel": "[PHONE_REDACTED]"}'),
    ('{"tel": 13800138001, "n": 1}', '{"tel": "[PHONE_REDACTED]", "n": 1}'),
    ('{"a": "{\\"tel\\": 13800138001}"}', '{"a": "{\\"tel\\": \\"[PHONE_REDACTED]\\"}"}'),
    ("身份证11010519491231002X已核验", "身份证[ID_CARD_REDACTED]已核验"),
    ("mail lin.tao＠example.com or o'hara@x.co.uk", "mail [EMAIL_REDACTED] or [EMAIL_REDACTED]"),
    ("他的邮箱lin@example.com已经失效", "他的邮箱[EMAIL_REDACTED]已经失效"),
    ("请发送到晨光@金穗.中国。", "请发送到[EMAIL_REDACTED]。"),
    ("write to ann [at] example [dot] org please", "write to [EMAIL_REDACTED] please"),
    ("ann [at] x [dot] org bob [at] y [dot] org", "[EMAIL_REDACTED] [EMAIL_REDACTED]"),
    ("let ann [dot] lee [at] x [dot] org know", "let [EMAIL_REDACTED] know"),
    ("13800138001,13900139001", "[PHONE_REDACTED],[PHONE_REDACTED]"),
    (f"密钥是{KEY}，不要外传", "密钥是[API_KEY_REDACTED]，不要外传"),
    ("db postgres://app:s3cr3t!x@db.internal/x", "db postgres://[URL_CREDENTIAL_REDACTED]@db.internal/x"),
    (f"key:\n{PEM}\nend", "key:\n[PRIVATE_KEY_REDACTED]\nend"),
    ('{"password": {"value": "Tr0ub4dor&3x"}}', '{"password": {"value": "[SECRET_REDACTED]"}}'),
    ("初始密码是Tr0ub4dor#3x 请修改", "初始密码是[SECRET_REDACTED] 请修改"),
    ("GB82 WEST 1234 5698 7654 32 ok", "[IBAN_REDACTED] ok"),
    ("一辆鄂DP9XX3停在门口", "一辆[LICENSE_PLATE_REDACTED]停在门口"),
    ("from 2a02:5cf8::5b87 port 22", "from [IP_ADDRESS_REDACTED] port 22"),
]  # fmt: skip

CLEAN = [
    "0.13912345678", "ts 1748503543012346 ok", "page 4010232137 here", "案号 202601011234567890", "C = A@B.T",
    "git@github.com:org/repo.git", "logo@2x.png", "@scope/pkg@1.2.3", "std::vector<int>", "version 1.2.3.4", "07:36:17",
    "138****5678", "3f2b8c1a-4155-5501-8123-4155550123ab", "password: ${DB_PASSWORD}", "ISBN 9780861971176",
    "sha512-" + "aB3/" * 21 + "aB==", "unk_token=e.unk_token,this.vocab=new Array", "订单号74,746,814,838已发货",
]  # fmt: skip


@pytest.mark.parametrize(("text", "clean"), CASES)
def test_text_is_redacted(text: str, clean: str) -> None:
    assert redact(text).text == clean


@pytest.mark.parametrize("text", CLEAN)
def test_look_alikes_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(("text", "clean"), CASES)
def test_redacting_twice_changes_nothing(text: str, clean: str) -> None:
    assert redact(clean).text == clean


@pytest.mark.parametrize(("text", "clean"), CASES)
def test_every_cut_gives_the_same_text(text: str, clean: str) -> None:
    for cut in range(1, len(text)):
        stream = StreamRedactor()
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.close() == clean, text[:cut]


@pytest.mark.parametrize(("text", "clean"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 16])
def test_small_chunks_give_the_same_text(text: str, clean: str, size: int) -> None:
    stream = StreamRedactor()
    parts = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(parts) + stream.close() == clean


def test_a_cue_in_a_chunk_with_marks_is_remembered() -> None:
    stream = StreamRedactor()
    chunks = ["12.24", '",\n  "passw', 'ord": "OLaH', 'zSGPUKOg"\n}']
    assert "".join(map(stream.feed, chunks)) + stream.close() == '12.24",\n  "password": "[SECRET_REDACTED]"\n}'


def test_text_without_a_beginning_of_a_value_is_not_held() -> None:
    stream = StreamRedactor()
    assert stream.feed("这里有两种理解，我更倾向于第一种，先给结论。") == "这里有两种理解，我更倾向于第一种，先给结论。"
    assert stream.feed("Nothing in the log.\n") == "Nothing in the log.\n"


def test_a_long_run_is_not_held_whole() -> None:
    stream, sent = StreamRedactor(), 0
    for _ in range(4_000):
        sent += len(stream.feed("aGVsbG8gd29ybGQ8"))
    assert 64_000 - sent <= HELD_CHARS_MAX + 16


def test_a_key_longer_than_the_limit_never_leaves() -> None:
    stream = StreamRedactor()
    body = "MIIEowIBAAKCAQEA7v3kQ9xTMIIEowIBAAKCAQEA7v3kQ9xTMIIEowIBAAKCAQEA\n"
    out = stream.feed("key:\n-----BEGIN PRIVATE KEY-----\n")
    out += (
        "".join(stream.feed(body) for _ in range(400)) + stream.feed("-----END PRIVATE KEY-----\n\n") + stream.close()
    )
    assert "MIIE" not in out
    assert "[PRIVATE_KEY_REDACTED]" in out


def test_after_a_long_token_the_text_goes_on() -> None:
    stream = StreamRedactor()
    out = stream.feed("token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI4OTRkIn0.") + "".join(
        stream.feed("eyJzdWIiOiI4OTRkIn0") for _ in range(600)
    )
    assert out + stream.feed("x and more text.\n") + stream.close() == "token: [JWT_REDACTED] and more text.\n"


def test_json_values_stay_json_and_keys_are_cues() -> None:
    value = {"password": "Tr0ub4dor&3x", "n": [13800138001, {"to": "a@example.com"}], "ok": True, "x": 1.5}
    cleaned, findings = redact_json(value)
    assert cleaned == {
        "password": "[SECRET_REDACTED]",
        "n": ["[PHONE_REDACTED]", {"to": "[EMAIL_REDACTED]"}],
        "ok": True,
        "x": 1.5,
    }
    assert [(finding.path, finding.was_text) for finding in findings] == [
        ("/password", True),
        ("/n/0", False),
        ("/n/1/to", True),
    ]


def test_stringified_json_stays_json() -> None:
    inner = orjson.dumps({"tel": 13800138001, "password": "Tr0ub4dor&3x"}).decode()
    cleaned, _ = redact_json({"arguments": orjson.dumps({"inner": inner}).decode()})
    assert orjson.loads(orjson.loads(cleaned["arguments"])["inner"]) == {
        "tel": "[PHONE_REDACTED]",
        "password": "[SECRET_REDACTED]",
    }


def test_nothing_deep_is_passed_on() -> None:
    value: object = "13800138001"
    for _ in range(5_000):
        value = [value]
    cleaned, _ = redact_json(value)
    assert "13800138001" not in repr(cleaned)


def test_the_same_value_keeps_its_number() -> None:
    naming = Numbered()
    text = redact("13800138001, 13900139002, +86 138 0013 8001 and 138-0013-8001", SHIPPED, naming).text
    assert text == "[PHONE_1_REDACTED], [PHONE_2_REDACTED], [PHONE_3_REDACTED] and [PHONE_1_REDACTED]"


@pytest.mark.parametrize(
    ("one", "other", "type_"),
    [("10.1.11.1", "10.11.1.1", "IP_ADDRESS"), ("j.doe@example.com", "jd.oe@example.com", "EMAIL")],
)
def test_values_that_only_marks_tell_apart_have_numbers_of_their_own(one: str, other: str, type_: str) -> None:
    text = redact(f"{one}, {other}, {one.upper()}", SHIPPED, Numbered()).text
    assert text == f"[{type_}_1_REDACTED], [{type_}_2_REDACTED], [{type_}_1_REDACTED]"


def test_offsets_are_of_the_text_as_given() -> None:
    text = '{"a": "\\u53f713800138001\\n"}'
    (span,) = find_pii(text)
    assert text[span.start : span.end] == "13800138001"


def test_chosen_types_alone_are_redacted() -> None:
    rules = SHIPPED.only(["email"])
    assert redact("a@example.com 13800138001", rules).text == "[EMAIL_REDACTED] 13800138001"


@pytest.mark.parametrize(
    "text", ["\ud83d", "\x00" * 50, "\udc00@\ud800.com", "\\u", "\\", "a\\u00", "😀" * 9 + "13800138001"]
)
def test_odd_text_does_not_raise(text: str) -> None:
    redact(text)
    stream = StreamRedactor()
    assert "13800138001" not in "".join(map(stream.feed, text)) + stream.close()


@pytest.mark.parametrize("spelling", ["&#{:02};", "&#{:03};", "&#x{:02x};", "&#X{:02X};"])
def test_character_references_are_read_as_a_browser_shows_them(spelling: str) -> None:
    text = "call " + "".join(spelling.format(ord(digit)) for digit in "13800138001") + " or zoe"
    text += spelling.format(ord("@")) + "example.com, " + "".join(spelling.format(ord(c)) for c in "+86 138 0013 8001")
    text += " &#0; &#13"
    assert redact(text).text == "call [PHONE_REDACTED] or [EMAIL_REDACTED], [PHONE_REDACTED] &#0; &#13"
    for cut in range(1, 12):
        stream = StreamRedactor()
        parts = [text[at : at + cut] for at in range(0, len(text), cut)]
        assert "".join(map(stream.feed, parts)) + stream.close() == redact(text).text
