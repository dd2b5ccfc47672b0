"""The proxy: the server's bytes as they come, noted on the way; repaired only when asked."""

import asyncio
import statistics
import time
from contextlib import asynccontextmanager
from itertools import pairwise

import orjson
import pytest
from aiohttp import ClientError, ClientSession, web

from streams.client import TokenProducer
from streams.proxy import proxying
from streams.settings import Settings
from tests.server_streams import CHAT

AWAY = Settings(kafka_bootstrap="127.0.0.1:9")
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}  # fmt: skip
BROKEN = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo",}}\n</tool_call>'
PAUSE_S = 0.02


def chunk(text: str) -> dict:
    return {"id": "c1", "model": "gpt-x", "choices": [{"index": 0, "delta": {"content": text}}]}


async def events(request: web.Request) -> web.StreamResponse:
    asked = await request.json()
    chunks = {"chat": CHAT, "broken": [chunk(BROKEN)]}[asked["model"]]
    if not asked.get("stream"):
        message = {"role": "assistant", "content": BROKEN}
        return web.json_response({"id": "c1", "model": "gpt-x", "choices": [{"index": 0, "message": message,
                                  "finish_reason": "stop"}]})  # fmt: skip
    response = web.StreamResponse(headers={"content-type": "text/event-stream", "x-seen": request.headers["x-key"]})
    await response.prepare(request)
    for item in chunks:
        await response.write(b"data: " + orjson.dumps(item) + b"\n\n")
        await asyncio.sleep(PAUSE_S)
    await response.write(b"data: [DONE]\n\n")
    return response


async def broken_off(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"data: " + orjson.dumps(chunk("half")) + b"\n\n")
    await asyncio.sleep(PAUSE_S)
    request.transport.abort()
    return response


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    while True:
        await response.write(b"data: " + orjson.dumps(chunk("more ")) + b"\n\n")
        await asyncio.sleep(PAUSE_S / 10)


async def models(request: web.Request) -> web.Response:
    return web.json_response({"data": [], "own": "x-hermes-a" in request.headers})


@asynccontextmanager
async def scripted():
    app = web.Application()
    app.router.add_post("/v1/chat/completions", events)
    app.router.add_post("/broken/chat/completions", broken_off)
    app.router.add_post("/endless/chat/completions", endless)
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield "http://{}:{}".format(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()


@asynccontextmanager
async def both(*, repairs: bool = False):
    async with (
        scripted() as upstream,
        TokenProducer(AWAY) as producer,
        proxying(upstream, producer, "127.0.0.1:0", repairs=repairs) as url,
        ClientSession(headers={"x-key": "k"}) as client,
    ):
        yield url, upstream, producer, client
        producer._pump.cancel()


def noted(producer: TokenProducer) -> list:
    return producer.waiting.take()


def body(model: str, *, stream: bool = True) -> dict:
    return {"model": model, "stream": stream, "tools": [TOOL], "messages": [{"role": "user", "content": "Oslo?"}]}


def test_bytes_pass_as_they_come_and_are_noted() -> None:
    async def main() -> None:
        async with both() as (url, upstream, producer, client):
            producer._pump.cancel()
            bodies, gaps = [], {}
            for base in (upstream, url):
                headers = {"x-hermes-tenant": "acme", "x-hermes-stream-id": "mine"}
                async with client.post(f"{base}/v1/chat/completions", json=body("chat"), headers=headers) as answer:
                    got, times = [], []
                    async for data in answer.content.iter_any():
                        got.append(data)
                        times.append(time.perf_counter())
                    bodies.append(b"".join(got))
                gaps[base] = [b - a for a, b in pairwise(times)]
                assert len(got) >= len(CHAT) // 2  # not held back
            assert bodies[0] == bodies[1]
            assert answer.headers["x-seen"] == "k"
            assert answer.headers["x-hermes-stream-id"] == "mine"
            added = statistics.median(gaps[url]) - statistics.median(gaps[upstream])
            assert added < 0.01
            (token,) = noted(producer)
            assert (token.stream_id, token.done, token.finish_reason) == ("mine", True, "tool_calls")
            assert (token.meta.tenant, token.meta.user, token.meta.tools[0]) == ("acme", "Oslo?", TOOL)
            assert "北京" in token.text

    asyncio.run(main())


def test_other_paths_pass_without_our_headers_and_are_not_noted() -> None:
    async def main() -> None:
        async with both() as (url, _, producer, client):
            async with client.get(f"{url}/v1/models", headers={"x-hermes-a": "1"}) as answer:
                assert await answer.json() == {"data": [], "own": False}
            async with client.get(f"{url}/v1/none") as answer:
                assert answer.status == 404
            assert noted(producer) == []

    asyncio.run(main())


def test_calls_are_repaired_only_when_asked() -> None:
    async def main() -> None:
        async with both() as (url, _, _, client):
            ask = f"{url}/v1/chat/completions"
            async with client.post(ask, json=body("broken", stream=False)) as answer:
                assert (await answer.json())["choices"][0]["message"]["content"] == BROKEN
            headers = {"x-hermes-repair": "true"}
            async with client.post(ask, json=body("broken", stream=False), headers=headers) as answer:
                message = (await answer.json())["choices"][0]["message"]
            assert message["content"] is None
            assert orjson.loads(message["tool_calls"][0]["function"]["arguments"]) == {"city": "Oslo"}
            async with client.post(ask, json=body("broken"), headers=headers) as answer:
                lines = [line[6:] for line in (await answer.read()).split(b"\n\n") if line.startswith(b"data: {")]
            (call,) = orjson.loads(lines[0])["choices"][0]["delta"]["tool_calls"]
            assert call["function"] == {"name": "get_weather", "arguments": '{"city":"Oslo"}'}

    asyncio.run(main())


def test_upstream_away_is_a_502_that_says_so() -> None:
    async def main() -> None:
        async with (
            TokenProducer(AWAY) as producer,
            proxying("http://127.0.0.1:9", producer, "127.0.0.1:0", repairs=False) as url,
            ClientSession() as client,
            client.post(f"{url}/v1/chat/completions", json=body("chat")) as answer,
        ):
            assert answer.status == 502
            assert "does not answer" in (await answer.json())["error"]["message"]
            producer._pump.cancel()

    asyncio.run(main())


def test_an_answer_that_breaks_off_upstream_breaks_off_here() -> None:
    async def main() -> None:
        async with both() as (url, _, producer, client):
            producer._pump.cancel()
            async with client.post(f"{url}/broken/chat/completions", json=body("chat")) as answer:
                assert b"half" in await answer.content.readany()
                with pytest.raises(ClientError):
                    await answer.read()
            (token,) = noted(producer)
            assert (token.text, token.done, token.finish_reason) == ("half", True, "error")

    asyncio.run(main())


def test_an_asker_that_goes_away_leaves_an_abandoned_stream() -> None:
    async def main() -> None:
        async with both() as (url, _, producer, client):
            producer._pump.cancel()
            async with client.post(f"{url}/endless/chat/completions", json=body("chat")) as answer:
                await answer.content.readany()
                answer.close()
            found = []
            for _ in range(100):
                await asyncio.sleep(PAUSE_S)
                found += noted(producer)
                if found and found[-1].done:
                    break
            assert found[-1].finish_reason == "abandoned"
            assert found[0].text.startswith("more ")

    asyncio.run(main())
