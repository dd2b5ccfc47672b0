"""Exports hold what is stored, training data only what is whole; forgetting leaves nothing on the disk."""

import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import orjson
import pyarrow.dataset
import pytest

from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output, Reasoning
from schemas.reasoning import Label, Node
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall, ToolResult
from schemas.trajectory import Step
from streams.cli.app import program
from streams.export import Choice, Tally, jsonl, parquet, training
from streams.forget import forget
from streams.settings import ConfigError, ServerAwayError
from streams.store import Reader, open_client
from streams.tail import Wanted, line_of
from streams.trajectories_to_clickhouse import Sink
from tests.streams.samples import executions, run_events, week

ROOT = Path(__file__).parent.parent.parent
NOW = time.time()
SCHEMA = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"chdb://{tmp_path_factory.mktemp('export')}"


@pytest.fixture(scope="module")
def reader(dsn: str) -> Iterator[Reader]:
    sink = Sink(dsn)
    sink.migrate()
    sink.write([*week(NOW * 1000, 150), *conversation()])
    reader = Reader(dsn)
    yield reader
    reader.close()
    sink.close()


def conversation() -> Iterator[Step | Output | ToolResult]:
    """Two streams of one run: a call with its result, then the answer."""
    meta = Meta(model="m-1", run_id="talk", user="Weather in Beijing?", tools=(SCHEMA,), tenant="t-2")
    given = {"run_id": "talk", "tenant": "t-2", "ts": NOW * 1000 - 3_600_000}
    thought = "Long. " * 100
    call = ToolCall(
        stream_id="talk-0", id="call_0", name="get_weather", requested_name="get_weather", arguments={"city": "北京"}, raw="{}",
        order=1, span=(0, 2), status=CallStatus.OK, strategy="json", confidence=1.0,
    )  # fmt: skip
    node = Node(
        stream_id="talk-0", id="rn_0", type=Label.PLANNING, confidence=1.0, text=thought, order=0, span=(0, 600)
    )
    yield Step(stream_id="talk-0", order=0, kind="reasoning", text=thought, **given)
    yield Step(
        stream_id="talk-0",
        order=1,
        kind="tool_call",
        text="{}",
        detail={"id": "call_0", "name": "get_weather"},
        **given,
    )
    yield Output(
        stream_id="talk-0",
        reasoning=Reasoning(text=thought, nodes=(node,)),
        tool_calls=(call,),
        meta=meta,
        ts=given["ts"],
    )
    yield ToolResult(stream_id="talk-0", call_id="call_0", status="ok", content="28 °C")
    yield Step(stream_id="talk-1", order=0, kind="response", text="It is 28 °C.", **given)
    yield Output(stream_id="talk-1", response="It is 28 °C.", meta=meta, ts=given["ts"] + 5_000)


def choice(**narrowed: str) -> Choice:
    now = datetime.fromtimestamp(NOW, UTC) + timedelta(seconds=5)
    return Choice(since=now - timedelta(days=8), until=now, **narrowed)


def lines(reader: Reader, **narrowed: str) -> list[dict]:
    return [orjson.loads(line) for line in b"".join(jsonl(reader, choice(**narrowed), Tally())).splitlines()]


def test_each_step_is_exported_once_with_its_whole_text(reader: Reader) -> None:
    exported = lines(reader)
    keys = [(row["stream_id"], row["order"], row["part"]) for row in exported]
    assert len(keys) == len(set(keys)) == reader.query("SELECT count() FROM steps FINAL").rows[0][0]
    long = next(row for row in exported if row["stream_id"] == "talk-0" and row["kind"] == "reasoning")
    assert long["text"] == "Long. " * 100
    call = next(row for row in exported if row["stream_id"] == "talk-0" and row["kind"] == "tool_call")
    assert (call["detail"]["name"], long["detail"]) == ("get_weather", None)


def test_an_outcome_a_tenant_or_a_tool_narrows(reader: Reader) -> None:
    for name, value in (
        ("outcome", "clean"),
        ("tenant", "t-2"),
        ("tool", "send_mail"),
        ("agent", "shop"),
        ("model", "m-1"),
    ):
        some = {row["run_id"] for row in lines(reader, **{name: value})}
        assert 0 < len(some) < 151
    assert {row["run_id"] for row in lines(reader, tenant="t-2")} == {"talk"}
    assert not lines(reader, outcome="failed", tenant="t-2")


