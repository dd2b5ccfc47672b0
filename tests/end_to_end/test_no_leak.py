"""Streams full of marked personal data through everything; then all that is public or kept is searched for the marks."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientSession
from redis import Redis

from schemas.token import Meta, Token
from streams import running as workers
from streams.audit import opened, ring_text, with_new_key
from streams.audit_topics import read_audit
from streams.settings import Settings
from streams.store import Reader
from streams.topics import apply, load_topology
from streams.web.app import start_web
from tests.processors.leaks import MAIL, MARKS, PHONE, SECRET, STREAMS, TOOLS, leaked
from tests.streams.flow import consumed, interleaved, produce, produce_tokens

pytestmark = pytest.mark.engines

STAGES = ("segment", "reason", "tool", "clean", "sink", "learn")
SIZES = (1, 2, 5, 16)
RAW = {"llm.tokens", "llm.segments", "llm.reasoned", "llm.parsed", "llm.dead-letters"}
"""Topics before clean, and records as received: internal, and the only ones that may hold text as the model wrote it."""
RING = with_new_key(None)
META = Meta(user=f"call {PHONE}", tools=TOOLS, attrs={"mail": MAIL}, session_id="leak")


def tokens(stream_id: str, text: str, size: int) -> list[Token]:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    last = len(pieces) - 1
    return [
        Token(stream_id=stream_id, seq=seq, text=piece, done=seq == last, meta=META if seq == 0 else None)
        for seq, piece in enumerate(pieces)
    ]


STREAM_TOKENS = {f"{name.replace(' ', '-')}-{size}": (text, size) for name, text in STREAMS.items() for size in SIZES}


@asynccontextmanager
async def everything_running(settings: Settings) -> Iterator[None]:
    prepared = workers.prepare(settings, STAGES, publish_between=True)
    await apply(settings, prepared.topology)
    stop = asyncio.Event()
    running = asyncio.create_task(workers.run(settings, prepared, stop))
    try:
        ready = [asyncio.create_task(worker.is_ready.wait()) for worker in prepared.workers]
        await asyncio.wait({*ready, running}, return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        stop.set()
        await running


async def all_records(settings: Settings) -> dict[str, list]:
    """Every record of every topic of this test."""
    found = {}
    for topic in load_topology(settings).topics:
        name = topic.removeprefix(settings.topic_prefix)
        found[name] = await consumed(settings, name, 0, wait_s=20, extra_s=0.3)
    return found


async def pages(settings: Settings) -> dict[str, str]:
    reader = Reader(settings.clickhouse_dsn)
    web = await start_web(reader, replace(settings, web_port=18_431))
    found = {}
    try:
        async with ClientSession() as session:
            addresses = ["/runs", "/failures?range=7d", "/patterns", "/dashboards", "/pipeline", "/sql"]
            addresses += [f"/runs/{stream}" for stream in STREAM_TOKENS if stream.endswith("-5")]
            addresses += [f"/runs/{stream}/streams/{stream}.json" for stream in STREAM_TOKENS if stream.endswith("-5")]
            for address in addresses:
                async with session.get(web.url + address) as answer:
                    found[address] = await answer.text()
    finally:
        await web.close()
        reader.close()
    return found


def tables(settings: Settings) -> dict[str, bytes]:
    reader = Reader(settings.clickhouse_dsn)
    try:
        names = [
            row[0] for row in reader.query("SELECT name FROM system.tables WHERE database = currentDatabase()").rows
        ]
        return {name: reader.raw(f"SELECT * FROM `{name}`") for name in names}
    finally:
        reader.close()


def registry(settings: Settings) -> bytes:
    with Redis.from_url(settings.redis_url) as client:
        return b"\n".join(client.dump(key) or b"" for key in client.scan_iter())


async def flow(settings: Settings) -> tuple[dict[str, list], dict[str, str]]:
    async with everything_running(settings):
        bad = [
            ("x", b'{"stream_id": "x", "seq": "' + PHONE.encode() + b'"}'),
            ("y", MAIL.encode()),
            ("z", b"\xff" + SECRET.encode()),
        ]
        await produce(settings, settings.topic_prefix + "llm.tokens", bad)
        streams = [tokens(name, text, size) for name, (text, size) in STREAM_TOKENS.items()]
        await produce_tokens(settings, interleaved(*streams))
        outputs = await consumed(settings, "llm.outputs", len(streams), wait_s=90)
        assert len({record.key for record in outputs}) == len(streams)
        await asyncio.sleep(3)  # the sink stores and the learner counts what came last
        return await all_records(settings), await pages(settings)


def test_no_mark_leaves_what_is_restricted(running, tmp_path: Path, caplog) -> None:
    ring = tmp_path / "ring.json"
    ring.write_text(ring_text(RING))
    settings = replace(
        running.settings,
        topic_prefix="leak.",
        group_prefix="leak",
        audit_keys=f"file:{ring}",
        clickhouse_dsn=f"chdb://{tmp_path}/ch",
    )
    with caplog.at_level(logging.DEBUG):
        records, html = asyncio.run(asyncio.wait_for(flow(settings), 240))
    assert records["llm.parsed"]
    assert records["llm.steps"]
    assert records["llm.pattern-discovery"]
    assert records["llm.audit"]
    assert len(records["llm.dead-letters"]) == 3
    for topic, found in records.items():
        for record in found:
            assert not leaked(b"".join(value for _, value in record.headers)), (topic, record)
            if topic not in RAW:
                assert not leaked((record.key or b"") + (record.value or b"")), (topic, record)
    for name, content in tables(settings).items():
        assert not leaked(content), name
    assert html
    for address, page in html.items():
        assert not leaked(page), address
    assert not leaked(registry(settings))
    assert not leaked(caplog.text)
    for path in Path(settings.data_dir).rglob("*"):
        if path.is_file() and "broker" not in path.name:
            assert not leaked(path.read_bytes()), path


def test_the_marks_are_in_the_audit_log_for_who_has_the_key(running, tmp_path: Path) -> None:
    """After the test before: what was taken out of the streams is there, sealed."""
    settings = replace(running.settings, topic_prefix="leak.", group_prefix="leak")
    items = asyncio.run(read_audit(settings, load_topology(settings)))
    records = [item for item in items if item.schema == "audit/1" and item.stream_id == "reasoning-and-answer-5"]
    keys = [item for item in items if item.schema == "audit-key/1" and item.stream_id == "reasoning-and-answer-5"]
    found = {entry.original for entry in opened(records, keys, RING)}
    assert {MAIL, PHONE} <= found
    assert len(found & set(MARKS)) >= 4
