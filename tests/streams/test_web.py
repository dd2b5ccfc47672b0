"""The page over HTTP: each address on a full and on an empty store, hostile content, who may come in, what is sent."""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar

from schemas.output import Output
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.token import Meta
from schemas.trajectory import Step
from streams.registry_file import FileRegistry
from streams.settings import ConfigError, Settings
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from streams.web.app import start_web
from tests.streams.samples import executions, patterns, stats, week

NOW = time.time()
STATIC = Path(__file__).parent.parent.parent / "streams" / "web" / "static"
VENDORED = {
    "echarts-6.1.0.min.js": "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0",
    "htmx-4.0.1.min.js": "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
}
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "a\x00b", "\u202egnp.exe", "' OR 1=1 --",
    "javascript:alert(1)", "../../../etc/passwd", "%2e%2e%2f", "晴" * 5_000, "</textarea><svg onload=alert(1)>",
)  # fmt: skip
PAGES = (
    "/runs", "/runs?range=7d&outcome=failed", "/runs?range=7d&text=weather&tool=get_weather&agent=shop", "/runs?before=zzz",
    "/runs?since=2026-13-45&until=nonsense", "/failures?range=7d", "/failures?only=unlearned", "/failures/signature?signature=x",
    "/calls", "/calls?range=7d&tool=pay", "/patterns", "/dashboards", "/dashboards/tools", "/dashboards/behaviour", "/pipeline", "/sql", "/export", "/login",
)  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sink, str]]:
    dsn = f"chdb://{tmp_path_factory.mktemp('web')}"
    sink = Sink(dsn)
    sink.migrate()
    sink.write([*week(NOW * 1000, 120), *hostile(), *executions(NOW * 1000)])
    sink.write_stats(stats(int(NOW)))
    yield sink, dsn
    sink.close()


def hostile() -> Iterator[Step | Output]:
    for number, text in enumerate(HOSTILE):
        stream_id = f"bad/{number} {text[:30]}"
        meta = Meta(model=text[:50], run_id=stream_id, tenant="acme", attrs={"agent": text[:50]})
        detail = {
            "name": text[:100],
            "id": "call_0",
            "arguments": {text[:80]: text},
            "repairs": [{"code": text[:40], "rule": text[:40]}],
        }
        yield Step(stream_id=stream_id, run_id=stream_id, tenant="acme", order=0, kind="tool_call", status=text[:30], text=text,
                   detail=detail, ts=NOW * 1000 - 5_000)  # fmt: skip
        yield Output(stream_id=stream_id, response=text, meta=meta, ts=NOW * 1000 - 4_000)


@asynccontextmanager
async def served(dsn: str, **changes: object) -> AsyncIterator[tuple[ClientSession, str]]:
    registry = changes.pop("registry", None)
    reader = Reader(dsn)
    settings = replace(Settings(), data_dir="/nonexistent", web_port=0, **changes)
    try:
        page = await start_web(reader, settings, registry)
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
            try:
                yield session, page.url
            finally:
                await page.close()
    finally:
        reader.close()


def over_http(dsn: str, check: Callable[[ClientSession, str], Awaitable[None]], **changes: object) -> None:
    async def run() -> None:
        async with served(dsn, **changes) as (session, url):
            await check(session, url)

    asyncio.run(run())


async def text_of(session: ClientSession, address: str, status: int = 200, **given: object) -> str:
    async with session.get(address, **given) as response:
        body = await response.text()
        assert response.status == status, (address, body[:500])
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        return body


