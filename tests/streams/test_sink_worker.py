"""The sink's loop: clean events of the topics are stored once; what is none is a dead letter."""

import asyncio
import time
from dataclasses import replace
from functools import partial

import pytest

from schemas.output import Output
from schemas.toolcall import ToolResult
from schemas.trajectory import Step
from schemas.wire import encode
from streams.sink_worker import SinkWorker
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from tests.streams.flow import consumed, prepared, produce

COUNT = 300


@pytest.mark.engines
def test_every_step_and_output_is_stored_once(running, tmp_path) -> None:
    now = time.time() * 1000
    steps = [
        (f"s{i}", encode(Step(stream_id=f"s{i}", order=0, kind="response", text="x", ts=now))) for i in range(COUNT)
    ]
    outputs = [(f"s{i}", encode(Output(stream_id=f"s{i}", response="x", ts=now))) for i in range(COUNT)]
    dsn = f"chdb://{tmp_path}"

    async def flow():
        settings, topology = await prepared(running.settings, "sink.")
        worker, stop = SinkWorker(settings, topology, partial(Sink, dsn)), asyncio.Event()
        task = asyncio.create_task(worker.run(stop))
        await produce(settings, "sink.llm.steps", [*steps, *steps, ("x", b"\xff")])
        await produce(settings, "sink.llm.outputs", outputs)
        letters = await consumed(settings, "llm.dead-letters", 1)
        for _ in range(100):
            if worker.stored == 3 * COUNT:
                break
            await asyncio.sleep(0.1)
        stop.set()
        await task
        return letters

    letters = asyncio.run(flow())
    assert [record.value for record in letters] == [b"\xff"]
    reader = Reader(dsn)
    counts = reader.query(
        "SELECT (SELECT count() FROM steps FINAL) AS steps, (SELECT count() FROM streams FINAL) AS streams"
    ).records()
    reader.close()
    assert counts == [{"steps": COUNT, "streams": COUNT}]


@pytest.mark.engines
def test_what_applications_report_of_calls_is_cleaned_before_it_is_kept(running, tmp_path) -> None:
    phone, mail = "13907284615", "qzx.marker@lantern-hall.org"
    result = ToolResult(
        stream_id="s", call_id="call_0", status="ok", content={"tel": phone, "said": f"write to {mail} " + "x" * 300},
        error=f"no answer from {phone}",
    )  # fmt: skip
    early = replace(result, call_id="call_9")
    step = Step(
        stream_id="s",
        order=0,
        kind="tool_call",
        text="x",
        ts=time.time() * 1000,
        detail={"id": "call_0", "name": "send"},
    )
    dsn = f"chdb://{tmp_path}"

    async def flow() -> None:
        settings, topology = await prepared(running.settings, "results.")
        worker, stop = SinkWorker(settings, topology, partial(Sink, dsn)), asyncio.Event()
        task = asyncio.create_task(worker.run(stop))
        await produce(settings, "results.llm.steps", [("s", encode(step))])
        await produce(settings, "results.llm.tool-results", [("s", encode(result)), ("s", encode(early))])
        for _ in range(200):
            if worker.stored == 3:
                break
            await asyncio.sleep(0.05)
        stop.set()
        await task

    asyncio.run(flow())
    reader = Reader(dsn)
    kept = b"".join(reader.raw(f"SELECT * FROM {table}") for table in ("steps", "blobs", "quarantine"))
    reader.close()
    assert kept.count(b"[PHONE_REDACTED]") >= 2
    assert b"call_9" in kept
    assert phone.encode() not in kept
    assert mail.encode() not in kept
