"""`tools` and `registry` on a registry file and on Redis."""

import json

import pytest

from streams.cli.app import main
from streams.settings import ConfigError
from streams.tool_registry import read_tools

TOOL = {
    "name": "get_weather",
    "description": "Weather of a city. For any day.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def run(*arguments) -> int:
    with pytest.raises(SystemExit) as leaving:
        main([str(argument) for argument in arguments])
    return leaving.value.code or 0


@pytest.fixture(params=["file", "redis"])
def where(request, tmp_path, monkeypatch):
    if request.param == "file":
        return tmp_path / "registry.json"
    monkeypatch.setenv("HERMES_TOPIC_PREFIX", f"{tmp_path.name}.")
    return request.getfixturevalue("running").settings.redis_url


def written(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def test_a_tool_is_added_listed_shown_changed_and_removed(where, tmp_path, capsys) -> None:
    source = written(tmp_path / "tool.json", TOOL)
    registry = ("--registry", where)
    assert run("tools", "add", source, "--dry-run", *registry) == 0
    assert run("tools", "list", "--json", *registry) == 0
    assert capsys.readouterr().out == "get_weather: would be added (version 1)\n"
    assert run("tools", "add", source, *registry) == 0
    assert run("tools", "add", source, *registry) == 0
    assert capsys.readouterr().out == "get_weather: added (version 1)\nget_weather: unchanged (version 1)\n"
    assert run("tools", "list", "--json", *registry) == 0
    assert json.loads(capsys.readouterr().out) == {
        "tool": "get_weather", "does": "Weather of a city.", "required": ["city"], "version": 1, "state": "active",
    }  # fmt: skip
    written(source, {**TOOL, "description": "查询天气"})
    assert run("tools", "add", source, *registry) == 0
    assert run("tools", "show", "get_weather", *registry) == 0
    head, _, shown = capsys.readouterr().out.partition("\n")
    assert head == "get_weather: updated (version 2)"
    assert json.loads(shown)["definition"]["description"] == "查询天气"
    assert run("tools", "remove", "get_weather", "nothing", *registry) == 1
    assert capsys.readouterr().out == "get_weather: removed (version 3)\nnothing: not there\n"
    assert run("tools", "list", "--json", *registry) == 0
    assert capsys.readouterr().out == ""


def test_one_malformed_tool_keeps_all_out(tmp_path, capsys) -> None:
    bad = {"name": "x", "parameters": {"properties": {"a": {"type": "text"}}}}
    source = written(tmp_path / "tools.json", [TOOL, bad])
    registry = tmp_path / "registry.json"
    assert run("tools", "import", source, "--registry", registry) == 2
    error = capsys.readouterr().err
    assert "tools.json" in error
    assert "[1].parameters.properties.a.type" in error
    assert not registry.exists()


def test_several_tools_are_not_one(tmp_path, capsys) -> None:
    assert (
        run("tools", "add", written(tmp_path / "t.json", [TOOL, {"name": "b"}]), "--registry", tmp_path / "r.json") == 2
    )
    assert "tools import" in capsys.readouterr().err


def test_yaml_and_python_are_read(tmp_path) -> None:
    yaml = tmp_path / "api.yaml"
    yaml.write_text(
        "openapi: 3.0.0\npaths:\n  /a:\n    get: {operationId: getA, responses: {200: {}}}\n", encoding="utf-8"
    )
    python = tmp_path / "tools.py"
    python.write_text("def add(a: int, b: int):\n    '''Add.'''\n", encoding="utf-8")
    assert [tool["name"] for path in (yaml, python) for tool in read_tools(path)] == ["getA", "add"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", "\udc80"),
        ("a.yaml", "a: [" * 3),
        (
            "a.yaml",
            "a: &a [x, x]\nb: &b [*a, *a]\n"
            + "".join(f"c{n}: &c{n} [*{p}, *{p}]\n" for n, p in enumerate(["b", *[f"c{k}" for k in range(40)]])),
        ),
        ("a.yaml", "a: &a [*a]"),
        ("a.py", "def f(:"),
        ("none.json", None),
    ],
)
def test_a_file_that_holds_no_tools_is_refused_by_name(tmp_path, name, text) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=name):
        read_tools(tmp_path / name)


def test_export_import_and_rollback(running, tmp_path, monkeypatch, capsys) -> None:
    url = running.settings.redis_url
    monkeypatch.setenv("HERMES_TOPIC_PREFIX", f"{tmp_path.name}.")
    monkeypatch.setenv("REDIS_URL", url)
    assert run("tools", "add", written(tmp_path / "a.json", TOOL)) == 0
    assert run("tools", "add", written(tmp_path / "b.json", {"name": "b"})) == 0
    assert run("registry", "export", tmp_path / "first.json") == 0
    assert run("registry", "rollback", "1", "--dry-run") == 0
    assert run("registry", "rollback", "1") == 0
    assert run("registry", "rollback", "9") == 2
    capsys.readouterr()
    assert run("registry", "list", "--json") == 0
    states = {row["entry"]: row["state"] for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert states == {"tool/b": "retired", "tool/get_weather": "active"}
    assert run("registry", "import", tmp_path / "first.json") == 0
    assert capsys.readouterr().out == "tool/b: active, version 3\n"
    monkeypatch.setenv("HERMES_TOPIC_PREFIX", f"{tmp_path.name}.empty.")
    assert run("registry", "import", tmp_path / "first.json") == 0
    assert run("registry", "export", tmp_path / "again.json") == 0
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert run("registry", "show", "tool/nothing") == 2


def test_a_registry_that_is_away_is_exit_code_3(capsys) -> None:
    assert run("tools", "list", "--registry", "redis://127.0.0.1:1/0") == 3
    assert "registry" in capsys.readouterr().err


def test_a_registry_file_has_no_history(tmp_path, capsys) -> None:
    assert run("registry", "rollback", "0", "--registry", tmp_path / "r.json") == 2
    assert "history" in capsys.readouterr().err
