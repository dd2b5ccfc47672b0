"""Every command of the program with `--json`: JSON lines on standard output, whether servers are there or away."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streams.cli.app import command_line, main
from streams.settings import environment_of
from tests.streams.flow import prepared

ROOT = Path(__file__).parent.parent.parent
AWAY = {
    "KAFKA_BOOTSTRAP": "127.0.0.1:9", "REDIS_URL": "redis://127.0.0.1:9/0", "CLICKHOUSE_DSN": "http://127.0.0.1:9/hermes",
}  # fmt: skip
REQUESTS = {
    "parse": {"id": "1", "text": "It is 7 °C."}, "redact": {"id": "1", "text": "call 13800138000"},
    "repair": {"id": "1", "raw": '{"city": "Oslo",}', "tool": {"name": "f", "parameters": {"type": "object"}}},
    "periods": {"id": "1", "user": "last week", "now": "2026-11-30T10:00:00+00:00"},
    "classify": {"id": "1", "text": "So I call f."}, "gaps": {"id": "1", "steps": ["a", "b"]},
    "match-tool": {"id": "1", "name": "get_wether", "tools": [{"name": "get_weather", "parameters": {}}]},
    "learn": {"id": "1", "text": "It is 7 °C."}, "feedback": {"text": "So I call f.", "label": "planning"},
}  # fmt: skip
WITHOUT_SERVERS = {
    "audit keys list": [], "audit keys new": ["RING2"], "audit keys rotate": ["RING"], "audit keep": None,
    "audit verify": [], "audit reveal": None, "audit shred": None,
    "config show": [], "topics show": [], "topics permissions": [],
    "registry list": ["--registry", "FILE"], "registry show": ["tool/get_weather", "--registry", "FILE"],
    "registry export": ["OUT", "--registry", "FILE"], "registry import": ["FILE", "--registry", "FILE"],
    "registry approve": ["tool/get_weather", "--registry", "FILE", "--dry-run"],
    "registry reject": ["tool/get_weather", "--registry", "FILE", "--dry-run"],
    "registry pin": ["tool/get_weather", "--registry", "FILE"],
    "registry unpin": ["tool/get_weather", "--registry", "FILE"], "registry verify": ["--registry", "FILE"],
    "tools list": ["--registry", "FILE"], "tools show": ["get_weather", "--registry", "FILE"],
    "tools import": ["TOOLS", "--registry", "FILE"], "tools add": ["TOOL", "--registry", "FILE"],
    "tools remove": ["nothing", "--registry", "FILE"],
    **{name: ["IN"] for name in REQUESTS if name not in {"learn", "feedback"}},
    "learn": ["IN", "--registry", "FILE"], "feedback": None,
}  # fmt: skip
"""Arguments with which a command has something to say though no server is there; None: see ON_SERVERS."""
ON_SERVERS = {
    "topics apply": [], "topics check": [], "lag": [], "dead-letters list": [], "dead-letters show": ["0:0"],
    "dead-letters replay": [], "replay": [], "registry diff": ["0", "1"], "registry rollback": ["0", "--dry-run"], "registry rebuild": ["--dry-run"],
    "audit keep": ["--store", "OUT"], "audit reveal": ["--stream", "s", "--reason", "r"],
    "audit shred": ["--stream", "s", "--reason", "r"], "feedback": ["IN"],
    "retrospect strategies": [], "retrospect alert": ["get_weather"], "retrospect review": ["some-strategy"],
}  # fmt: skip
"""Asked twice: with the servers away, which is exit code 3, and with them."""
ON_TABLES = {
    "migrate": [], "sql": ["SELECT 1 AS one"], "export": [], "forget": ["--stream", "s"], "recall": ["a goal"],
    "doctor": [], "retrospect call": ["s"],
}  # fmt: skip
UNTIL_ENDED = {
    "web": [], "up": [], "run": ["segment"], "proxy": ["--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0"],
    "tail": [], "dispatch": ["--tools", "TOOLS_PY"], "mend": ["--options", "MEND"],
}  # fmt: skip
ELSEWHERE = {"demo"}
"""tests/end_to_end/test_demo.py runs it with `--json`."""


def leaves(command, name: str = "") -> dict[str, object]:
    if not hasattr(command, "commands"):
        return {name: command}
    return {k: v for n, c in command.commands.items() for k, v in leaves(c, f"{name} {n}".strip()).items()}


COMMANDS = leaves(command_line())


@pytest.fixture
def places(tmp_path, monkeypatch) -> dict[str, str]:
    """Files that the arguments name; a data directory of one's own."""
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    found = {name: str(tmp_path / name) for name in ("FILE", "OUT", "RING", "RING2", "TOOLS", "TOOL", "IN", "MEND")}
    (tmp_path / "TOOLS").write_text(json.dumps([tool]))
    (tmp_path / "TOOL").write_text(json.dumps(tool))
    (tmp_path / "MEND").write_text('url = "http://127.0.0.1:9"\nmodel = "m"\n')
    found["TOOLS_PY"] = str(ROOT / "tests" / "streams" / "dispatch_tools.py")
    monkeypatch.setenv("HERMES_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return found


def asked(capfdbinary, *arguments: str) -> tuple[int, list]:
    with pytest.raises(SystemExit) as leaving:
        main([*arguments, "--json"])
    out, err = capfdbinary.readouterr()
    try:
        return leaving.value.code or 0, [json.loads(line) for line in out.splitlines()]
    except ValueError:
        raise AssertionError(f"{arguments}: {out!r} {err!r}") from None


def prepare(capfdbinary, monkeypatch, name: str, places: dict[str, str]) -> None:
    command = name.split(maxsplit=1)[0]
    if command in {"registry", "tools"} and not Path(places["FILE"]).exists():
        assert asked(capfdbinary, "tools", "import", places["TOOLS"], "--registry", places["FILE"])[0] == 0
    if command == "audit" and name != "audit keys new":
        assert asked(capfdbinary, "audit", "keys", "new", places["RING"])[0] == 0
        monkeypatch.setenv("HERMES_AUDIT_KEYS", f"file:{places['RING']}")
    if command in REQUESTS:
        Path(places["IN"]).write_text(json.dumps(REQUESTS[command]) + "\n")


def test_the_tables_here_name_every_command() -> None:
    named = WITHOUT_SERVERS.keys() | ON_SERVERS.keys() | ON_TABLES.keys() | UNTIL_ENDED.keys() | ELSEWHERE
    assert named == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_has_help(name, capsys) -> None:
    assert any("--json" in parameter.opts for parameter in COMMANDS[name].params)
    with pytest.raises(SystemExit) as leaving:
        main([*name.split(), "--help"])
    assert not leaving.value.code
    assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name, given in WITHOUT_SERVERS.items() if given is not None])
