"""The sink on chDB: what is written is read once, whatever comes twice, late, broken or from an impossible time."""

import time
from collections.abc import Iterator

import pytest

from schemas.failure import Failure, FailureCode, Stage
from schemas.output import FormatFound, Output, OutputMetadata, Reasoning
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.token import Meta
from schemas.toolcall import CallStatus, Repair, ToolCall, ToolResult
from schemas.trajectory import Step
from streams.store import QueryError, Reader, one_select, open_client
from streams.trajectories_to_clickhouse import Sink, StageStat

NOW = time.time() // 3600 * 3600
"""Rows must be young: tables drop what is past its time."""
TS = NOW * 1000 - 60_000
LONG = "晴" * 300 + " [PHONE_REDACTED]"


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"chdb://{tmp_path_factory.mktemp('sink')}"


@pytest.fixture
def sink(dsn: str) -> Iterator[Sink]:
    client = open_client(dsn)
    for table in ("steps", "blobs", "streams", "failures", "patterns", "quarantine", "stage_stats"):
        client.command(f"TRUNCATE TABLE IF EXISTS {table}")
    client.close()
    sink = Sink(dsn, now=lambda: NOW)
    sink.migrate()
    yield sink
    sink.close()


@pytest.fixture
def reader(sink: Sink, dsn: str) -> Iterator[Reader]:
    reader = Reader(dsn)
    yield reader
    reader.close()


def call(stream_id: str, status: CallStatus = CallStatus.OK) -> ToolCall:
    return ToolCall(
        stream_id=stream_id, id="call_0", name="get_weather", requested_name="get_weather", arguments={"city": "北京"},
        raw='{"city": "北京"}', order=1, span=(10, 30), status=status, strategy="json", confidence=0.9,
        repairs=(Repair(code="quotes", path="/city", rule="rr-1"),),
    )  # fmt: skip


def steps(stream_id: str, run_id: str | None = None, ts: float | None = TS) -> list[Step]:
    given = {"stream_id": stream_id, "run_id": run_id, "ts": ts, "model": "m-1"}
    detail = {"id": "call_0", "name": "get_weather", "arguments": {"city": "北京"}, "strategy": "json",
              "repairs": [{"code": "quotes", "rule": "rr-1"}]}  # fmt: skip
    return [
        Step(order=0, kind="reasoning", text="I need the weather.", detail={"label": "planning"}, **given),
        Step(order=1, kind="tool_call", status="repaired", text='{"city": "北京"}', detail=detail, **given),
        Step(order=2, kind="response", text=LONG, **given),
    ]


def output(stream_id: str, run_id: str | None = None, rev: int = 0) -> Output:
    failure = Failure(
        stream_id=stream_id, code=FailureCode.REPAIRED, stage=Stage.TOOL, found="{'", signature="tool:repaired"
    )
    return Output(
        stream_id=stream_id, format=FormatFound(id="qwen3", confidence=0.9), reasoning=Reasoning(text="I need the weather."),
        tool_calls=(call(stream_id),), response=LONG, pii={"PHONE": 1}, failures=(failure,), rev=rev, ts=TS + 4_000,
        metadata=OutputMetadata(parse_confidence=0.9, repairs_applied=1, segments=3), latency_ms=12.0,
        meta=Meta(model="m-1", run_id=run_id, attrs={"agent": "shop"}), extra={"usage": {"prompt_tokens": 7}},
    )  # fmt: skip


def count(reader: Reader, table: str) -> int:
    return int(reader.query(f"SELECT count() FROM {table} FINAL").rows[0][0])


def test_a_stream_becomes_steps_a_stream_row_and_a_run(sink: Sink, reader: Reader) -> None:
    sink.write([*steps("s1", "r1"), output("s1", "r1")])
    run = reader.query("SELECT * FROM runs").records()
    assert [
        (row["run_id"], row["outcome"], row["steps"], row["calls"], row["tok_in"], row["tok_out"]) for row in run
    ] == [("r1", "repaired", 3, 1, 7, None)]
    row = reader.query("SELECT * FROM steps FINAL ORDER BY `order`").records()[1]
    assert (row["name"], row["status"], row["pattern_id"], row["repairs"]) == (
        "get_weather",
        "repaired",
        "rr-1",
        ["quotes"],
    )
    assert count(reader, "failures") == 1


