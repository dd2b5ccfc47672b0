"""Two workers of one group against one, on two cores: by the clock and by the workers' own CPU time.

    python benchmarks/bench_two_workers.py [--broker embedded|kafka] [--streams 4000] [--rounds 3]

The topic is filled first. Each worker is a process that notes how far it is twenty times a second; the rate of two is
that of the span in which both have partitions and records left. By the clock the broker's share of the cores counts
against the second worker; the CPU ratio leaves it out: what one worker takes for all chunks, against the most that either of
two takes for its part. It shows what splitting itself costs: uneven parts, and work that is done twice.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.bench_pipeline import STAGES, interleaved, produce, texts, values_of  # noqa: E402
from processors.snapshot import Snapshot  # noqa: E402
from streams.embedded import engines  # noqa: E402
from streams.running import warm  # noqa: E402
from streams.settings import Settings, environment_of, load  # noqa: E402
from streams.stage import chains  # noqa: E402
from streams.tokens_to_outputs import hot_path  # noqa: E402
from streams.topics import apply, load_topology  # noqa: E402
from streams.worker import Worker  # noqa: E402

SAMPLE_S = 0.05
SETTLE_S = 0.5
"""After the second worker has its partitions: the first has read a part of them by then."""
IDLE_S_MAX = 1.5


@dataclass(frozen=True)
class Sample:
    """How far a worker is: by the clock, in records, in CPU seconds."""

    at: float
    records: int
    cpu_s: float


async def work(group: str) -> list[Sample]:
    """A worker of that group, until nothing comes any more."""
    settings, snapshot = load(), Snapshot()
    topology = load_topology(settings)
    (chain,) = chains(topology, hot_path(lambda: snapshot), STAGES, group_prefix=group, publish_between=False)
    worker, stop = Worker(settings, topology, chain), asyncio.Event()
    warm([worker])
    print("warm", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    task = asyncio.create_task(worker.run(stop))
    await worker.is_ready.wait()
    samples, moved = [], time.monotonic()
    while not samples or samples[-1].at - moved < IDLE_S_MAX or not samples[-1].records:
        now = Sample(time.monotonic(), worker.counts.records, time.process_time())
        if samples and now.records > samples[-1].records:
            moved = now.at
        samples.append(now)
        await asyncio.sleep(SAMPLE_S)
    stop.set()
    await task
    return samples


def together(settings: Settings, group: str, count: int) -> list[list[Sample]]:
    """That many workers of one group at once → the samples of each."""
    command = [sys.executable, __file__, "--work", group]
    workers = [
        subprocess.Popen(
            command, env={**os.environ, **environment_of(settings)}, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(count)
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.communicate(timeout=300)[0] for worker in workers]
    return [[Sample(*sample) for sample in json.loads(text.splitlines()[-1])] for text in said]


def rates(parts: Sequence[Sequence[Sample]]) -> tuple[float, float]:
    """Records a second while all have some, and CPU µs for one of them."""
    begin = max(part[0].at for part in parts) + SETTLE_S
    end = min(next(sample.at for sample in part if sample.records == part[-1].records) for part in parts)
    spans = [[sample for sample in part if begin <= sample.at <= end] for part in parts]
    records = sum(span[-1].records - span[0].records for span in spans)
    cpu_s = sum(span[-1].cpu_s - span[0].cpu_s for span in spans)
    return records / (end - begin), cpu_s / records * 1e6


def share(parts: Sequence[Sequence[Sample]]) -> float:
    """The largest part of the records that one worker had."""
    return max(part[-1].records for part in parts) / sum(part[-1].records for part in parts)


def run(options: argparse.Namespace) -> None:
    streams = ((f"s{n}", values_of(f"s{n}", text)) for n, text in enumerate(texts(options.streams, options.prose)))
    records = list(interleaved(streams))
    print(
        f"{len(records)} chunks in {options.streams} streams; {options.broker} broker; {os.cpu_count()} cores,", end=""
    )
    print(f" load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}\n")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        settings = stack.enter_context(
            engines(Settings(data_dir=str(folder / "data"), session_timeout_ms=6_000))
        ).settings
        if options.broker == "kafka":
            from tests.servers.kafka_cluster import cluster

            settings = replace(settings, kafka_bootstrap=stack.enter_context(cluster(folder / "kafka")).bootstrap)
        asyncio.run(apply(settings, load_topology(settings)))
        asyncio.run(produce(settings, "llm.tokens", records))
        print("| round | one: chunks/s | µs CPU | two: chunks/s | µs CPU | larger part | by the clock | by CPU |")
        print("|--:|--:|--:|--:|--:|--:|--:|--:|")
        for place in range(options.rounds):
            one, one_us = rates(together(settings, f"one{place}", 1))
            parts = together(settings, f"two{place}", 2)
            two, two_us = rates(parts)
            by_cpu = one_us / two_us / share(parts)
            print(
                f"| {place + 1} | {one:,.0f} | {one_us:.2f} | {two:,.0f} | {two_us:.2f} | {share(parts):.2f} |"
                f" {two / one:.2f} | {by_cpu:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", choices=("embedded", "kafka"), default="embedded")
    parser.add_argument("--streams", type=int, default=4_000)
    parser.add_argument("--prose", type=int, default=18)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        print(json.dumps([(s.at, s.records, s.cpu_s) for s in asyncio.run(work(given.work))]))
    else:
        run(given)
