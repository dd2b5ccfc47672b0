"""The demo's streams: recorded texts as interleaved tokens, cut anywhere."""

import random
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from zlib import crc32

import orjson

from schemas.jsonvalue import JsonObject
from schemas.token import Meta, Token
from streams.chunking import Chunker, Chunking

OPEN_STREAMS = 48
"""Streams under way at the same time."""
_META = ("model", "user", "now", "reasoning_open")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStream:
    """One stream to send: a recorded text and what its producer knows."""

    stream_id: str
    text: str
    meta: Meta


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
