"""Tee a stream of an OpenAI-compatible server: the program's own loop is as it was, and each answer becomes an Output.

    hermes-streams up                                   # in another terminal; prints kafka_bootstrap
    KAFKA_BOOTSTRAP=127.0.0.1:… python tee_openai.py    # a scripted server answers, so no model is needed

With the official client the only change is one call:
`for chunk in producer.tee(client.chat.completions.create(**request), request)`.
Set OPENAI_BASE_URL and OPENAI_API_KEY to ask a real server.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator

from aiohttp import ClientSession, web

from streams.client import OutputConsumer, TokenProducer
from streams.settings import Settings, load

REQUEST = {
    "model": "scripted-qwen3",
    "stream": True,
    "messages": [{"role": "user", "content": "How warm is it in Oslo and in 北京?"}],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            },
        }
    ],
}
WRITTEN = """<think>Two cities, so two calls.</think>I look both up.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Oslo",}}
</tool_call>
<tool_call>
{"name": "get_weathr", "arguments": {"city": "北京"}}
</tool_call>"""
"""What the scripted model writes: the first call has a stray comma, the second a wrong letter in its name."""


async def answer(request: web.Request) -> web.StreamResponse:
    """The scripted server: four characters a chunk."""
    await request.json()
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for start in range(0, len(WRITTEN), 4):
        delta = {"index": 0, "delta": {"content": WRITTEN[start : start + 4]}, "finish_reason": None}
        chunk = {"id": "chatcmpl-1", "model": REQUEST["model"], "choices": [delta]}
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


async def stream(url: str) -> AsyncIterator[bytes]:
    """What a client without an SDK reads: lines of server-sent events."""
    headers = {"authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    async with ClientSession(headers=headers) as session, session.post(f"{url}/chat/completions", json=REQUEST) as got:
        async for line in got.content:
            yield line


async def main(settings: Settings) -> None:
    """Ask, read the answer as always, then show what became of it."""
    runner = web.AppRunner(web.Application())
    runner.app.router.add_post("/v1/chat/completions", answer)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = os.environ.get("OPENAI_BASE_URL") or "http://{}:{}/v1".format(*runner.addresses[0][:2])
    async with TokenProducer(settings) as producer, OutputConsumer(settings) as outputs:
        tee = producer.tee(stream(url), REQUEST, tenant="examples")
        lines = [line async for line in tee]
        print(f"{len(lines)} lines read, unchanged")
        async for output in outputs:
            if output.stream_id == tee.stream_id:
                print("reasoning:", output.reasoning.text)
                for call in output.tool_calls:
                    print(f"call: {call.name} {json.dumps(call.arguments, ensure_ascii=False)} {call.status}")
                print("response:", output.response)
                break
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main(load()))
