"""Does any side effect happen twice when dispatchers are killed, and what does dispatching a call cost?

Usage: python benchmarks/bench_dispatch.py [KILLS] [CALLS]

KILLS (default 100): two dispatchers at a time, in processes of their own, on the embedded Redis-protocol server, each
killed with SIGKILL at a random point and begun again from the first output. CALLS (default 2,000): wall time of
dispatching an output with one call of a function that returns at once, one after the other: plan, lease, circuit,
thread, result kept, and the snapshots of its states written as bytes. Needs the extra `embedded`.
"""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from dataclasses import replace

from processors.dispatching.policy import ToolRule
from schemas.execution import Execution, Handover
from schemas.wire import encode
from streams.dispatch import Dispatcher, DispatchOptions
from streams.embedded import engines
from streams.executing.python_tool import tool
from streams.leases import leases
from streams.redis_client import redis_client
from streams.settings import Settings
from tests.end_to_end.dispatching import killed, paying


@tool(ToolRule())
def pay(amount: float, slow_s: float) -> float:
    """Pay at once."""
    return amount + slow_s


async def told(event: Execution | Handover) -> None:
    """As the worker does, but for the broker, which is not waited for there either."""
    encode(event)


async def overheads(url: str, calls: int) -> tuple[np.ndarray, np.ndarray]:
    """Time of each dispatch in ms, and of a PING of the same server after it: what the machine alone costs."""
    spent, bare = [], []
    async with leases(url, "bench.") as kept, redis_client(url, "bench") as client:
        dispatcher = Dispatcher({"pay": pay}, kept, DispatchOptions(permitted=frozenset({"pay"})), tell=told)
        for stream in range(calls):
            output = paying(stream)
            output = replace(output, tool_calls=output.tool_calls[:1])
            began = time.perf_counter()
            (result,) = await dispatcher.dispatch(output)
            spent.append((time.perf_counter() - began) * 1000)
            assert result.status == "ok"
            began = time.perf_counter()
            await client.ping()
            bare.append((time.perf_counter() - began) * 1000)
    return np.array(spent), np.array(bare)


def main(kills: int = 100, calls: int = 2_000) -> None:
    with tempfile.TemporaryDirectory() as folder, engines(Settings(data_dir=folder)) as running:
        before = time.process_time()
        spent, bare = asyncio.run(overheads(running.settings.redis_url, calls))
        own_ms = (time.process_time() - before) / calls * 1000
        p50, p99 = np.percentile(spent, [50, 99])
        print(f"overhead of one call, {calls} calls: p50 {p50:.2f} ms, p99 {p99:.2f} ms, most {spent.max():.2f} ms")
        runnable, cores = os.getloadavg()[0], os.cpu_count()
        print(f"a bare PING beside each: p50 {np.median(bare):.2f} ms, p99 {np.percentile(bare, 99):.2f} ms")
        print(f"CPU time of the dispatcher {own_ms:.2f} ms a call; load {runnable:.1f} on {cores} cores")
        found = killed(running.settings.redis_url, Path(folder), kills, seed=7)
        twice = sum(count for lines, count in found.effects.items() if lines > 1)
        print(f"{found.kills} kills, {found.calls} calls: {dict(found.statuses)}; side effects {found.effects.total()}")
        print(f"double side effects: {twice}; results the same when read again: {found.is_stable}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
