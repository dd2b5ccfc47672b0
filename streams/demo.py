"""The main job on embedded engines, watched: recorded raw outputs in as torn tokens, one structured output each out.

The streams run interleaved, as from a server with many users; each recorded text is sent several times, cut another way
each time. The demo ends when every stream has its output and the tables have as many.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.progress import Progress

from schemas.output import Output
from streams import running
from streams.client import OutputConsumer, TokenProducer
from streams.demo_learning import Learned, second_act
from streams.demo_streams import DemoStream, interleaved
from streams.embedded import Engines
from streams.settings import ServerAwayError, Settings
from streams.store import Reader
from streams.topics import apply

STAGES = ("segment", "reason", "tool", "clean", "sink", "learn")
OUTPUT_S_MAX = 120.0
TABLES_S_MAX = 30.0


@dataclass(slots=True, kw_only=True)
class Watched:
    """What the demo saw."""

    streams: int
    tokens: int = 0
    seconds: float = 0.0
    outputs: dict[str, Output] = field(default_factory=dict)
    doubled: int = 0
    learned: Learned | None = None
    rows: dict[str, int] = field(default_factory=dict)
    """Table → rows that belong to this run of the demo."""


async def demo(started: Engines, streams: Sequence[DemoStream], progress: Progress) -> Watched:
    """Run everything, send the streams, wait for their outputs and rows; raises ServerAwayError if they don't come."""
    settings = started.settings
    prepared = running.prepare(settings, STAGES)
    await apply(settings, prepared.topology)
    stop = asyncio.Event()
    workers = asyncio.create_task(running.run(settings, prepared, stop))
    try:
        ready = [asyncio.create_task(worker.is_ready.wait()) for worker in prepared.workers]
        await asyncio.wait({*ready, workers}, return_when=asyncio.FIRST_COMPLETED)
        watched = await _watched(settings, streams, progress, workers)
        progress.add_task("learning", total=None)
        run_id = streams[0].meta.session_id or "demo"
        watched.learned = await second_act(settings, prepared.snapshots, list(watched.outputs.values()), run_id)
        return watched
    finally:
        stop.set()
        await workers


async def _watched(
    settings: Settings, streams: Sequence[DemoStream], progress: Progress, workers: asyncio.Task[None]
) -> Watched:
    watched = Watched(streams=len(streams))
    sent = progress.add_task("tokens sent", total=sum(len(stream.text) for stream in streams))
    done = progress.add_task("outputs", total=len(streams))
    began = time.perf_counter()
    async with TokenProducer(settings, must_connect=True) as producer, OutputConsumer(settings) as consumer:
        receiving = asyncio.create_task(_receive(consumer, watched, lambda: progress.advance(done)))
        for token in interleaved(streams):
            await producer.send(token)
            watched.tokens += 1
            progress.advance(sent, len(token.text))
        await producer.flush()
        await asyncio.wait({receiving, workers}, timeout=OUTPUT_S_MAX, return_when=asyncio.FIRST_COMPLETED)
        receiving.cancel()
    watched.seconds = time.perf_counter() - began
    if len(watched.outputs) < len(streams):
        raise ServerAwayError(f"{len(watched.outputs)} of {len(streams)} outputs came within {OUTPUT_S_MAX:.0f} s")
    await _count_rows(settings, watched)
    return watched


async def _receive(consumer: OutputConsumer, watched: Watched, came: Callable[[], None]) -> None:
    async for output in consumer:
        watched.doubled += output.stream_id in watched.outputs
        watched.outputs[output.stream_id] = output
        came()
        if len(watched.outputs) == watched.streams:
            return


async def _count_rows(settings: Settings, watched: Watched) -> None:
    """Wait until the tables have a row for each stream; the reader lives in the process that owns the store."""
    session = next(iter(watched.outputs.values())).meta
    assert session is not None
    reader = Reader(settings.clickhouse_dsn)
    try:
        until = time.perf_counter() + TABLES_S_MAX
        while time.perf_counter() < until:
            for table in ("streams", "steps"):
                query = f"SELECT uniqExact(stream_id) FROM {table} FINAL WHERE session_id = {{session:String}}"  # noqa: S608
                found = await asyncio.to_thread(reader.query, query, {"session": session.session_id})
                watched.rows[table] = int(str(found.rows[0][0]))
            if watched.rows["streams"] >= watched.streams:
                return
            await asyncio.sleep(0.2)
    finally:
        reader.close()
