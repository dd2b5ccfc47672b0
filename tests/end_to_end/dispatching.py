"""Dispatchers in processes of their own that are killed at random points; what they did is lines of a file.

`python -m tests.end_to_end.dispatching REDIS_URL PREFIX STREAMS` dispatches all outputs from the first on, as a worker
does that lost every offset: the hardest replay there is.
"""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from schemas.output import Output
from schemas.toolcall import CallStatus, ToolCall
from schemas.wire import encode
from streams.dispatch import Dispatcher, DispatchOptions
from streams.executing.load import load_tools
from streams.leases import leases

ROOT = Path(__file__).parent.parent.parent
TOOLS = ROOT / "tests" / "streams" / "dispatch_tools.py"
AT_ONCE = 3
OPTIONS = DispatchOptions(permitted=frozenset({"pay"}), lease_s=0.4)


def paying(stream: int) -> Output:
    """An output with two payments of 0 to 40 ms each."""
    rng = random.Random(stream)
    calls = tuple(
        ToolCall(
            stream_id=f"s{stream}", id=f"call_{place}", name="pay", requested_name="pay", raw="", order=place,
            arguments={"amount": place, "slow_s": round(rng.uniform(0, 0.04), 4)}, span=(0, 0), status=CallStatus.OK,
            strategy="json", confidence=1.0,
        )
        for place in range(2)
    )  # fmt: skip
    return Output(stream_id=f"s{stream}", tool_calls=calls)


async def dispatch_all(url: str, prefix: str, streams: int) -> None:
    """Dispatch every output, a few at once; a line for each result."""
    _say("ready")
    slots = asyncio.Semaphore(AT_ONCE)
    async with leases(url, prefix) as kept:
        dispatcher = Dispatcher(load_tools(TOOLS), kept, OPTIONS)

        async def one(stream: int) -> None:
            async with slots:
                for result in await dispatcher.dispatch(paying(stream)):
                    _say(encode(result).decode())

        await asyncio.gather(*map(one, range(streams)))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Killed:
    """What was done in spite of the kills."""

    kills: int
    calls: int
    statuses: Counter
    effects: Counter
    """Executions by how many lines they left."""
    is_stable: bool
    """A last reading gave the same results as the one before."""


def killed(url: str, folder: Path, kills: int, seed: int) -> Killed:
    """Start two dispatchers at a time and kill each at a random point, then let one finish."""
    rng, prefix, streams = random.Random(seed), f"killed{seed}.{os.getpid()}.", kills * 4
    file = folder / "effects"
    environment = os.environ | {"EFFECTS": str(file)}
    command = [sys.executable, "-m", "tests.end_to_end.dispatching", url, prefix, str(streams)]
    done = 0
    while done < kills:
        running = [subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
        for process in running:
            process.stdout.readline()
        for process in running:
            time.sleep(rng.uniform(0.02, 0.5))
            done += process.poll() is None
            process.kill()
            process.communicate()
    last = [
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout for _ in range(2)
    ]
    results = [sorted(out.decode().splitlines()[1:]) for out in last]
    statuses = Counter(line.split('"status":"')[1].split('"')[0] for line in results[0])
    lines = Counter(file.read_text(encoding="utf-8").split())
    return Killed(done, 2 * streams, statuses, Counter(lines.values()), results[0] == results[1])


if __name__ == "__main__":
    asyncio.run(dispatch_all(sys.argv[1], sys.argv[2], int(sys.argv[3])))
