"""Records on chDB: written with the output, found by a similar goal, filtered, and gone when they may not be reused."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pyarrow.dataset
import pytest

from processors.reasoning.record import Facts, record_of
from schemas.output import Output, Reasoning
from schemas.reasoning import Label, Node
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall, ToolResult
from streams.cli.app import main
from streams.recall import Recall, recall
from streams.settings import Settings
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from streams.web.serve import serving

TS = time.time() * 1000 - 60_000
GOALS = {
    "a": ("Analyse the freight invoices of the first quarter", "query_sales", "acme"),
    "b": ("Summarise freight costs by carrier", "summarise", "acme"),
    "c": ("Book a table for two in Lisbon", "book_table", "acme"),
    "d": ("总结一季度的运费发票", "query_sales", "acme"),
    "e": ("Analyse the freight invoices of the first quarter", "query_sales", "other"),
}


def output(stream_id: str, goal: str, tool: str, tenant: str, status: CallStatus = CallStatus.OK) -> Output:
    node = Node(
        stream_id=stream_id, id="rn_0", type=Label.PLANNING, confidence=0.9, text="First, call it.", order=0, span=(0, 15),
        led_to=("call_0",),
    )  # fmt: skip
    call = ToolCall(
        stream_id=stream_id, id="call_0", name=tool, requested_name=tool, arguments={}, raw="", order=1, span=(16, 20),
        status=status, strategy="json", confidence=0.9,
    )  # fmt: skip
    record = record_of(Facts(stream_id=stream_id, goal=goal, ts=TS, nodes=(node,), calls=(call,)))
    return Output(
        stream_id=stream_id, reasoning=Reasoning(text=node.text, nodes=(node,)), tool_calls=(call,), reasoning_record=record,
        ts=TS, meta=Meta(tenant=tenant, user=goal),
    )  # fmt: skip


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("recall") / "clickhouse"
    dsn = f"chdb://{folder}"
    sink = Sink(dsn)
    sink.migrate()
    outputs = [output(stream_id, *given) for stream_id, given in GOALS.items()]
    sink.write(outputs)
    sink.write(outputs[:2])  # a replay
    sink.write([output("f", "Analyse freight invoices again", "query_sales", "acme", CallStatus.REFUSED)])
    sink.close()
    return dsn


@pytest.fixture
def store(dsn: str) -> Iterator[Recall]:
    reader = Reader(dsn)
    yield Recall(reader)
    reader.close()


def test_similar_goals_are_found_best_first(store: Recall) -> None:
    found = store.find("analyse freight invoices for quarter one", tenant="acme")
    assert [one.stream_id for one in found] == ["a", "b"]
    assert found[0].score > found[1].score
    assert found[0].record["metadata"]["reusable"] is True


def test_same_words_score_one_in_both_languages(store: Recall) -> None:
    for stream_id in ("a", "d"):
        (first, *_) = store.find(GOALS[stream_id][0], tenant="acme", n=1)
        assert (first.stream_id, first.score) == (stream_id, 1.0)


def test_search_keeps_to_a_tool_a_tenant_and_a_number(store: Recall) -> None:
    assert [one.stream_id for one in store.find("freight", tool="summarise", tenant="acme")] == ["b"]
    assert [one.stream_id for one in store.find("freight invoices", tenant="other")] == ["e"]
    assert len(store.find("freight", tenant="acme", n=1)) == 1


@pytest.mark.parametrize("goal", ["", "???", "zebra migration over savannah", "\ud800\x00' OR 1=1 --"])
def test_nothing_similar_gives_nothing(store: Recall, goal: str) -> None:
    assert store.find(goal, tenant="acme") == []


def test_record_that_is_no_longer_reusable_is_not_found(dsn: str) -> None:
    sink = Sink(dsn)
    failed = output("c", *GOALS["c"], CallStatus.REFUSED)
    sink.write([replace(failed, rev=1)])
    sink.close()
    assert recall(dsn, GOALS["c"][0], tenant="acme") == []


def test_record_of_a_call_that_failed_later_is_not_found(dsn: str) -> None:
    def found() -> list[str]:
        return [one.stream_id for one in recall(dsn, "reconcile pallets of the depot", tenant="acme")]

    sink = Sink(dsn)
    sink.write([output(stream_id, "Reconcile pallets of the depot", "query", "acme") for stream_id in ("g", "h")])
    assert found() == ["g", "h"]
    results = [("g", "ok"), ("h", "business_failure")]
    sink.write([ToolResult(stream_id=stream_id, call_id="call_0", status=status) for stream_id, status in results])
    sink.close()
    assert found() == ["g"]


def test_command_prints_records_and_says_when_there_are_none(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("CLICKHOUSE_DSN", dsn)
    codes = []
    for goal in ("freight costs", "zebra"):
        with pytest.raises(SystemExit) as end:
            main(["recall", goal, "--tenant", "acme", "--json", "-n", "2"])
        codes.append(end.value.code or 0)
    assert codes == [0, 1]
    assert capsysbinary.readouterr().out.count(b'"record_id":"rr_') >= 2


def test_while_a_page_owns_the_store_commands_ask_it(tmp_path: Path) -> None:
    dsn = f"chdb://{tmp_path / 'clickhouse'}"
    sink = Sink(dsn)
    sink.migrate()
    sink.write([output("a", *GOALS["a"])])
    sink.close()
    settings = Settings(data_dir=str(tmp_path), clickhouse_dsn=dsn, redis_url="redis://127.0.0.1:1/0", web_port=0)
    environment = {key: value for key, value in os.environ.items() if key != "CLICKHOUSE_DSN"}
    environment |= {"HERMES_DATA_DIR": str(tmp_path)}

    def run(*arguments: str) -> bytes:
        command = [sys.executable, "-m", "streams", *arguments]
        return subprocess.run(command, capture_output=True, env=environment, timeout=60, check=True).stdout

    async def check() -> None:
        async with serving(settings):
            found = await asyncio.to_thread(run, "recall", GOALS["a"][0], "--tenant", "acme", "--json")
            assert [(row["stream_id"], row["score"]) for row in map(orjson.loads, found.splitlines())] == [("a", 1.0)]
            with pytest.raises(subprocess.CalledProcessError):
                await asyncio.to_thread(run, "recall", "zebra", "--tenant", "acme")
            await asyncio.to_thread(run, "export", "--format", "parquet", "-o", str(tmp_path / "out"))
        runs = pyarrow.dataset.dataset(tmp_path / "out" / "runs").to_table(["run_id"]).to_pylist()
        assert runs == [{"run_id": "a"}]

    asyncio.run(check())
