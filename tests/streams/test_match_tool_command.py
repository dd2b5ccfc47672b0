"""The batch command `match-tool`."""

import json

import pytest

from streams.cli.app import main

TOOLS = [
    {"type": "function", "function": {"name": "send_email", "description": "Send an e-mail", "parameters": {}}},
    {"name": "查询天气", "description": "Weather"},
    {"broken": True},
]


def test_each_line_is_answered_in_order(tmp_path) -> None:
    requests = [
        {"id": 1, "name": "sendEmail", "tools": TOOLS},
        {"id": 2, "name": "send_email", "tools": TOOLS},
        {"id": 3, "name": "launch_rocket", "arguments": {}, "tools": TOOLS},
        {"id": 4, "name": 7, "tools": TOOLS},
        {"id": 5, "name": "天气查询", "tools": TOOLS},
        {"id": 6, "name": "x"},
    ]
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
    with pytest.raises(SystemExit) as leaving:
        main(["match-tool", str(source), "-o", str(target)])
    assert leaving.value.code == 1
    answers = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5, 6]
    assert [answer.get("tool") for answer in answers] == ["send_email", "send_email", None, None, "查询天气", None]
    assert answers[1]["confidence"] == 1.0
    assert set(answers[0]["candidates"][0]) == {"name", "score"}
    assert "name" in answers[3]["error"]
    assert "tools" in answers[5]["error"]


def test_torn_emoji_in_a_description_is_no_reason_to_refuse(tmp_path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    tools = [{"name": "send_email", "description": "cut \ud83d"}]
    source.write_text(json.dumps({"id": 1, "name": "sendEmail", "tools": tools}), encoding="utf-8")
    with pytest.raises(SystemExit) as leaving:
        main(["match-tool", str(source), "-o", str(target)])
    assert not leaving.value.code
    assert json.loads(target.read_text(encoding="utf-8"))["tool"] == "send_email"
