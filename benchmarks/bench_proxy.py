"""What the proxy adds: time to the first byte, and to each further chunk, against the same scripted server asked directly.

The server writes a time stamp into each chunk as it sends it; the client takes the difference when it has the chunk. All
three share one event loop, so the figures hold the proxy's own work and two more trips through loopback.
"""

import argparse
import asyncio
import statistics
import time
from contextlib import AsyncExitStack

import orjson
from aiohttp import ClientSession, web

from streams.client import TokenProducer
from streams.proxy import proxying
from streams.settings import Settings

PAUSE_S = 0.002


async def answer(request: web.Request) -> web.StreamResponse:
    count = (await request.json())["chunks"]
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for _ in range(count):
        chunk = {"at": time.perf_counter(), "choices": [{"index": 0, "delta": {"content": "word "}}]}
        await response.write(b"data: " + orjson.dumps(chunk) + b"\n\n")
        await asyncio.sleep(PAUSE_S)
    return response


async def measured(client: ClientSession, url: str, rounds: int, chunks: int) -> tuple[list[float], list[float]]:
    firsts, steps = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        async with client.post(f"{url}/v1/chat/completions", json={"chunks": chunks}) as got:
            async for line in got.content:
                now = time.perf_counter()
                if not line.startswith(b"data: "):
                    continue
                if began:
                    firsts.append((now - began) * 1000)
                    began = 0.0
                steps.append((now - orjson.loads(line[6:])["at"]) * 1000)
    return firsts, steps


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--chunks", type=int, default=50)
    given = options.parse_args()
    async with AsyncExitStack() as stack:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        upstream = "http://{}:{}".format(*runner.addresses[0][:2])
        producer = await stack.enter_async_context(TokenProducer(Settings()))
        url = await stack.enter_async_context(proxying(upstream, producer, "127.0.0.1:0", repairs=False))
        client = await stack.enter_async_context(ClientSession())
        await measured(client, url, 2, 10)
        print(f"{'':>8} {'first ms p50':>13} {'p99':>8} {'chunk ms p50':>13} {'p99':>8}")
        for name, base in (("direct", upstream), ("proxy", url)):
            firsts, steps = await measured(client, base, given.rounds, given.chunks)
            cuts = [statistics.quantiles(values, n=100) for values in (firsts, steps)]
            print(f"{name:>8} {cuts[0][49]:>13.2f} {cuts[0][98]:>8.2f} {cuts[1][49]:>13.2f} {cuts[1][98]:>8.2f}")


if __name__ == "__main__":
    asyncio.run(main())
