"""The batch command `repair`."""

import json

import pytest

from processors.snapshot import snapshot_of, to_json
from schemas.pattern import Pattern, PatternKind, PatternState
from streams.cli.app import main

TOOL = {
    "type": "function",
    "function": {
        "name": "water_plants",
        "parameters": {
            "type": "object",
            "properties": {"room": {"type": "string", "enum": ["hall", "attic"]}, "litres": {"type": "number"}},
            "required": ["room"],
        },
    },
}


def answers(tmp_path, requests: list[dict], *options: str) -> tuple[int | None, list[dict]]:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
    with pytest.raises(SystemExit) as leaving:
        main(["repair", str(source), "-o", str(target), *options])
    return leaving.value.code, [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]


def test_each_line_is_answered_in_order(tmp_path) -> None:
    requests = [
        {"id": "a", "raw": '{"room": "hall"}', "tool": TOOL},
        {"id": "b", "raw": "{'room': 'Hall', 'litres': '2'}", "tool": TOOL},
        {"id": "c", "raw": '{"room": "cellar"}', "tool": TOOL},
        {"id": "d", "raw": "{'x': 1}"},
        {"id": "e", "raw": 3, "tool": TOOL},
    ]
    code, got = answers(tmp_path, requests)
    assert code == 1
    assert got[0] == {
        "id": "a", "status": "ok", "arguments": {"room": "hall"}, "confidence": 1.0, "repairs": [], "refusal": None,
    }  # fmt: skip
    assert got[1]["arguments"] == {"room": "hall", "litres": 2}
    assert got[1]["repairs"] == ["quotes_replaced", "enum_case", "int_from_string"]
    assert got[2]["status"] == "refused"
    assert got[2]["arguments"] is None
    assert got[2]["refusal"]["code"] == "enum_no_match"
    assert got[2]["refusal"]["candidate"] == {"room": "cellar"}
    assert "hall, attic" in got[2]["refusal"]["message"]
    assert got[3]["arguments"] == {"x": 1}
    assert got[4] == {"id": "e", "error": "raw: not a string"}


def test_learned_rules_of_a_registry_file_are_used(tmp_path) -> None:
    definition = {
        "kind": "value_alias", "scope": {"tool": "water_plants", "param": "/room"},
        "match": {"folded": "keller"}, "action": {"set": "attic"},
    }  # fmt: skip
    rule = Pattern(id="r1", version=1, kind=PatternKind.REPAIR_RULE, definition=definition, state=PatternState.ACTIVE)
    registry = tmp_path / "registry.json"
    registry.write_bytes(to_json(snapshot_of([rule], 1)))
    code, got = answers(tmp_path, [{"id": 1, "raw": '{"room": "Keller"}', "tool": TOOL}], "--registry", str(registry))
    assert code == 0
    assert got[0]["arguments"] == {"room": "attic"}
    assert got[0]["repairs"] == ["rule"]


def test_torn_emoji_in_a_tool_or_a_huge_bound_is_no_reason_to_refuse(tmp_path) -> None:
    torn = {"name": "f", "description": "cut \ud83d", "parameters": {"properties": {"n": {"type": "integer"}}}}
    huge = {"name": "f", "parameters": {"properties": {"n": {"type": "integer", "default": 10**30}}}}
    code, got = answers(tmp_path, [{"id": 1, "raw": "{n: '5'}", "tool": tool} for tool in (torn, huge)])
    assert code == 0
    assert [answer["arguments"] for answer in got] == [{"n": 5}] * 2


def test_spans_tell_where_each_value_stands(tmp_path) -> None:
    raw = "{'room': 'Attic', 'litres': '1.5'}"
    _, (answer,) = answers(tmp_path, [{"id": 1, "raw": raw, "tool": TOOL}], "--spans")
    assert answer["arguments"] == {"room": "attic", "litres": 1.5}
    assert answer["spans"] == {"/room": "enum_case", "/litres": [29, 32]}
    _, (answer,) = answers(tmp_path, [{"id": 1, "raw": raw, "tool": TOOL}])
    assert "spans" not in answer
