"""Tokens with calls through everything, the dispatcher among the stages: what the page says while it runs, and after."""

import asyncio
import re
import time
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from uuid import uuid4

import orjson
import pytest
from aiohttp import ClientSession

from schemas.token import Meta, Token
from schemas.wire import encode
from streams import running as workers
from streams.executing.load import load_tools
from streams.store import Reader
from streams.web.app import start_web
from tests.streams.flow import consumed, prepared, produce

pytestmark = pytest.mark.engines
TOOLS = Path(__file__).parent.parent / "streams" / "dispatch_tools.py"
STAGES = ("segment", "reason", "tool", "clean", "sink", "dispatch")
CALLS = [
    {"name": "pay", "arguments": {"amount": 5, "slow_s": 6}}, {"name": "pay", "arguments": {"amount": 500}},
    {"name": "look_up", "arguments": {"city": "Oslo"}},
]  # fmt: skip


def tokens(stream_id: str) -> list[bytes]:
    text = "<think>First pay, then look.</think>" + "".join(
        f"<tool_call>\n{orjson.dumps(call).decode()}\n</tool_call>" for call in CALLS
    )
    meta = Meta(run_id="run-pay", tools=tuple(tool.describe() for tool in load_tools(TOOLS).values()))
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    now = time.time() * 1000
    return [
        encode(
            Token(
                stream_id=stream_id, seq=seq, text=piece, ts=now, done=seq == len(pieces) - 1,
                meta=None if seq else meta, usage={"total_tokens": 90} if seq == len(pieces) - 1 else None,
            )
        )
        for seq, piece in enumerate(pieces)
    ]  # fmt: skip


async def shown(session: ClientSession, url: str, until: str, seconds: float = 40) -> str:
    """The page's text once it says something."""
    body, deadline = "", time.monotonic() + seconds
    while time.monotonic() < deadline:
        async with session.get(url) as response:
            body = unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", await response.text())))
        if re.search(until, body):
            return body
        await asyncio.sleep(0.1)
    raise AssertionError(f"{until!r} is not in {body[-3000:]}")


def test_the_page_says_what_is_done_now_what_comes_next_and_what_was_done(running, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EFFECTS", str(tmp_path / "effects"))
    store = f"chdb://{tmp_path}/store"

    async def main() -> list[dict]:
        asked = replace(
            running.settings, clickhouse_dsn=store, dispatch_tools=str(TOOLS), dispatch_permit="pay", web_port=0,
            data_dir=str(tmp_path),
        )  # fmt: skip
        settings, _ = await prepared(asked, f"live{uuid4().hex[:6]}.")
        stop = asyncio.Event()
        task = asyncio.create_task(workers.run(settings, workers.prepare(settings, STAGES), stop))
        await produce(settings, f"{settings.topic_prefix}llm.tokens", [("s1", value) for value in tokens("s1")])
        results = asyncio.create_task(consumed(settings, "llm.tool-results", 3, wait_s=60))
        await consumed(settings, "llm.executions", 4, wait_s=60)
        with closing(await asyncio.to_thread(Reader, store)) as reader:
            page = await start_web(reader, settings)
            async with ClientSession() as session:
                during = await shown(session, f"{page.url}/calls?range=1h", "Being done now 1")
                assert re.search(
                    r"Being done now 1 .* pay .*\"slow_s\":6.* What comes next 2 .* pay .*500.* look_up .* Done", during
                )
                run = await shown(session, f"{page.url}/runs/run-pay", "Running now pay")
                assert re.search(r"Running now pay .*slow_s.* Next pay .*500", run)
                after = await shown(session, f"{page.url}/calls?range=1h", "Done 3")
                assert "No call is running" in after
                assert re.search(
                    r"look_up not_run .*earlier_failed.* pay business_failure .*余额不足.* pay ok .* \$0.25", after
                )
                assert "1 business_failure" in await shown(session, f"{page.url}/runs/run-pay", "3 calls: ")
            await page.close()
        stop.set()
        await task
        return [orjson.loads(record.value) for record in await results]

    results = asyncio.run(main())
    assert [result["status"] for result in results] == ["ok", "business_failure", "not_run"]
    assert len((tmp_path / "effects").read_text(encoding="utf-8").split()) == 2
