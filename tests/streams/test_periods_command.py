"""The batch command `periods`."""

import json

import pytest

from streams.cli.app import main


def test_each_text_is_answered_in_order(tmp_path) -> None:
    now = "2026-03-18T10:30:00+08:00"
    requests = [
        {"id": 1, "user": "2026年第一季度的销售额", "now": now, "lang": "zh"},
        {"id": 2, "user": "sales last week", "now": now},
        {"id": 3, "user": "sales last week", "now": now, "policy": {"week_start": "sunday"}},
        {"id": 4, "user": "sales last week", "now": now, "policy": {"week_start": "friday"}},
        {"id": 5, "user": 7, "now": now},
        {"id": 6, "user": "今晚八点提醒我", "now": "2026-03-18T10:30:00Z"},
        {"id": 7, "user": "hello", "now": "yesterday"},
        {"id": 8, "user": "last month"},
    ]
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
    with pytest.raises(SystemExit) as leaving:
        main(["periods", str(source), "-o", str(target)])
    assert leaving.value.code == 1
    answers = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [answers[0][name] for name in ("kind", "start", "end")] == ["range", "2026-01-01", "2026-03-31"]
    assert answers[1]["candidates"] == [["2026-03-09", "2026-03-15"], ["2026-03-08", "2026-03-14"]]
    assert answers[2]["start"] == "2026-03-08"
    assert "week_start" in answers[3]["error"]
    assert "user" in answers[4]["error"]
    assert answers[5]["start"] == "2026-03-18T20:00:00Z"
    assert "error" in answers[6]
    assert answers[7]["kind"] == "unread"
