"""What the proxy adds: time to the first byte, and to each further chunk, beside a proxy that only passes bytes on.

Three ways to one scripted server, asked in turn in each round and in an order that changes: directly, through a bare
pass-through proxy of 20 lines on the same HTTP library, and through ours, which notes everything to an embedded broker.
Both proxies are processes of their own, as they are in use; server and client share this one. The server writes a time
stamp into each chunk as it sends it; the client takes the difference when it has the chunk. `added` is the difference
of a percentile to the direct one's: what the bare proxy adds is the price of a second trip through HTTP on this machine
at this moment.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import orjson
from aiohttp import ClientSession, TCPConnector, web

from streams.embedded import engines
from streams.settings import Settings
from streams.topics import apply, load_topology

PAUSE_S = 0.002
WARM_ROUNDS = 20
BARE, OURS = "bare proxy", "hermes-streams proxy"
TOOLS = [
    {"type": "function", "function": {"name": f"tool_{number}", "description": "What it does. " * 20, "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}
    for number in range(20)
]  # fmt: skip


async def answer(request: web.Request) -> web.StreamResponse:
    count = (await request.json())["chunks"]
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for _ in range(count):
        chunk = {"at": time.perf_counter(), "choices": [{"index": 0, "delta": {"content": "word "}}]}
        await response.write(b"data: " + orjson.dumps(chunk) + b"\n\n")
        await asyncio.sleep(PAUSE_S)
    await response.write(b"data: [DONE]\n\n")
    return response


async def bare(upstream: str) -> None:
    """A proxy that notes nothing."""
    async with ClientSession(auto_decompress=False, connector=TCPConnector(limit=0)) as session:

        async def handle(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            async with session.request(request.method, upstream + request.path_qs, data=body) as got:
                response = web.StreamResponse(status=got.status, headers={"content-type": got.content_type})
                await response.prepare(request)
                async for data in got.content.iter_any():
                    await response.write(data)
                await response.write_eof()
                return response

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print("http://{}:{}".format(*runner.addresses[0][:2]), flush=True)
        await asyncio.Event().wait()


@contextmanager
def process(*arguments: str, settings: Settings) -> Iterator[str]:
    """A proxy in a process of its own; gives its URL, the first word it prints."""
    places = {"KAFKA_BOOTSTRAP": settings.kafka_bootstrap, "HERMES_TOPIC_PREFIX": settings.topic_prefix}
    started = subprocess.Popen(
        [sys.executable, *arguments], env={**os.environ, **places}, stdout=subprocess.PIPE, text=True
    )
    try:
        yield started.stdout.readline().split()[0]
    finally:
        started.terminate()
        started.wait()


async def once(client: ClientSession, url: str, chunks: int, request_chars: int) -> tuple[float, list[float]]:
    """One answer: ms to the first chunk, ms that each chunk was under way."""
    body = {"model": "m", "stream": True, "chunks": chunks, "tools": TOOLS,
            "messages": [{"role": "user", "content": "What is the weather? " * (request_chars // 21)}]}  # fmt: skip
    first, steps = 0.0, []
    began = time.perf_counter()
    async with client.post(f"{url}/v1/chat/completions", json=body) as got:
        async for line in got.content:
            now = time.perf_counter()
            if line.startswith(b"data: {"):
                first = first or (now - began) * 1000
                steps.append((now - orjson.loads(line[6:])["at"]) * 1000)
    return first, steps


async def measured(places: dict[str, str], given: argparse.Namespace) -> dict[str, tuple[list[float], list[float]]]:
    found = {name: ([], []) for name in places}
    order = [*places.items()]
    async with ClientSession() as client:
        for number in range(given.rounds + WARM_ROUNDS):
            random.shuffle(order)
            for name, url in order:
                first, steps = await once(client, url, given.chunks, given.request_chars)
                if number >= WARM_ROUNDS:
                    found[name][0].append(first)
                    found[name][1].extend(steps)
    return found


def show(found: dict[str, tuple[list[float], list[float]]]) -> None:
    names = ("first ms p50", "p99", "added p50", "p99", "chunk ms p50", "p99", "added p50", "p99")
    print(f"{'':>20} " + " ".join(f"{name:>12}" for name in names))
    cuts = {name: [statistics.quantiles(values, n=100) for values in pair] for name, pair in found.items()}
    for name, pair in cuts.items():
        row = []
        for values, straight in zip(pair, cuts["direct"], strict=True):
            row += [values[49], values[98], values[49] - straight[49], values[98] - straight[98]]
        print(f"{name:>20} " + " ".join(f"{value:>12.2f}" for value in row))


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=500)
    options.add_argument("--chunks", type=int, default=20)
    options.add_argument("--request-chars", type=int, default=10_000, help="length of the conversation so far")
    options.add_argument("--bare", default="", help="only serve the bare proxy to this URL")
    given = options.parse_args()
    if given.bare:
        await bare(given.bare)
        return
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        settings = stack.enter_context(engines(Settings(data_dir=folder))).settings
        await apply(settings, load_topology(settings))
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        upstream = "http://{}:{}".format(*runner.addresses[0][:2])
        own = ("-m", "streams", "proxy", "--upstream", upstream, "--listen", "127.0.0.1:0")
        places = {
            "direct": upstream,
            BARE: stack.enter_context(process(__file__, "--bare", upstream, settings=settings)),
            OURS: stack.enter_context(process(*own, settings=settings)),
        }
        show(await measured(places, given))
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
