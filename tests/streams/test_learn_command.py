"""The batch command `learn`: lines that are not requests are told and passed over."""

import json

import pytest

from streams.cli.app import main

INVALID = [
    b"not JSON",
    b"[]",
    b'{"id": 1}',
    b'{"id": 1, "text": 5}',
    b'{"id": 1, "chunks": ["a", 5]}',
    b'{"id": 1, "text": "a", "tools": 5}',
    b'{"id": 1, "text": "a", "tools": [5]}',
    b'{"id": 1, "text": "a", "user": 5}',
    b'{"id": ' + b"1" * 5_000 + b', "text": "a"}',
    b'{"id": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
]


def test_invalid_lines_are_reported_with_their_numbers(tmp_path, capsys) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'{"id": 0, "text": "plain"}\n' + b"\n".join(INVALID) + b'\n{"id": 9, "text": "plain"}\n')
    with pytest.raises(SystemExit) as leaving:
        main(["learn", str(source), "--registry", str(tmp_path / "registry.json")])
    assert leaving.value.code == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"line {number}" for number in range(2, len(INVALID) + 2)]


def test_odd_ids_and_texts_are_taken(tmp_path) -> None:
    source = tmp_path / "in.jsonl"
    requests = [{"id": {"a": []}, "text": "\ud83d"}, {"text": "\x00", "tools": [{"name": ["x"]}]}, {"chunks": []}]
    source.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
    with pytest.raises(SystemExit) as leaving:
        main(["learn", str(source), "--registry", str(tmp_path / "registry.json")])
    assert not leaving.value.code


def test_registry_file_is_there_also_when_nothing_was_learned(tmp_path) -> None:
    source, registry = tmp_path / "in.jsonl", str(tmp_path / "registry.json")
    source.write_text('{"id": 1, "text": "plain"}\n', encoding="utf-8")
    for command in ("learn", "parse"):
        with pytest.raises(SystemExit) as leaving:
            main([command, str(source), "--registry", registry])
        assert not leaving.value.code


def test_registry_file_that_cannot_be_made_is_told(tmp_path, capsys) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["learn", "-", "--registry", str(tmp_path / "none" / "registry.json")])
    assert leaving.value.code == 2
    assert "No such file or directory" in capsys.readouterr().err
