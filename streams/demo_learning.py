"""The demo's second act: a format that no catalogue knows fails, is learned, and from then on parses.

The calls and reasoning of the first act are written anew in a notation with a word of this run, so that a registry
which has learned in an earlier run still knows nothing of it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import orjson

from processors.snapshot import Snapshot
from schemas.output import Output
from schemas.pattern import Pattern, PatternKind
from schemas.token import Meta
from schemas.toolcall import EXECUTABLE, ToolCall
from streams.client import OutputConsumer, TokenProducer
from streams.demo_streams import DemoStream, interleaved
from streams.settings import Settings
from streams.snapshots import Snapshots

FIRST = 24
"""Streams sent before the format is known."""
LATER = 24
LATER_READ_MIN = 0.9
LEARN_S_MAX = 30.0
OUTPUT_S_MAX = 30.0
_LETTERS = "bdfgklmnprstvz"


@dataclass(slots=True, kw_only=True)
class Learned:
    """What came of the second act."""

    example: str
    first: int
    first_read: int
    """Streams of the unknown format whose calls were read before it was learned."""
    later: int
    later_read: int
    seconds: float
    """From the first record of the unknown format to its pattern in force."""
    pattern: Pattern | None = None

    @property
    def is_in_use(self) -> bool:
        """Whether the pattern reads the format: of few samples it may lack a notation that only later ones have."""
        return self.pattern is not None and self.later_read >= LATER_READ_MIN * self.later


async def second_act(settings: Settings, snapshots: Snapshots, outputs: Sequence[Output], run_id: str) -> Learned:
    """Send streams in an unknown notation, wait until it is learned, send others."""
    # A placeholder is no argument that a call could be executed with, so those are left out.
    ordered = sorted(outputs, key=lambda output: output.stream_id)
    fit = [output for output in ordered if not output.pii and any(call.arguments for call in _calls(output))]
    cases = _varied(fit)
    word = "".join(_LETTERS[crc32(f"{run_id}{place}".encode()) % len(_LETTERS)] for place in range(5))
    streams = [_stream(output, f"{run_id}-unknown-{number}", word) for number, output in enumerate(cases)]
    first, later = streams[:FIRST], streams[FIRST : FIRST + LATER]
    before = snapshots.current()
    began = time.perf_counter()
    read = await _sent(settings, first)
    pattern = await _wait_for(snapshots, before)
    learned = Learned(
        example=first[0].text, first=len(first), first_read=read, later=len(later), later_read=0,
        seconds=time.perf_counter() - began, pattern=pattern,
    )  # fmt: skip
    learned.later_read = await _sent(settings, later)
    return learned


def _varied(outputs: Sequence[Output]) -> list[Output]:
    """Each text once before any comes again: few texts that repeat share more than the notation."""
    times: Counter[str] = Counter()
    turns: list[tuple[int, Output]] = []
    for output in outputs:
        text = _stream(output, "", "").text
        turns.append((times[text], output))
        times[text] += 1
    return [output for _, output in sorted(turns, key=lambda turn: turn[0])]


def _calls(output: Output) -> list[ToolCall]:
    return [call for call in output.tool_calls if call.status in EXECUTABLE and not call.duplicate_of]


def _stream(output: Output, stream_id: str, word: str) -> DemoStream:
    parts = [f"«{word}»{output.reasoning.text}«/{word}»"] if output.reasoning.text else []
    for call in _calls(output):
        rows = "".join(f"│ {key} ┊ {orjson.dumps(value).decode()}\n" for key, value in (call.arguments or {}).items())
        parts.append(f"◇{word} {call.name}\n{rows}◆")
    given = output.meta or Meta()
    meta = Meta(tools=given.tools, session_id=given.session_id, model="new-model")
    return DemoStream(stream_id=stream_id, text="\n".join(parts), meta=meta)


async def _sent(settings: Settings, streams: Sequence[DemoStream]) -> int:
    """Send streams and wait for their outputs; gives how many had calls that can be executed."""
    wanted = {stream.stream_id for stream in streams}
    read: set[str] = set()
    async with TokenProducer(settings, must_connect=True) as producer, OutputConsumer(settings) as consumer:
        for token in interleaved(streams):
            await producer.send(token)
        await producer.flush()

        async def receive() -> None:
            missing = set(wanted)
            async for output in consumer:
                if output.stream_id in wanted and _calls(output):
                    read.add(output.stream_id)
                missing.discard(output.stream_id)
                if not missing:
                    return

        await asyncio.wait_for(receive(), OUTPUT_S_MAX)
    return len(read)


async def _wait_for(snapshots: Snapshots, before: Snapshot) -> Pattern | None:
    """The format that became active since; None if none does in time."""
    until = time.perf_counter() + LEARN_S_MAX
    known = {pattern.id for pattern in before.formats}
    while time.perf_counter() < until:
        fresh = [pattern for pattern in snapshots.current().of(PatternKind.FORMAT) if pattern.id not in known]
        if fresh:
            return fresh[0]
        await asyncio.sleep(0.1)
    return None