def test_sharegpt_is_as_trainers_read_it(reader: Reader) -> None:
    tally = Tally()
    rows = [orjson.loads(line) for line, is_fit in training(reader, choice(), "sharegpt", tally) if is_fit]
    tools = set(rows[0]["tool_stats"])
    for row in rows:
        turns = [turn["from"] for turn in row["conversations"] if turn["from"] != "system"]
        assert turns[0] == "human"
        assert all(one != other for one, other in pairwise(turns))
        assert set(turns) <= {"human", "gpt", "tool"}
        assert set(row["tool_stats"]) == tools
        assert all(call["count"] >= call["success"] + call["failure"] for call in row["tool_stats"].values())
    talk = next(row for row in rows if row["id"] == "talk")
    assert [turn["from"] for turn in talk["conversations"]] == ["system", "human", "gpt", "tool", "gpt"]
    assert talk["conversations"][2]["value"].startswith("<think>\nLong.")
    assert (
        '<tool_call>\n{"name":"get_weather","arguments":{"city":"北京"}}\n</tool_call>'
        in talk["conversations"][2]["value"]
    )
    assert (talk["completed"], talk["tool_stats"]["get_weather"]) == (True, {"count": 1, "success": 1, "failure": 0})
    assert sum(tally.left_out.values()) + tally.runs == 152


def test_openai_messages_pair_calls_with_results(reader: Reader) -> None:
    rows = [orjson.loads(line) for line, is_fit in training(reader, choice(tenant="t-2"), "openai", Tally()) if is_fit]
    messages = rows[0]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["tool_calls"][0]["function"] == {"name": "get_weather", "arguments": '{"city":"北京"}'}
    assert (messages[2]["tool_call_id"], messages[2]["content"]) == ("call_0", "28 °C")
    assert rows[0]["tools"] == [SCHEMA]


def test_arguments_that_could_not_be_read_are_never_training_data(reader: Reader) -> None:
    unfit = [orjson.loads(line) for line, is_fit in training(reader, choice(), "sharegpt", Tally()) if not is_fit]
    reasons = {row["left_out"] for row in unfit}
    assert {"call_truncated", "call_refused", "no_output"} <= reasons


def test_parquet_has_all_steps_and_runs(reader: Reader, tmp_path: Path) -> None:
    for name, content in parquet(reader, choice(), Tally()):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert pyarrow.dataset.dataset(tmp_path / "steps").count_rows() == len(lines(reader))
    assert pyarrow.dataset.dataset(tmp_path / "runs").count_rows() == 152


def test_the_notebook_of_the_examples_reads_an_export(reader: Reader, tmp_path: Path, monkeypatch, capsys) -> None:
    for name, content in parquet(reader, choice(), Tally()):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.setenv("EXPORTED", str(tmp_path))
    notebook = json.loads((ROOT / "examples" / "calls.ipynb").read_text(encoding="utf-8"))
    names: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    statuses = Counter((row["name"], row["status"]) for row in names["calls"].to_pylist())
    printed = [tuple(line.split()) for line in capsys.readouterr().out.splitlines()[1:]]
    assert printed == [(name, status, str(count)) for (name, status), count in sorted(statuses.items())]
    assert names["kinds"]["tool_call"] == sum(statuses.values())
    assert all(0 <= share <= 1 for share in names["share_by_tool"].values())


def test_forgetting_a_session_leaves_nothing(reader: Reader, dsn: str) -> None:
    secret = "unrepeatable words of session forty-two " * 10
    given = {"run_id": "secret-run", "session_id": "session-42", "tenant": "acme", "ts": NOW * 1000 - 60_000}
    shared = "words that another stream has too " * 10
    sink = Sink(dsn)
    failure = Failure(stream_id="secret-1", code=FailureCode.ORPHAN_MARKER, stage=Stage.SEGMENT, found=secret[:60])
    sink.write([
        Step(stream_id="secret-1", order=0, kind="response", text=secret, **given),
        Step(stream_id="secret-1", order=1, kind="response", text=shared, **given),
        Output(stream_id="secret-1", response=secret, failures=(failure,), meta=Meta(run_id="secret-run", session_id="session-42", tenant="acme"), ts=given["ts"]),
        ToolResult(stream_id="secret-1", call_id="call_7", status="ok", content=secret),
        *executions(NOW * 1000, "secret-run", stream_id="secret-1"),
        Step(stream_id="other", order=0, kind="response", text=shared, tenant="acme", ts=given["ts"]),
    ])  # fmt: skip
    sink.close()
    before = reader.query("SELECT count() FROM steps FINAL WHERE stream_id != 'secret-1'").rows[0][0]
    client = open_client(dsn)
    client.command(
        "INSERT INTO reasoning_records (tenant, record, stream_id, goal, reusable, features, weights, norm, created_at, rev)"
        " VALUES ('acme', 77, 'secret-1', 'unrepeatable goal', 1, [5], [1], 1, now64(3), 1)"
    )
    client.close()
    assert reader.query("SELECT count() FROM record_features WHERE record = 77").rows == [(1,)]
    assert forget(dsn, "session", "session-42", dry_run=True).rows["steps"] == 2
    done = forget(dsn, "session", "session-42")
    assert (done.stream_ids, done.rows["steps"], done.is_off_disk) == (("secret-1",), 2, True)
    assert reader.query("SELECT count() FROM record_features WHERE record = 77").rows == [(0,)]
    for table in ("steps", "streams", "failures", "quarantine", "reasoning_records", "executions", "handovers"):
        assert reader.query(f"SELECT count() FROM {table} WHERE stream_id = 'secret-1'").rows[0][0] == 0
    assert reader.query("SELECT count() FROM blobs WHERE position(content, 'unrepeatable') > 0").rows[0][0] == 0
    assert reader.query("SELECT count() FROM steps FINAL WHERE stream_id != 'secret-1'").rows[0][0] == before
    assert reader.query("SELECT count() FROM blobs WHERE position(content, 'another stream has') > 0").rows[0][0] == 1
    assert sum(forget(dsn, "session", "session-42").rows.values()) == 0


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {key: value for key, value in os.environ.items() if key != "CLICKHOUSE_DSN"} | {
        "HERMES_DATA_DIR": str(data_dir)
    }
    return subprocess.run(
        [sys.executable, "-m", "streams", *arguments],
        capture_output=True,
        env=environment,
        cwd=ROOT,
        timeout=90,
        check=False,
    )


