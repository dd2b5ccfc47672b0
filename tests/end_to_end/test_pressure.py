"""More than can be done at once: memory stays bounded, nobody waits for another's backlog, and the group stays as it is."""

import asyncio
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from schemas.token import Token
from schemas.trajectory import Step
from schemas.wire import encode
from streams.sink_worker import SinkWorker
from streams.store import Reader
from streams.trajectories_to_clickhouse import BATCH_ROWS_MAX, Sink
from streams.worker import Worker
from tests.end_to_end.test_workers_killed import tokens_of, worker
from tests.streams.flow import chain_of, consumed, interleaved, outputs, prepared, produce, produce_tokens, stream

pytestmark = pytest.mark.engines
CHAIN = ("segment", "reason", "tool", "clean")
MEMORY_MB_MAX = 700
"""Of a worker with a stream of 100 million Latin characters (490 were measured): 150 MB for the program, 4 MB for each of
12 partitions twice, as bytes and as records, and the stream's text four times."""


def peak_mb(process_id: int) -> float:
    """Most memory that a process ever had."""
    lines = Path(f"/proc/{process_id}/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024


def test_stream_of_100_million_characters_has_one_output_and_holds_up_no_other(running) -> None:
    piece = "All work and no play makes Jack a dull boy. " * 20_000
    count = 100_000_000 // len(piece) + 1

    async def flow():
        settings, _ = await prepared(running.settings, "huge.")
        with worker(settings, *CHAIN) as process:
            big = [Token(stream_id="big", seq=i, text=piece, done=i == count - 1) for i in range(count)]
            await produce_tokens(settings, [*big[: count // 2], *tokens_of("s1", 1), *big[count // 2 :]])
            return await consumed(settings, "llm.outputs", 2, wait_s=120), peak_mb(process.pid)

    records, memory_mb = asyncio.run(flow())
    found = outputs(records)
    assert sorted(output["stream_id"] for output in found) == ["big", "s1"]
    big = next(output for output in found if output["stream_id"] == "big")
    assert big["failures"]
    assert big["metadata"]["truncated"]
    assert memory_mb < MEMORY_MB_MAX


def test_a_hundredfold_burst_is_worked_off_in_bounded_memory_without_a_rebalance(running) -> None:
    quiet, count, length = 200, 2_000, 40

    async def flow():
        # The shipped value: a shorter session ends when the machine has other work, which is not what is asked here.
        settings, topology = await prepared(replace(running.settings, session_timeout_ms=10_000), "burst.")
        busy = Worker(settings, topology, chain_of("burst."))
        stop = asyncio.Event()
        task = asyncio.create_task(busy.run(stop))
        await busy.is_ready.wait()
        await produce_tokens(settings, stream("before", *"x" * quiet))
        rebalances, burst = busy.counts.rebalances, [stream(f"s{i}", *"y" * length) for i in range(count)]
        await produce_tokens(settings, interleaved(*burst))
        found = await consumed(settings, "llm.outputs", count + 1, wait_s=120)
        stop.set()
        await task
        return found, busy.counts.rebalances - rebalances, busy.counts.resets

    found, rebalances, resets = asyncio.run(flow())
    assert len(found) == len({record.key for record in found}) == count + 1
    assert (rebalances, resets) == (0, 0)


def test_partition_far_behind_does_not_hold_up_the_others(running) -> None:
    backlog, others = 150_000, 11

    async def flow():
        settings, topology = await prepared(running.settings, "behind.")
        text = [encode(Token(stream_id="big", seq=i, text="word ", done=i == backlog - 1)) for i in range(backlog)]
        await produce(settings, "behind.llm.tokens", [("big", value) for value in text])
        small = [token for i in range(others) for token in stream(f"s{i}", *"abc")]
        await produce_tokens(settings, small)
        busy, stop = Worker(settings, topology, chain_of("behind.")), asyncio.Event()
        task = asyncio.create_task(busy.run(stop))
        found = await consumed(settings, "llm.outputs", others + 1, wait_s=120)
        stop.set()
        await task
        return found, busy.counts.rebalances

    found, rebalances = asyncio.run(flow())
    behind = next(record.partition for record in found if record.key == b"big")
    late = next(record.timestamp for record in found if record.key == b"big")
    elsewhere = [record.timestamp for record in found if record.partition != behind]
    assert len(found) == others + 1
    assert elsewhere
    assert max(elsewhere) < late
    assert rebalances == 1


class SlowSink(Sink):
    """A database that takes its time."""

    slowest = 0

    def write(self, events) -> None:
        time.sleep(0.4)
        SlowSink.slowest = max(SlowSink.slowest, len(events))
        super().write(events)


def test_slow_database_is_waited_for_and_everything_is_stored_once(running, tmp_path) -> None:
    count, dsn, now = 60_000, f"chdb://{tmp_path}", time.time() * 1000
    values = [
        (f"s{i % 500}", encode(Step(stream_id=f"s{i % 500}", order=i // 500, kind="response", text="x" * 200, ts=now)))
        for i in range(count)
    ]

    async def flow():
        settings, topology = await prepared(running.settings, "slow.")
        await produce(settings, "slow.llm.steps", values)
        slow, stop = SinkWorker(settings, topology, partial(SlowSink, dsn)), asyncio.Event()
        task = asyncio.create_task(slow.run(stop))
        deadline = time.monotonic() + 60
        while slow.stored < count and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        stop.set()
        await task
        return slow.stored

    assert asyncio.run(flow()) == count, "each batch was stored once: the group did not form anew while it waited"
    assert SlowSink.slowest <= BATCH_ROWS_MAX
    reader = Reader(dsn)
    (row,) = reader.query("SELECT count() AS n FROM steps FINAL").records()
    reader.close()
    assert row == {"n": count}