def test_json_without_servers(name, places, capfdbinary, monkeypatch) -> None:
    prepare(capfdbinary, monkeypatch, name, places)
    code, rows = asked(capfdbinary, *name.split(), *(places.get(word, word) for word in WITHOUT_SERVERS[name]))
    assert code == (1 if name == "tools remove" else 0)
    assert rows or name == "learn"  # one ordinary text teaches nothing


@pytest.mark.parametrize("name", ON_SERVERS)
def test_servers_away_are_code_3_and_json_says_so(name, places, capfdbinary, monkeypatch) -> None:
    for variable, value in AWAY.items():
        monkeypatch.setenv(variable, value)
    prepare(capfdbinary, monkeypatch, name, places)
    code, rows = asked(capfdbinary, *name.split(), *(places.get(word, word) for word in ON_SERVERS[name]))
    assert (code, rows[-1]["exit_code"]) == (3, 3)
    assert "127.0.0.1:9" in rows[-1]["error"] or "Redis" in rows[-1]["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", "--from", "abc"), ("dead-letters", "list", "--since", "abc"), ("dead-letters", "show", "x"),
        ("dead-letters", "replay", "x"), ("dead-letters", "replay", "--since", "abc"),
        ("registry", "export", "no/such/folder/file", "--registry", "none.json"), ("audit", "verify"), ("sql", "DROP TABLE steps"),
        ("forget",), ("export", "--since", "abc"), ("tail", "--since", "abc"), ("run", "nonsense"),
        ("proxy", "--upstream", "nonsense"), ("mend", "--options", "no-such-file"),
    ],
)  # fmt: skip
def test_usage_is_code_2_also_when_servers_are_away(arguments, places, capfdbinary, monkeypatch) -> None:
    for variable, value in AWAY.items():
        monkeypatch.setenv(variable, value)
    code, rows = asked(capfdbinary, *arguments)
    assert code == 2, rows
    assert rows[-1]["exit_code"] == 2


