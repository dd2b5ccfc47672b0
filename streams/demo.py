"""The main job on embedded engines, watched: recorded raw outputs in as torn tokens, one structured output each out.

The streams run interleaved, as from a server with many users; each recorded text is sent several times, cut another way
each time. The demo ends when every stream has its output and the tables have as many.
"""

import asyncio
import random
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from zlib import crc32

import orjson
from rich.progress import Progress

from schemas.jsonvalue import JsonObject
from schemas.output import Output
from schemas.token import Meta, Token
from streams import running
from streams.chunking import Chunker, Chunking
from streams.client import OutputConsumer, TokenProducer
from streams.embedded import Engines
from streams.settings import ServerAwayError, Settings
from streams.store import Reader
from streams.topics import apply

STAGES = ("segment", "reason", "tool", "clean", "sink", "learn")
OUTPUT_S_MAX = 120.0
TABLES_S_MAX = 30.0
OPEN_STREAMS = 48
"""Streams under way at the same time."""
_META = ("model", "user", "now", "reasoning_open")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStream:
    """One stream to send: a recorded text and what its producer knows."""

    stream_id: str
    text: str
    meta: Meta


@dataclass(slots=True, kw_only=True)
class Watched:
    """What the demo saw."""

    streams: int
    tokens: int = 0
    seconds: float = 0.0
    outputs: dict[str, Output] = field(default_factory=dict)
    doubled: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    """Table → rows that belong to this run of the demo."""


def recorded(repeat: int, run_id: str) -> list[DemoStream]:
    """The shipped texts, each `repeat` times under ids of its own."""
    folder = files("streams") / "examples"
    listed = tomllib.loads((folder / "streams.toml").read_text(encoding="utf-8"))["stream"]
    tools: dict[str, JsonObject] = {
        tool["function"]["name"]: tool for tool in orjson.loads((folder / "tools.json").read_bytes())
    }
    found = []
    for number in range(repeat):
        for entry in listed:
            text = (folder / "raw" / f"{entry['file']}.txt").read_bytes().decode("utf-8")
            given = {name: entry[name] for name in _META if name in entry}
            meta = Meta(tools=tuple(tools[name] for name in entry["tools"]), session_id=run_id, **given)
            found.append(DemoStream(stream_id=f"{run_id}-{entry['file']}-{number}", text=text, meta=meta))
    return found


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
        return await _watched(settings, streams, progress, workers)
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


def interleaved(streams: Sequence[DemoStream]) -> Iterator[Token]:
    """Tokens of 1 to 12 characters, cut anywhere, of several streams at a time in random order."""
    draw = random.Random(7)
    waiting = list(streams)[::-1]
    underway: list[Iterator[Token]] = []
    while waiting or underway:
        while waiting and len(underway) < OPEN_STREAMS:
            underway.append(_tokens(waiting.pop()))
        place = draw.randrange(len(underway))
        token = next(underway[place], None)
        if token is None:
            underway[place] = underway[-1]
            underway.pop()
        else:
            yield token


def _tokens(stream: DemoStream) -> Iterator[Token]:
    pieces = Chunker(Chunking.TORN, crc32(stream.stream_id.encode())).cut(stream.text)
    for seq, text in enumerate(pieces):
        yield Token(
            stream_id=stream.stream_id,
            seq=seq,
            text=text,
            ts=time.time() * 1000,
            done=seq == len(pieces) - 1,
            meta=stream.meta if seq == 0 else None,
        )


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
