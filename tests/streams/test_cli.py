"""The program's frame: exit codes and help."""

import json
import os
import re
import subprocess
import sys

import pytest
import typer

from streams.cli.app import GROUPS, main, program


def code_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    return leaving.value.code or 0


def test_help_names_the_groups(capsys) -> None:
    assert code_of("--help") == 0
    assert "config" in capsys.readouterr().out


def test_unknown_command_is_a_usage_error(capsys) -> None:
    assert code_of("nonsense") == 2
    assert "nonsense" in capsys.readouterr().err


def test_wrong_setting_names_variable_and_value(monkeypatch, capsys) -> None:
    monkeypatch.setenv("HERMES_BATCH_RECORDS_MAX", "many")
    assert code_of("config", "show") == 2
    assert "HERMES_BATCH_RECORDS_MAX: 'many'" in capsys.readouterr().err


def test_settings_are_shown_without_passwords(monkeypatch, capsys) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://me:secret@localhost:1/0")
    assert code_of("config", "show", "--json") == 0
    rows = {row["setting"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert rows["redis_url"] == {
        "setting": "redis_url", "value": "redis://me:***@localhost:1/0", "source": "environment",
        "variable": "REDIS_URL",
    }  # fmt: skip


def test_shell_completion_knows_the_commands() -> None:
    words = {"_HERMES_STREAMS_COMPLETE": "complete_bash", "COMP_WORDS": "hermes-streams par", "COMP_CWORD": "1"}
    found = subprocess.run(
        [sys.executable, "-m", "streams"], env={**os.environ, **words}, capture_output=True, text=True, check=False
    )
    assert found.stdout.split() == ["parse"]


@pytest.mark.parametrize("command", ["--help", "topics show", "config show"])
def test_no_color_means_no_colour(command) -> None:
    coloured = re.compile(r"\x1b\[[\d;]*(?:3[0-7]|38;|9[0-7])[\d;]*m")
    variables = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    words = [sys.executable, "-m", "streams", *command.split()]
    with_colour = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
    without = subprocess.run(
        words, env=variables | {"NO_COLOR": "1"}, capture_output=True, text=True, check=True
    ).stdout
    assert command != "--help" or coloured.search(with_colour)
    assert not coloured.search(without)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_adds_the_commands_that_the_table_says(group) -> None:
    commands = typer.main.get_command(program([group])).commands
    assert tuple(commands) == GROUPS[group]


@pytest.mark.parametrize("command", ["parse", "repair"])
def test_registry_file_that_is_not_there_is_a_mistake(command, tmp_path, capsys) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1, "text": "a", "raw": "{}"}\n', encoding="utf-8")
    missing = tmp_path / "none.json"
    assert code_of(command, str(source), "--registry", str(missing)) == 2
    assert capsys.readouterr().err == f"hermes-streams: --registry: {missing}: no such file\n"


@pytest.mark.parametrize(
    ("command", "request_", "why"),
    [
        ("parse", {"id": 1, "text": "a", "tools": "w"}, "tools: Input should be a valid list"),
        ("parse", {"id": 1, "text": "a", "tools": ["w"]}, "tools.0: Input should be a valid object"),
        ("parse", {"id": 1, "text": "a", "now": 5}, "now: Input should be a valid string"),
        ("parse", {"id": 1, "text": "a", "now": "gestern"}, "now: not an ISO 8601 time, as 2026-06-01T09:00:00+08:00"),
        (
            "parse",
            {"id": 1, "text": "a", "policy": {"week_start": 1}},
            "policy.week_start: not one of ['monday', 'sunday']",
        ),
        ("repair", {"id": 1, "raw": "{}", "now": "gestern"}, "now: not an ISO 8601 time, as 2026-06-01T09:00:00+08:00"),
        ("periods", {"user": "tomorrow", "now": "gestern"}, "now: not an ISO 8601 time, as 2026-06-01T09:00:00+08:00"),
        ("periods", {"user": "tomorrow", "now": 5}, "now: not a string"),
    ],
)
def test_invalid_field_is_named_with_the_reason(command, request_, why, tmp_path, capsys) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(request_) + "\n", encoding="utf-8")
    assert code_of(command, str(source)) == 1
    assert capsys.readouterr().err == f"line 1: {why}\n"


def test_feedback_names_the_field_that_is_missing(tmp_path, capsys) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "a"}\n', encoding="utf-8")
    assert code_of("feedback", str(source)) == 2
    assert "line 1: missing field 'label'" in capsys.readouterr().err


def test_registry_with_an_entry_that_nothing_can_be_built_from_is_a_usage_error(tmp_path, capsys) -> None:
    registry, source = tmp_path / "registry.json", tmp_path / "in.jsonl"
    entry = {"id": "x", "version": 1, "kind": "format", "definition": {"calls": 5}, "state": "active"}
    registry.write_text(json.dumps({"schema": "registry/1", "version": 1, "entries": [entry]}), encoding="utf-8")
    source.write_text('{"id": 1, "text": "a"}\n', encoding="utf-8")
    assert code_of("parse", str(source), "--registry", str(registry)) == 2
    assert "registry.json: " in capsys.readouterr().err


def test_parse_tells_where_each_value_of_a_call_stands_in_its_raw_text(tmp_path, capsys) -> None:
    text = 'Well.\n<tool_call>\n{"name": "plan", "arguments": {"title": "x y", "days": 2}}\n</tool_call>'
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"id": 1, "text": text}) + "\n", encoding="utf-8")
    assert code_of("parse", str(source), "--spans") == 0
    (call,) = json.loads(capsys.readouterr().out)["tool_calls"]
    assert {path: call["raw"][slice(*span)] for path, span in call["spans"].items()} == {"/title": "x y", "/days": "2"}