@pytest.mark.engines
def test_json_on_servers(running, places, capfdbinary, monkeypatch) -> None:
    import asyncio

    settings, _ = asyncio.run(prepared(running.settings, "json."))
    for variable, value in environment_of(settings).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("HERMES_DATA_DIR", places["OUT"] + ".data")
    for name, arguments in ON_SERVERS.items():
        prepare(capfdbinary, monkeypatch, name, places) if not name.startswith("audit") else None
        if name == "audit keep":
            prepare(capfdbinary, monkeypatch, name, places)
        code, rows = asked(capfdbinary, *name.split(), *(places.get(word, word) for word in arguments))
        assert code in {0, 1} or rows[-1]["exit_code"] == 2, (name, rows)


def environment(places: dict[str, str], **more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "HERMES_DATA_DIR": str(Path(places["OUT"]).parent / "data"), **more}


@pytest.mark.parametrize("name", [name for name in ON_TABLES if name != "doctor"])
def test_a_database_away_is_code_3_in_words_of_our_own(name, places, capfdbinary, monkeypatch) -> None:
    for variable, value in AWAY.items():
        monkeypatch.setenv(variable, value)
    code, rows = asked(capfdbinary, *name.split(), *ON_TABLES[name])
    assert code == 3
    assert rows[-1] == {
        "error": "ClickHouse at http://127.0.0.1:9/hermes: no answer: Connection refused",
        "exit_code": 3,
    }


def test_doctor_says_what_is_away_in_words_of_our_own(places, capfdbinary, monkeypatch) -> None:
    for variable, value in AWAY.items():
        monkeypatch.setenv(variable, value)
    code, rows = asked(capfdbinary, "doctor")
    assert code == 1
    assert not any("HTTPConnection" in row["detail"] for row in rows)


@pytest.mark.engines
def test_json_on_tables(places) -> None:
    data = Path(places["OUT"]).parent / "data" / "clickhouse"
    variables = environment(places, **(AWAY | {"CLICKHOUSE_DSN": f"chdb://{data}"}))
    for name, arguments in ON_TABLES.items():
        command = [sys.executable, "-m", "streams", *name.split(), *arguments, "--json"]
        ran = subprocess.run(command, env=variables, capture_output=True, check=False)
        rows = [json.loads(line) for line in ran.stdout.splitlines()]
        has_found = name in {"migrate", "sql"}
        assert ran.returncode == (0 if has_found else 1), ran
        assert rows or not has_found


@pytest.mark.engines
def test_json_of_what_runs_until_it_is_ended(running, places) -> None:
    servers = environment_of(running.settings)
    ready = environment(places, HERMES_TOPIC_PREFIX="ended.")
    ready |= {key: servers[key] for key in ("KAFKA_BOOTSTRAP", "REDIS_URL")}
    program = [sys.executable, "-m", "streams"]
    subprocess.run([*program, "topics", "apply"], env=ready, check=True, capture_output=True)
    processes = {}
    for name, given in UNTIL_ENDED.items():
        own = {"HERMES_DATA_DIR": places["OUT"] + name, "CLICKHOUSE_DSN": f"chdb://{places['OUT']}{name}"}
        variables = environment(places, **own) if name in {"up", "web"} else ready | own
        words = [*program, name, *(places.get(word, word) for word in given), "--json"]
        processes[name] = subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    firsts = {name: processes[name].stdout.readline() for name in ("up", "web", "proxy")}
    time.sleep(3)
    for name, process in processes.items():
        process.send_signal(signal.SIGINT if name == "tail" else signal.SIGTERM)
    for name, process in processes.items():
        out, err = process.communicate(timeout=60)
        lines = (firsts.get(name, b"") + out).splitlines()
        assert all(json.loads(line) for line in lines), (name, out, err)
        assert lines or name not in firsts
        assert process.returncode in {0, -signal.SIGTERM, 130}, (name, process.returncode, err[-500:])
