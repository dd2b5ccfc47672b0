"""Streams full of marked personal data through everything; then all that is public or kept is searched for the marks."""

import asyncio
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import pytest
from aiohttp import ClientSession, ClientTimeout
from aiohttp.web import AbstractResource
from redis import Redis

from schemas.token import Meta, Token
from schemas.toolcall import ToolResult
from schemas.wire import encode
from streams import running as workers
from streams.audit import opened, ring_text, with_new_key
from streams.audit_topics import read_audit
from streams.pattern_registry import connected
from streams.settings import Settings
from streams.store import Reader
from streams.topics import apply, load_topology
from streams.web.app import start_web
from streams.web.download import FORMATS
from tests.processors.leaks import MAIL, MARKS, PHONE, SECRET, STREAMS, TOOLS, leaked
from tests.streams.flow import consumed, interleaved, produce, produce_tokens

pytestmark = pytest.mark.engines

STAGES = ("segment", "reason", "tool", "clean", "sink", "learn")
SIZES = (1, 2, 5, 16)
RAW = {"llm.tokens", "llm.segments", "llm.reasoned", "llm.parsed", "llm.dead-letters"}
"""Topics before clean, and records as received: internal, and the only ones that may hold text as the model wrote it."""
CUT = ("reasoning and answer", "call", "state")
"""Texts that go through cut in two at each of their characters; the others are in `tests/processors`."""
RESULT = ToolResult(
    stream_id="s", call_id="call_0", status="ok", content={"said": f"{PHONE}, {MAIL}"}, error=f"password={SECRET}"
)
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
SHOWN = [name for name in STREAM_TOKENS if name.endswith("-5")]
START = (
    "/", "/runs", "/failures?range=7d", "/patterns", "/dashboards", "/pipeline", "/sql", "/export", "/healthz",
    *(f"/export/download?format={form}" for form in FORMATS if form != "parquet"),
    *(f"/api/panels/{panel.stem}" for panel in Path("streams/panels").glob("*.sql")),
)  # fmt: skip
OWN = frozenset(encode(replace(RESULT, stream_id=name)) for name in SHOWN)
"""What applications wrote: the topic of results is theirs."""
VISITS_MAX = 12
"""How many addresses of one page that links lead to are read."""
LINK = re.compile('(?:href|hx-get|data-url)="([/?][^"#]*)"')


def cut_in_two(name: str, text: str) -> Iterator[list[Token]]:
    """A stream for each place at which the text can be cut."""
    for cut in range(1, len(text)):
        known = {"stream_id": f"{name}-cut-{cut}"}
        yield [Token(seq=0, text=text[:cut], meta=META, **known), Token(seq=1, text=text[cut:], done=True, **known)]


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
    names = [name.removeprefix(settings.topic_prefix) for name in load_topology(settings).topics]
    found = await asyncio.gather(*(consumed(settings, name, 0, wait_s=20, extra_s=0.3) for name in names))
    return dict(zip(names, found, strict=True))


async def pages(settings: Settings) -> dict[str, str]:
    """Everything that the page's GET routes give, found by following its links from the list of runs."""
    reader = Reader(settings.clickhouse_dsn)
    found: dict[str, str] = {}
    async with connected(settings.redis_url, settings.topic_prefix) as registry:
        web = await start_web(reader, replace(settings, web_port=18_431), registry)
        routes = [route.resource for route in web.runner.app.router.routes() if route.method == "GET"]
        waiting = [
            *START,
            *(f"/runs/{name}" for name in SHOWN),
            *(f"/runs/{name}/streams/{name}.json" for name in SHOWN),
        ]
        visits: Counter[str] = Counter()
        try:
            async with ClientSession(timeout=ClientTimeout(20)) as session:
                while waiting:
                    address = waiting.pop(0)
                    route = next(str(one) for one in routes if is_of(one, address.partition("?")[0]))
                    if address in found or visits[route] >= VISITS_MAX or address.startswith(("/static", "/live")):
                        continue
                    visits[route] += address not in START
                    async with session.get(web.url + address) as answer:
                        assert answer.status == 200 or address.endswith("/trial"), address
                        found[address] = f"{answer.headers}{await answer.text(errors='replace')}"
                    links = (urljoin(address, unescape(link)) for link in LINK.findall(found[address]))
                    waiting += (link for link in links if link.startswith("/"))
                found["/live/runs"] = await beginning(session, web.url + "/live/runs")
        finally:
            await web.close()
            reader.close()
    paths = [address.partition("?")[0] for address in found]
    left_out = {route.canonical for route in routes if not any(is_of(route, path) for path in paths)}
    assert left_out <= {"/static/{name}", "/login"}, "pages that no link leads to: add them to START"
    return found


