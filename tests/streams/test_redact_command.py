"""The batch command `redact`."""

import json

import pytest

from processors.pipeline import run
from processors.snapshot import Snapshot
from schemas.token import Meta
from streams.cli.app import main
from streams.cli.redact import answer_redact
from streams.settings import ConfigError
from streams.tokens_to_outputs import Compiled


def answers(tmp_path, requests: list[dict], *options: str) -> tuple[int | None, list[dict]]:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
    with pytest.raises(SystemExit) as leaving:
        main(["redact", str(source), "-o", str(target), *options])
    return leaving.value.code, [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]


def test_each_text_is_answered_with_its_spans(tmp_path) -> None:
    requests = [
        {"id": 1, "text": "手机号13800138001，a@example.com"},
        {"id": 2, "text": "nothing"},
        {"id": 3, "text": 5},
        {"id": 4},
    ]
    code, got = answers(tmp_path, requests)
    assert code == 1
    assert got[0] == {
        "id": 1,
        "text": "手机号[PHONE_REDACTED]，[EMAIL_REDACTED]",
        "spans": [{"start": 3, "end": 14, "type": "phone"}, {"start": 15, "end": 28, "type": "email"}],
    }
    assert got[1] == {"id": 2, "text": "nothing", "spans": []}
    assert ["error" in answer for answer in got] == [False, False, True, True]


def test_types_choose(tmp_path) -> None:
    code, got = answers(tmp_path, [{"id": 1, "text": "13800138001 a@example.com"}], "--types", "email")
    assert (code or 0, got[0]["text"]) == (0, "13800138001 [EMAIL_REDACTED]")


def test_an_unknown_type_is_a_usage_error(tmp_path) -> None:
    (tmp_path / "in.jsonl").write_text("")
    with pytest.raises(SystemExit) as leaving:
        main(["redact", str(tmp_path / "in.jsonl"), "--types", "shoe_size"])
    assert leaving.value.code == 2


def test_lone_surrogates_pass(tmp_path) -> None:
    code, got = answers(tmp_path, [{"id": 1, "text": "\ud83d 13800138001"}])
    assert (code or 0, got[0]["text"]) == (0, "\ud83d [PHONE_REDACTED]")


def test_consistent_placeholders_tell_values_apart() -> None:
    text = "13800138001 or 13912345678, first 13800138001"
    assert answer_redact({"id": 1, "text": text}, is_consistent=True)["text"] == (
        "[PHONE_1_REDACTED] or [PHONE_2_REDACTED], first [PHONE_1_REDACTED]"
    )


def test_the_pipeline_numbers_placeholders_when_the_settings_say_so() -> None:
    compiled = Compiled(pii_placeholders="numbered").of(Snapshot())
    found = run("s", ["13800138001 or 13912345678, first 13800138001."], Meta(), compiled)
    assert found.response == "[PHONE_1_REDACTED] or [PHONE_2_REDACTED], first [PHONE_1_REDACTED]."
    with pytest.raises(ConfigError, match="HERMES_PII_PLACEHOLDERS"):
        Compiled(pii_placeholders="both")