def test_the_commands_work_on_the_data_directory(tmp_path: Path) -> None:
    script = (
        "import random, sys, time; from tests.streams.samples import run_events; from streams.trajectories_to_clickhouse import Sink;"
        "sink = Sink(sys.argv[1]); sink.migrate();"
        "sink.write([e for n in range(20) for e in run_events(n, time.time() * 1000 - 600_000, random.Random(n))]); sink.close()"
    )
    made = subprocess.run(
        [sys.executable, "-c", script, f"chdb://{tmp_path / 'clickhouse'}"], cwd=ROOT, timeout=60, check=True
    )
    assert made.returncode == 0
    out = tmp_path / "runs.jsonl.gz"
    answer = run(tmp_path, "export", "--format", "sharegpt", "--since", "1h", "-o", str(out))
    assert answer.returncode == 0, answer.stderr
    fit = gzip.decompress(out.read_bytes()).splitlines()
    beside = gzip.decompress((tmp_path / "runs.left-out.jsonl.gz").read_bytes()).splitlines()
    assert len(fit) + len(beside) == 20
    steps = run(tmp_path, "export", "--since", "1h").stdout.splitlines()
    assert len(steps) > 60
    first = orjson.loads(steps[0])
    assert b"forgot" in run(tmp_path, "forget", "--run", first["run_id"]).stdout


@pytest.mark.parametrize(
    "arguments",
    [("export", "--format", "csv"), ("export", "--since", "yesterday"), ("export", "--format", "parquet"), ("forget",),
     ("forget", "--run", "a", "--stream", "b"), ("tail", "--since", "soon")],
)  # fmt: skip
def test_wrong_usage_names_the_option(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none").mkdir()
    monkeypatch.setenv("HERMES_DATA_DIR", str(tmp_path / "none"))
    with pytest.raises((ConfigError, ServerAwayError)) as raised:
        program()(list(arguments), standalone_mode=False)
    assert str(raised.value)


def test_a_step_is_one_line_whatever_is_in_it() -> None:
    step = Step(
        stream_id="s",
        order=3,
        kind="tool_call",
        status="refused",
        text="a\x1b[31m\x00\n" * 50,
        detail={"name": "x"},
        ts=0.0,
    )
    line = line_of(step, lambda: datetime.now(UTC))
    assert "\n" not in line.plain
    assert "\x1b" not in line.plain
    assert line.plain.isprintable()


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (Wanted(), True), (Wanted(status="error"), True), (Wanted(status="refused"), True), (Wanted(status="ok"), False),
        (Wanted(run="r"), True), (Wanted(run="s"), True), (Wanted(run="q"), False), (Wanted(kind="response"), False),
        (Wanted(tenant="t"), False),
    ],
)  # fmt: skip
def test_tail_shows_what_is_wanted(wanted: Wanted, shown: bool) -> None:
    assert wanted.has(Step(stream_id="s", run_id="r", order=0, kind="tool_call", status="refused")) is shown


def test_samples_are_the_same_for_a_seed() -> None:
    assert list(run_events(1, 0.0, random.Random(3))) == list(run_events(1, 0.0, random.Random(3)))
