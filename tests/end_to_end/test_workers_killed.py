"""Tokens in at one end, outputs out at the other, through worker processes that are killed in the middle."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager

import orjson
import pytest

from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from schemas.token import Meta, Token
from schemas.wire import encode
from streams.settings import environment_of
from tests.streams.flow import consumed, interleaved, outputs, prepared, produce_tokens

pytestmark = pytest.mark.engines

WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}  # fmt: skip
TEXTS = (
    '<think>先查天气,再查空气质量。</think>好的,我来查。<tool_call>\n{"name": "get_weather", "arguments": {"city": "北京"}}\n</tool_call>',
    "<think>Let me plan. First the weather.\n\nWait, the format was wrong.</think>It is sunny, 28 °C.",
    'Sure.\n<tool_call>{"name": "get_weather", "arguments": {city: "Oslo", "days": "3",}}</tool_call>',
    "My number is 13812345678 and my mail is li.lei@example.com. <!-- temperature: 28°C, humidity: 45% --> Done.",
    "Plain answer without any markup, twice as long as it needs to be, and then it ends.",
    '<tool_call>{"name": "get_weathr", "arguments": {"city": "Rome"}}</tool_call>',
    "",
    "<think>an open thought that never ends",
)  # fmt: skip
VOLATILE = ("ts", "latency_ms", "meta")
TIMED = ("duration_ms", "registry_version")
"""The learner may write an entry meanwhile."""


def cut(text: str, seed: int) -> list[str]:
    source, pieces, at = random.Random(seed), [], 0
    while at < len(text):
        size = source.randint(1, 12)
        pieces.append(text[at : at + size])
        at += size
    return pieces or [""]


def tokens_of(stream_id: str, seed: int) -> list[Token]:
    pieces, meta = cut(TEXTS[seed % len(TEXTS)], seed), Meta(tools=(WEATHER,), model="m")
    last = len(pieces) - 1
    return [
        Token(stream_id=stream_id, seq=i, text=piece, done=i == last, meta=meta if i == 0 else None)
        for i, piece in enumerate(pieces)
    ]


def expected(stream_id: str, seed: int) -> dict:
    meta = Meta(tools=(WEATHER,), model="m")
    output = run(stream_id, cut(TEXTS[seed % len(TEXTS)], seed), meta, shipped_knowledge())
    return without_volatile(orjson.loads(encode(output)))


def without_volatile(output: dict) -> dict:
    """Without what depends on the time of a record: a reasoning record's id has its day, a record's stream a duration."""
    output = {
        **output,
        "metadata": {key: value for key, value in output["metadata"].items() if key not in TIMED},
    }
    record = output.get("reasoning_record")
    if record:
        timeless = {"created_at": None, "record_id": record["record_id"].rpartition("_")[2]}
        output = {**output, "reasoning_record": {**record, **timeless}}
    return {key: value for key, value in output.items() if key not in VOLATILE}


@contextmanager
def worker(settings, *stages: str):
    """A worker process; what it says on stderr is shown when the test fails."""
    process = subprocess.Popen(
        [sys.executable, "-m", "streams", "run", *stages], env={**os.environ, **environment_of(settings)},
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def check(found: list, count: int) -> None:
    by_stream = {output["stream_id"]: without_volatile(output) for output in outputs(found)}
    assert sorted(by_stream) == sorted(f"s{i}" for i in range(count))
    assert {
        stream_id: output
        for stream_id, output in by_stream.items()
        if output != expected(stream_id, int(stream_id[1:]))
    } == {}
    assert len(found) == count, "each output once"


def test_killed_worker_loses_and_doubles_nothing(running) -> None:
    count = 160
    tokens = interleaved(*(tokens_of(f"s{i}", i) for i in range(count)))
    half = len(tokens) // 2

    async def flow():
        settings, _ = await prepared(running.settings, "kill.")
        stages = ("segment", "reason", "tool", "clean")
        with worker(settings, *stages) as first:
            await produce_tokens(settings, tokens[:half])
            await consumed(settings, "llm.outputs", 20, extra_s=0)
            first.send_signal(signal.SIGKILL)
            with worker(settings, *stages) as second:
                await produce_tokens(settings, tokens[half:])
                found = await consumed(settings, "llm.outputs", count, wait_s=40, extra_s=1)
                second.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(second.wait, 15) == 0
        steps = await consumed(settings, "llm.steps", 1)
        return found, steps

    found, steps = asyncio.run(flow())
    check(found, count)
    assert b"13812345678" not in b"".join(record.value for record in [*found, *steps])


def test_each_stage_in_a_process_of_its_own_gives_the_same(running) -> None:
    count = 40

    async def flow():
        settings, _ = await prepared(running.settings, "apart.")
        with (
            worker(settings, "segment"),
            worker(settings, "reason"),
            worker(settings, "tool"),
            worker(settings, "clean"),
        ):
            await produce_tokens(settings, interleaved(*(tokens_of(f"s{i}", i) for i in range(count))))
            return await consumed(settings, "llm.outputs", count, wait_s=60, extra_s=1)

    check(asyncio.run(flow()), count)


def test_failures_reach_the_learner_without_personal_data(running) -> None:
    async def flow():
        settings, _ = await prepared(running.settings, "fail.")
        with worker(settings, "segment", "reason", "tool", "clean"):
            text = '<tool_call>{"name": "get_weather", "arguments": "call 13812345678 now'
            await produce_tokens(
                settings, [Token(stream_id="a", seq=0, text=text, done=True, meta=Meta(tools=(WEATHER,)))]
            )
            return await consumed(settings, "llm.pattern-discovery", 1)

    records = asyncio.run(flow())
    assert records
    assert b"13812345678" not in b"".join(record.value for record in records)
