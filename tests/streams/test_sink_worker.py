"""The sink's loop: clean events of the topics are stored once; what is none is a dead letter."""

import asyncio
import time
from functools import partial

import pytest

from schemas.output import Output
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
