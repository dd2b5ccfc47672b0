"""What open streams cost in memory: a worker's partition with all four stages, each stream in the middle of its answer.

python benchmarks/bench_open_streams.py [--streams 100000] [--chars 200]
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import orjson

from processors.snapshot import Snapshot
from streams.open_stream import Poisoned
from streams.partition import Partition
from streams.stage import Chain
from streams.tokens_to_outputs import hot_path

BEGINNING = "<think>The user asks for the weather, so I plan: first the city, then the date.</think>"
PROSE = "It is a quiet day at the harbour, and the boats lie still. "


@dataclass(slots=True)
class Read:
    offset: int
    value: bytes
    topic: str = "llm.tokens"
    partition: int = 0
    timestamp: int = 1_000
    key: bytes | None = None
    headers: tuple = ()


def rss_mb() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def token(stream_id: str, seq: int, text: str) -> bytes:
    """A copy, as the Kafka client makes one: orjson's own result keeps a buffer of 4 KB."""
    made = orjson.dumps({"schema": "token/1", "stream_id": stream_id, "seq": seq, "text": text})
    return bytes(bytearray(made))


def main(count: int, chars: int) -> None:
    snapshot = Snapshot()
    builds = tuple(build.build for build in hot_path(lambda: snapshot))
    writes = ({}, {}, {}, {"output/1": "o", "step/1": "s", "failure/1": "f"})
    chain = Chain(
        names=("all",), reads=("t",), builds=builds, writes=writes, reads_tokens=True, is_transactional=False, group="g"
    )  # fmt: skip
    chain.open()
    partition = Partition(chain, 0, "", Poisoned(), time.time)
    prose = (PROSE * (chars // len(PROSE) + 1))[: max(0, chars - len(BEGINNING))]
    before, started = rss_mb(), time.process_time()
    for seq, text in enumerate((BEGINNING, prose[: len(prose) // 2], prose[len(prose) // 2 :])):
        for start in range(0, count, 5_000):
            records = [
                Read(seq * count + n, token(f"stream-{n}", seq, text)) for n in range(start, min(start + 5_000, count))
            ]
            partition.take(records)
            partition.out.clear()
    used = rss_mb() - before
    print("| open streams | characters each | memory MB | KB a stream | of it text KB |\n|--:|--:|--:|--:|--:|")
    print(f"| {len(partition):,} | {chars} | {used:,.0f} | {used * 1024 / count:.1f} | {chars / 1024:.1f} |")
    print(
        f"\nprocess {rss_mb():,.0f} MB in all; {time.process_time() - started:.1f} s CPU; Python {sys.version.split()[0]}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=100_000)
    parser.add_argument("--chars", type=int, default=200)
    given = parser.parse_args()
    main(given.streams, given.chars)