def test_long_text_is_in_blobs_and_its_placeholders_are_counted(sink: Sink, reader: Reader) -> None:
    sink.write(steps("s1"))
    row = reader.query(
        "SELECT preview, pii, content FROM steps FINAL JOIN blobs FINAL USING (tenant, content_hash) WHERE kind = 'response'"
    ).rows[0]
    assert row == ("晴" * 200, {"PHONE": 1}, LONG)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_replays_in_other_batches_by_another_sink_are_read_once(
    dsn: str, sink: Sink, reader: Reader, size: int
) -> None:
    events = [event for i in range(20) for event in (*steps(f"s{i}", f"r{i % 7}"), output(f"s{i}", f"r{i % 7}"))]
    sink.write(events)
    again = Sink(dsn, now=lambda: NOW + 7_200)
    for start in range(0, len(events), size):
        again.write(events[start : start + size])
    again.close()
    tables = {"steps": 60, "streams": 20, "failures": 20, "runs": 7}
    assert {table: count(reader, table) for table in tables if table != "runs"} | {
        "runs": reader.query("SELECT count() FROM runs").rows[0][0]
    } == tables


def test_a_stream_without_times_is_read_once_too(dsn: str, sink: Sink, reader: Reader) -> None:
    sink.write(steps("s1", ts=None))
    later = Sink(dsn, now=lambda: NOW + 86_400)
    later.write([*steps("s1", ts=None), output("s1")])
    later.close()
    assert (count(reader, "steps"), count(reader, "streams")) == (3, 1)


def test_an_open_stream_is_listed_as_open_until_its_output_comes(sink: Sink, reader: Reader) -> None:
    sink.write(steps("s1")[:1])
    assert reader.query("SELECT state, steps FROM runs").rows == [("open", 1)]
    sink.write(steps("s1")[1:])
    assert reader.query("SELECT state, steps FROM runs").rows == [("open", 3)]
    sink.write([output("s1")])
    sink.write(steps("s1")[2:])
    assert reader.query("SELECT state, outcome FROM runs").rows == [("closed", "repaired")]


def test_a_tool_result_stands_beside_its_call_even_when_it_came_first(dsn: str, sink: Sink, reader: Reader) -> None:
    result = ToolResult(stream_id="s1", call_id="call_0", status="param_error", content={"e": 1}, duration_ms=41.6)
    sink.write([result])
    assert reader.query("SELECT reason, stream_id FROM quarantine FINAL").rows == [("waiting", "s1")]
    restarted = Sink(dsn, now=lambda: NOW)
    restarted.write(steps("s1", "r1"))
    restarted.close()
    found = reader.query(
        "SELECT run_id, `order`, name, error_class, duration_ms FROM steps FINAL WHERE kind = 'tool_result'"
    )
    assert found.rows == [("r1", 1, "get_weather", "param_error", 42)]
    assert count(reader, "quarantine") == 0


def test_a_tool_result_after_a_restart_finds_its_call_in_the_store(dsn: str, sink: Sink, reader: Reader) -> None:
    sink.write(steps("s1", "r1"))
    restarted = Sink(dsn, now=lambda: NOW)
    restarted.write([ToolResult(stream_id="s1", call_id="call_0", status="ok", content="28°C")])
    restarted.write([ToolResult(stream_id="s1", call_id="call_9", status="ok", content="lost")])
    restarted.close()
    assert reader.query("SELECT name FROM steps FINAL WHERE kind = 'tool_result'").rows == [("get_weather",)]
    assert count(reader, "quarantine") == 1