def is_of(route: AbstractResource, path: str) -> bool:
    info = route.get_info()
    return info.get("path") == path or ("pattern" in info and info["pattern"].fullmatch(path) is not None)


async def beginning(session: ClientSession, address: str) -> str:
    """What an endless answer gives at first."""
    async with session.get(address) as answer:
        with suppress(TimeoutError):
            return (await asyncio.wait_for(answer.content.read(100_000), 1)).decode()
    return ""


async def figures(settings: Settings) -> dict[str, str]:
    found = {}
    async with ClientSession() as session:
        for path in ("/metrics", "/healthz", "/readyz"):
            async with session.get(f"http://{settings.metrics_address}{path}") as answer:
                found[path] = await answer.text()
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
        streams += [cut for name in CUT for cut in cut_in_two(name.replace(" ", "-"), STREAMS[name])]
        await produce_tokens(settings, interleaved(*streams))
        results = [(name, encode(replace(RESULT, stream_id=name))) for name in SHOWN]
        await produce(settings, settings.topic_prefix + "llm.tool-results", results)
        outputs = await consumed(settings, "llm.outputs", len(streams), wait_s=90)
        assert len({record.key for record in outputs}) == len(streams)
        await asyncio.sleep(3)  # the sink stores and the learner counts what came last
        return await all_records(settings), await pages(settings) | await figures(settings)


def leaks_in_topics(records: dict[str, list], internal: set[str]) -> Iterator[tuple[str, object]]:
    """Marks behind clean, in headers, or before clean on a topic that isn't restricted; llm.tokens is the users' own."""
    for topic, found in records.items():
        for record in found:
            is_own = topic == "llm.tool-results" and record.value in OWN
            body = b"" if topic in RAW or is_own else (record.key or b"") + (record.value or b"")
            if leaked(body + b"".join(value for _, value in record.headers)):
                yield topic, record
    assert internal >= RAW - {"llm.tokens"}


def test_no_mark_leaves_what_is_restricted(running, tmp_path: Path, caplog, capfd) -> None:
    ring = tmp_path / "ring.json"
    ring.write_text(ring_text(RING))
    settings = replace(
        running.settings,
        topic_prefix="leak.",
        group_prefix="leak",
        audit_keys=f"file:{ring}",
        clickhouse_dsn=f"chdb://{tmp_path}/ch",
        metrics_address="127.0.0.1:18432",
    )
    with caplog.at_level(logging.DEBUG):
        records, shown = asyncio.run(asyncio.wait_for(flow(settings), 240))
    for topic in ("llm.parsed", "llm.steps", "llm.pattern-discovery", "llm.audit"):
        assert records[topic], topic
    assert len(records["llm.dead-letters"]) == 3
    topics = load_topology(settings).topics.items()
    internal = {name.removeprefix(settings.topic_prefix) for name, topic in topics if topic.access == "internal"}
    assert not list(leaks_in_topics(records, internal))
    for topic in RAW:
        assert any(leaked(record.value or b"") for record in records[topic]), f"no mark to look for on {topic}"
    kept = tables(settings)
    assert b"tool_result" in kept["steps"]
    for name, content in kept.items():
        assert not leaked(content), name
    assert len(shown) > 50
    assert 'llm_pii_masked_total{entity="PHONE"}' in shown["/metrics"]
    for address, page in shown.items():
        assert not leaked(page), address
    assert not leaked(registry(settings))
    assert not leaked(caplog.text)
    assert not leaked("".join(capfd.readouterr()))
    files = [path for path in Path(settings.data_dir).rglob("*") if path.is_file()]
    # Servers of one's own keep their logs elsewhere, and write no records into them.
    assert os.environ.get("HERMES_TEST_ENGINES") == "servers" or {"broker.log", "registry.log"} <= {
        p.name for p in files
    }
    for path in (*files, *(path for path in (tmp_path / "ch").rglob("*") if path.is_file())):
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
