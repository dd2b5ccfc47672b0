"""The mending worker on real topics, with a language model of the test's own."""

import asyncio
import json

import pytest
from aiohttp import web

from processors.knowledge import shipped_knowledge
from processors.pipeline import tokens
from processors.processor import chain
from processors.reason import ReasonStage
from processors.tokens import SegmentStage
from processors.tool import ToolStage
from schemas.token import Meta
from schemas.wire import encode
from streams.llm_repair import LlmClient, LlmOptions
from streams.mend_calls import MendWorker
from tests.streams.flow import consumed, outputs, prepared, produce

TOOL = {
    "name": "book",
    "parameters": {"type": "object", "properties": {"guests": {"type": "integer"}}, "required": ["guests"]},
}
KNOWLEDGE = shipped_knowledge()


def parsed(stream_id, guests):
    """Records of `llm.parsed` for one stream that calls `book`."""
    text = f'<tool_call>\n{{"name": "book", "arguments": {{"guests": "{guests}"}}}}\n</tool_call>'
    stages = chain(SegmentStage(KNOWLEDGE), ReasonStage(), ToolStage(KNOWLEDGE.toolbox, KNOWLEDGE.tool_options))
    meta = Meta(tools=({"type": "function", "function": TOOL},), user="For 7, please. I am at 13800138000.")
    events = [event for token in tokens(stream_id, [text], meta) for event in stages.feed(token)]
    return [(stream_id, encode(event)) for event in events]


async def answer(request):
    asked = json.loads((await request.json())["messages"][1]["content"])
    guests = 7 if "some" in asked["call"] else 8
    return web.json_response({"choices": [{"message": {"content": json.dumps({"guests": guests})}}]})


@pytest.mark.engines
def test_what_can_be_mended_comes_again_and_nothing_else_does(running) -> None:
    async def flow():
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        settings, topology = await prepared(running.settings, "mend.")
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        async with LlmClient(LlmOptions(url=url, model="m")) as client:
            worker, stop = MendWorker(settings, topology, client, lambda: KNOWLEDGE), asyncio.Event()
            task = asyncio.create_task(worker.run(stop))
            streams = [parsed("good", 2), parsed("mended", "some friends"), parsed("invented", "many")]
            records = [record for parts in zip(*streams, strict=False) for record in parts]
            rest = [record for parts in streams for record in parts if record not in records]
            await produce(settings, "mend.llm.parsed", [*records, ("x", b"\xff"), *rest])
            found = await consumed(settings, "llm.outputs", 1, extra_s=1.0)
            steps = await consumed(settings, "llm.steps", 1)
            letters = await consumed(settings, "llm.dead-letters", 1)
            stop.set()
            await task
        await runner.cleanup()
        return outputs(found), outputs(steps), letters

    found, steps, letters = asyncio.run(flow())
    assert [(one["stream_id"], one["rev"]) for one in found] == [("mended", 1)]
    (call,) = found[0]["tool_calls"]
    assert (call["arguments"], call["status"], call["strategy"]) == ({"guests": 7}, "repaired", "llm")
    assert "13800138000" not in json.dumps(found)
    assert [(step["stream_id"], step["kind"], step["rev"]) for step in steps] == [("mended", "tool_call", 1)]
    assert [letter.value for letter in letters] == [b"\xff"]