def test_an_impossible_time_is_set_aside_and_reported(sink: Sink, reader: Reader) -> None:
    odd = [*steps("future", ts=NOW * 1000 + 2 * 86_400_000), *steps("nan", ts=float("nan")), *steps("old", ts=1.0)]
    sink.write([*odd, *steps("good")])
    assert reader.query("SELECT DISTINCT stream_id FROM steps FINAL").rows == [("good",)]
    assert reader.query("SELECT reason, count() FROM quarantine FINAL GROUP BY reason").rows == [("clock_skew", 9)]
    assert reader.query("SELECT DISTINCT code FROM failures FINAL").rows == [("clock_skew",)]


def test_one_poisoned_row_never_holds_up_the_rest(sink: Sink, reader: Reader) -> None:
    bad = [
        Step(stream_id="bad", order=1 << 40, kind="response", text="order out of range", ts=TS),
        Step(stream_id="bad2", order=0, kind="response", text="x", span=(-1, 3), ts=TS),
    ]
    good = [step for i in range(50) for step in steps(f"g{i}")]
    sink.write([*good[:70], bad[0], *good[70:], bad[1]])
    assert count(reader, "steps") == len(good)
    assert reader.query("SELECT reason, count() FROM quarantine FINAL GROUP BY reason").rows == [("rejected", 2)]


@pytest.mark.parametrize(
    "text", ["a\x00b", "torn \ud83d emoji", "\u202eright to left", "\U0001f468\u200d\U0001f469", ""]
)
def test_odd_text_is_stored(sink: Sink, reader: Reader, text: str) -> None:
    sink.write([Step(stream_id="odd", order=0, kind="response", text=text, detail={"key": text}, ts=TS)])
    assert reader.query("SELECT preview FROM steps FINAL").rows == [(text.encode("utf-8", "replace").decode(),)]


def test_patterns_and_stage_figures_are_stored(sink: Sink, reader: Reader) -> None:
    pattern = Pattern(
        id="p1", version=1, kind=PatternKind.FORMAT, definition={"a": 1}, state=PatternState.ACTIVE, ts=TS
    )
    sink.write([pattern, pattern])
    sink.write_stats([StageStat(ts=int(NOW), stage="segment", instance="w1", topic="llm.tokens", partition=0, lag=5)])
    assert reader.query("SELECT pattern_id, state FROM patterns FINAL").rows == [("p1", "active")]
    assert reader.query("SELECT stage, lag FROM stage_stats").rows == [("segment", 5)]


def test_failures_of_the_topic_and_of_the_output_are_one_row(sink: Sink, reader: Reader) -> None:
    same = output("s1").failures[0]
    sink.write([*steps("s1"), output("s1"), same])
    assert count(reader, "failures") == 1


def test_migrating_twice_does_nothing(sink: Sink) -> None:
    assert sink.migrate() == []


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE steps", "SELECT 1; SELECT 2", "SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT 1) INTO OUTFILE 'x' --",
        "SELECT 1 /* ) */ ) FORMAT CSV --", "INSERT INTO steps SELECT 1", "SELECT $a$ x $a$", "SELECT '(' )", "",
    ],
)  # fmt: skip
def test_only_one_select_can_be_asked(sql: str) -> None:
    with pytest.raises(QueryError):
        one_select(sql)


@pytest.mark.parametrize("sql", ["SELECT ')' AS a", "WITH 1 AS x SELECT x -- done", "(SELECT 1)", "select ';' as b;"])
def test_ordinary_selects_can_be_asked(reader: Reader, sql: str) -> None:
    assert len(reader.query_of_a_person(sql).rows) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM file('/etc/hostname', 'LineAsString')", "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
        "SELECT 1 SETTINGS max_execution_time = 900", "SELECT * FROM `/etc/hostname`", "SELECT count() FROM numbers(1000000000000)",
    ],
)  # fmt: skip
def test_a_reader_reaches_no_files_and_cannot_lift_its_limits(sink: Sink, dsn: str, sql: str) -> None:
    reader = Reader(dsn, seconds_max=1)
    with pytest.raises(QueryError):
        reader.query_of_a_person(sql)
    reader.close()