def test_each_page_answers(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        for address in PAGES:
            assert "<h1" in await text_of(session, url + address)
        listed = await text_of(session, f"{url}/runs?range=7d")
        found = re.findall(r'href="(/runs/run-[^"?]+)"', listed)
        assert len(found) >= 30
        for tab in ("timeline", "transcript", "pipeline", "json"):
            body = await text_of(session, f"{url}{found[3]}?tab={tab}")
            assert f'<a href="?tab={tab}" aria-current="page">' in body
        for address in re.findall(r'hx-get="(/runs/[^"]*/steps/[^"]*)"', await text_of(session, url + found[3])):
            assert "<h2>" in await text_of(session, url + address, headers={"HX-Request": "true"})
        assert "running" in await text_of(session, f"{url}/runs/run-live")

    over_http(stored[1], check)


def test_an_empty_store_says_what_to_do(tmp_path_factory: pytest.TempPathFactory, stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        for address in PAGES:
            await text_of(session, f"{url}{address}{'&' if '?' in address else '?'}tenant=nobody")
        assert "No run matches" in await text_of(session, f"{url}/runs?tenant=nobody")
        assert "No runs in this time" in await text_of(session, f"{url}/runs?since=2026-01-01&until=2026-01-02")
        assert "There is no such run" in await text_of(session, f"{url}/runs/nothing", 404)

    over_http(stored[1], check)


def test_pages_of_older_runs_have_each_run_once(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        address, seen = "/runs?range=7d&text=&tenant=acme", []
        for _ in range(10):
            body = await text_of(session, url + address)
            seen += re.findall(r'<tr id="run-([^"]+)"', body)
            following = re.search(r'rel="next" href="([^"]+)"', body)
            if not following:
                break
            address = "/runs" + following[1].replace("&amp;", "&")
        assert len(seen) == len(set(seen)) == 121 + len(HOSTILE)

    over_http(stored[1], check)


def test_hostile_content_is_only_ever_text(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        listed = await text_of(session, f"{url}/runs")
        addresses = set(re.findall(r'href="(/runs/bad[^"?]+)"', listed))
        assert len(addresses) == len(HOSTILE)
        for address in addresses:
            for tab in ("timeline", "transcript", "pipeline", "json"):
                body = await text_of(session, f"{url}{address}?tab={tab}")
                assert not re.search(r"<script>alert|<img src=x|<svg onload|49</|\x00|\u202e", body)
            await text_of(
                session, url + re.findall(r'hx-get="([^"]*/steps/[^"]*)"', await text_of(session, url + address))[0]
            )
        for text in HOSTILE:
            for name in ("text", "agent", "tool", "model", "session", "error", "tenant", "before", "range", "outcome"):
                body = await text_of(session, f"{url}/runs", params={name: text[:300]})
                assert "<script>alert" not in body
                assert "<img src=x" not in body

    over_http(stored[1], check)


def test_sql_is_read_only_and_its_errors_are_shown(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        async with session.post(
            f"{url}/sql", data={"sql": "SELECT 40 + 2 AS x"}, headers={"HX-Request": "true"}
        ) as answer:
            assert "42" in await answer.text()
        async with session.post(f"{url}/sql", data={"sql": "SELECT '=1+1' AS x", "as": "csv"}) as answer:
            assert (await answer.text()).split() == ["x", "'=1+1"]
        for sql in ("DROP TABLE steps", "SELECT * FROM file('/etc/hostname', 'LineAsString')", "SELECT nonsense"):
            async with session.post(f"{url}/sql", data={"sql": sql}) as answer:
                assert "did not take it" in await answer.text()
        async with session.post(
            f"{url}/api/sql", json={"sql": "SELECT count() AS n FROM steps WHERE kind = 'x'"}
        ) as answer:
            assert await answer.json() == {"columns": ["n"], "rows": [{"n": 0}]}
        for body in (b"", b"[]", b"{}", b"{"):
            async with session.post(f"{url}/api/sql", data=body) as answer:
                assert (answer.status, "error" in await answer.json()) == (400, True)

    over_http(stored[1], check)


def test_panels_answer_as_json(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        async with session.get(f"{url}/api/panels/01_runs_by_outcome?range=7d&tenant=acme") as answer:
            panel = await answer.json()
        assert (panel["chart"], panel["columns"]) == ("bars", ["hour", "outcome", "runs"])
        assert sum(row[2] for row in panel["rows"]) == 121 + len(HOSTILE)

    over_http(stored[1], check)


def test_a_change_must_come_from_the_page_and_names_must_be_ours(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        async with session.post(
            f"{url}/sql", data={"sql": "SELECT 1"}, headers={"Origin": "https://evil.example"}
        ) as answer:
            assert answer.status == 403
        async with session.get(f"{url}/runs", headers={"Host": "evil.example"}) as answer:
            assert answer.status == 421

    over_http(stored[1], check)


def test_a_token_is_asked_for_when_one_is_set(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        async with session.get(f"{url}/runs") as answer:
            assert answer.url.path == "/login"
        async with session.get(f"{url}/api/panels/01_runs_by_outcome") as answer:
            assert answer.status == 401
        async with session.get(f"{url}/runs", headers={"Authorization": "Bearer secret"}) as answer:
            assert answer.url.path == "/runs"
        async with session.post(f"{url}/login", data={"token": "wrong"}) as answer:
            assert "not the token" in await answer.text()
        async with session.post(f"{url}/login", data={"token": "secret"}) as answer:
            assert answer.url.path == "/runs"
        assert "<h1" in await text_of(session, f"{url}/patterns")

    over_http(stored[1], check, web_token="secret")


def test_another_address_than_loopback_needs_a_token(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        raise AssertionError

    with pytest.raises(ConfigError, match="HERMES_WEB_TOKEN"):
        over_http(stored[1], check, web_host="0.0.0.0")


def test_a_new_run_is_in_the_live_list_within_a_second(stored: tuple[Sink, str]) -> None:
    sink, dsn = stored

    async def check(session: ClientSession, url: str) -> None:
        async with session.get(f"{url}/live/runs") as events:
            assert await events.content.readline() == b": live\n"
            step = Step(stream_id="fresh", tenant="acme", order=0, kind="response", text="hello", ts=time.time() * 1000)
            started = time.monotonic()
            await asyncio.to_thread(sink.write, [step])
            while not (line := await asyncio.wait_for(events.content.readline(), 10)).startswith(b"data:"):
                pass
            took = time.monotonic() - started
        assert 'id="run-fresh"' in json.loads(line[5:])["html"]
        assert took < 1.0

    over_http(dsn, check)


def test_a_pattern_is_approved_from_the_page(stored: tuple[Sink, str], tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path / "registry.jsonl")
    waiting: Pattern = patterns(NOW * 1000)[-1]

    async def check(session: ClientSession, url: str) -> None:
        await registry.publish([waiting])
        assert ">Approve<" in await text_of(session, f"{url}/patterns/{waiting.id}")
        async with session.post(f"{url}/patterns/{waiting.id}/approve") as answer:
            assert (answer.status, "Done: approve" in await answer.text()) == (200, True)
        entry = next(iter((await registry.snapshot()).entries.values()))
        assert (entry.state, entry.evidence[-1].step) == (PatternState.ACTIVE, "approve by a person")
        async with session.post(f"{url}/patterns/{waiting.id}/approve") as answer:
            assert answer.status == 404

    over_http(stored[1], check, registry=registry)


FORMAT = {
    "id": "act", "models": ["made-up"], "source": "a test", "counter_examples": ["Plain text."],
    "calls": [{"open": ["<|act|>"], "close": ["<|end_act|>"], "body": "json_object"}],
    "examples": [{"text": '<|act|>{"name": "search", "arguments": {"q": "x"}}<|end_act|>',
                  "calls": [{"name": "search", "arguments": {"q": "x"}}]}],
}  # fmt: skip


def test_a_dry_run_shows_what_a_candidate_would_do(stored: tuple[Sink, str], tmp_path: Path) -> None:
    registry = FileRegistry(tmp_path / "registry.jsonl")
    good = Pattern(
        id="act", version=1, kind=PatternKind.FORMAT, definition=FORMAT, state=PatternState.CANDIDATE,
        positives=(FORMAT["examples"][0]["text"], "no markers: nothing to mend"), negatives=("Plain text.",),
    )  # fmt: skip

    async def check(session: ClientSession, url: str) -> None:
        await registry.publish([good])
        body = await text_of(session, f"{url}/patterns/act/trial")
        assert "<b>2 of 3</b> samples come out as wanted" in body
        assert next(iter((await registry.snapshot()).entries.values())).state == PatternState.CANDIDATE
        assert "The definition is refused" in await text_of(session, f"{url}/patterns/fmt-act/trial", 400)
        await text_of(session, f"{url}/patterns/none/trial", 404)

    over_http(stored[1], check, registry=registry)


def test_vendored_files_are_what_was_reviewed_and_have_their_licences() -> None:
    for name, digest in VENDORED.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest
        assert (STATIC / f"{name.removesuffix('.min.js')}.LICENSE.txt").is_file()
    assert {path.name for path in STATIC.glob("*.min.js")} == set(VENDORED)


def test_nothing_is_loaded_from_elsewhere() -> None:
    own = [
        path
        for path in STATIC.parent.rglob("*")
        if path.suffix in {".html", ".css", ".js"} and path.name not in VENDORED
    ]
    assert len(own) > 15
    for path in own:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|(?:src|href)=\"//|@import", text), path
        assert "url(" not in text or path.suffix == ".html", path
        assert not re.search(r"<script>|<style| style=| on\w+=\"", text), f"{path}: the policy forbids inline code"


def test_calls_are_shown_as_being_done_to_come_and_done(stored: tuple[Sink, str]) -> None:
    async def check(session: ClientSession, url: str) -> None:
        body = await text_of(session, f"{url}/calls")
        parts = re.split(r"<h2>(Being done now|What comes next|Done) ", body)
        sections = {parts[place]: parts[place + 1] for place in (1, 3, 5)}
        rows = {name: re.findall(r"/steps/(\d)/0", text) for name, text in sections.items()}
        assert rows == {"Being done now": ["4"], "What comes next": ["5"], "Done": ["3", "2", "1", "0"]}
        assert "余额不足 &lt;script&gt;" in sections["Done"]
        assert 'href="/patterns/vip-refund"' in sections["Done"]
        assert "steps_max is 15: a person raises it" in parts[0]
        only = await text_of(session, f"{url}/calls?tool=pay")
        assert "No call is running" in only
        assert "No call was dispatched" in await text_of(session, f"{url}/calls?since=2026-01-01&until=2026-01-02")
        run = await text_of(session, f"{url}/runs/run-live")
        assert re.search(r"Done</h2>.*4 calls: .*1 ok", run, re.DOTALL)
        assert re.search(r"Running now</h2>.*get_weather .*Next</h2><p>mail ", run, re.DOTALL)

    over_http(stored[1], check)
