"""How many chunks go out of one process, and how long a chunk is held up by being noted.

Streams of OpenAI-shaped objects are read through the producer kit and written to the embedded broker. The rate is over
the whole run, to the broker's last acknowledgement; it counts this process's time only in the second column. A chunk's
added latency is the time of one step through the tee less that of one step of the bare iterator, measured by itself.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from types import SimpleNamespace

from streams.client import Limits, TokenProducer
from streams.embedded import engines
from streams.settings import Settings
from streams.topics import apply, load_topology

TEXTS = ("The ", "weather ", "in Oslo ", "is 7 °C", ", 北京 ", "12 °C", ". ", "Anything ", "else?", "\n")


def chunk(text: str) -> SimpleNamespace:
    delta = SimpleNamespace(content=text, role=None, tool_calls=None)
    choice = SimpleNamespace(index=0, delta=delta, finish_reason=None)
    return SimpleNamespace(id="chatcmpl-1", model="gpt-x", choices=[choice], usage=None)


CHUNKS = [chunk(text) for text in TEXTS]


async def source(count: int):
    """As a client gives them: control goes back to the loop now and then, as bytes come from the network."""
    for number in range(count):
        if number % 64 == 0:
            await asyncio.sleep(0)
        yield CHUNKS[number % len(CHUNKS)]


async def read(stream) -> None:
    async for _ in stream:
        pass


async def rate(settings: Settings, streams: int, chunks: int, folder: str | None) -> tuple[float, float]:
    async with TokenProducer(settings, limits=Limits(folder=folder), must_connect=True) as producer:
        began, worked = time.perf_counter(), time.process_time()
        await asyncio.gather(*[read(producer.tee(source(chunks))) for _ in range(streams)])
        await producer.flush()
        return streams * chunks / (time.perf_counter() - began), streams * chunks / (time.process_time() - worked)


async def latencies(settings: Settings, count: int, folder: str | None) -> tuple[list[float], list[float]]:
    """Of each step in µs: bare, and through the tee, with the producer at work in the same loop."""
    async with TokenProducer(settings, limits=Limits(folder=folder), must_connect=True) as producer:
        found = []
        for stream in (source(count), producer.tee(source(count))):
            steps = []
            iterator = aiter(stream)
            while True:
                began = time.perf_counter()
                if await anext(iterator, None) is None:
                    break
                steps.append((time.perf_counter() - began) * 1e6)
                await asyncio.sleep(0)
            found.append(steps)
        return found[0], found[1]


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--streams", type=int, default=50)
    options.add_argument("--chunks", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--on-disk", action="store_true", help="write tokens to a folder before they go out")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, engines(Settings(data_dir=folder)) as started:
        await apply(started.settings, load_topology(started.settings))
        on_disk = f"{folder}/tokens" if given.on_disk else None
        rates = [await rate(started.settings, given.streams, given.chunks, on_disk) for _ in range(given.rounds)]
        bare, teed = await latencies(started.settings, 50_000, on_disk)
    print(f"{'round':>6} {'chunks/s':>10} {'per CPU s':>10}")
    for number, (wall, cpu) in enumerate(rates):
        print(f"{number:>6} {wall:>10,.0f} {cpu:>10,.0f}")
    print(f"{'step':>6} {'p50 µs':>10} {'p99 µs':>10} {'max µs':>10}")
    for name, steps in (("bare", bare), ("tee", teed)):
        cuts = statistics.quantiles(steps, n=100)
        print(f"{name:>6} {cuts[49]:>10.1f} {cuts[98]:>10.1f} {max(steps):>10.0f}")


if __name__ == "__main__":
    asyncio.run(main())
