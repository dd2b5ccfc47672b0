"""Looking back at a call in the tables: by Python, over HTTP, with the page's button, and by command."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from aiohttp import ClientSession
from typer.testing import CliRunner

from processors.learning.lifecycle import Approval
from processors.retrospection.contract import read_contracts
from processors.retrospection.watch import Surveyed
from schemas.output import Output
from schemas.pattern import PatternKind
from schemas.token import Meta
from schemas.toolcall import ToolResult
from schemas.trajectory import Step
from streams.cli.app import program
from streams.looking_back import Asked, looked_back
from streams.registry_file import FileRegistry
from streams.settings import environment_of
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from tests.streams.test_web import over_http, text_of

NOW_MS = time.time() * 1000
CONTRACTS = Path(__file__).parent.parent.parent / "examples" / "vip_refunds.toml"
SURVEYED = Surveyed(contracts=read_contracts(CONTRACTS.read_text(encoding="utf-8")))


def call(number: int, tier: str, status: str = "ok") -> Iterator[Step | Output | ToolResult]:
    """A stream with one refund, and what came of it."""
    stream_id, run_id = f"s{number}", f"run{number}"
    ts = NOW_MS - 3_600_000 + number
    arguments = {"order": f"A{number}", "amount": 20, "tier": tier, "note": "x" * (5_000 if number == 7 else 0)}
    detail = {"id": "call_0", "name": "refund", "arguments": arguments}
    meta = Meta(run_id=run_id)
    yield Step(stream_id=stream_id, run_id=run_id, order=0, kind="tool_call", detail=detail, ts=ts)
    yield Output(stream_id=stream_id, meta=meta, ts=ts)
    content = (
        {"state": "refunded"} if status == "ok" else {"rule": "business", "kind": "BusinessFailure", "pad": "p" * 300}
    )
    error = None if status == "ok" else "instant settlement declined for mail@example.com"
    yield ToolResult(stream_id=stream_id, call_id="call_0", status=status, content=content, error=error, duration_ms=5)


@pytest.fixture(scope="module")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = f"chdb://{tmp_path_factory.mktemp('back')}/clickhouse"
    sink = Sink(place)
    sink.migrate()
    sink.write([one for n in range(1_020) for one in call(n, ("normal", "plus")[n % 2])])
    sink.write([*call(5_000, "vip", "business_failure"), *call(6_000, "plus")])
    yield place
    sink.close()


@pytest.fixture
def reader(dsn) -> Iterator[Reader]:
    found = Reader(dsn)
    yield found
    found.close()


@pytest.mark.parametrize(
    "asked", [Asked(id="s5000"), Asked(id="run5000", why="why?"), Asked(id="s5000", call="call_0")]
)
def test_a_failed_call_is_found_by_stream_run_and_call(reader, asked) -> None:
    found = looked_back(reader, asked, SURVEYED, Approval.AUTO)
    said = found.retrospection
    assert (said.trigger, said.deviation, said.cause, said.run_id) == (
        "explicit",
        "unhandled",
        "skipped_fallback",
        "run5000",
    )
    assert found.entry.definition["trigger"]["context"] == [{"path": "tier", "op": "eq", "value": "vip"}]
    assert said.evidence_trace[-1].data["good"] == 1_021
    assert "example.com" not in str(found)


def test_what_is_not_there_or_in_order_gives_nothing(reader) -> None:
    for asked in (Asked(id="nothing"), Asked(id="s6000"), Asked(id="s5000", call="call_9")):
        assert looked_back(reader, asked, SURVEYED, Approval.AUTO) is None


def test_without_a_contract_one_failure_teaches_nothing(reader) -> None:
    found = looked_back(reader, Asked(id="s5000"), Surveyed(), Approval.AUTO)
    assert (found.retrospection.deviation, found.entry) == ("failed", None)
    assert found.retrospection.advice


def test_the_api_answers_and_applies_only_when_asked(dsn, tmp_path) -> None:
    registry = FileRegistry(tmp_path / "registry.json")

    async def post(session: ClientSession, url: str, body: object, status: int = 200) -> dict:
        async with session.post(f"{url}/api/retrospect", json=body) as response:
            assert response.status == status
            return await response.json()

    async def check(session: ClientSession, url: str) -> None:
        asked = {"id": "s5000", "why": "a test"}
        first = await post(session, url, asked)
        assert (first["retrospection"]["cause"], first["changed"]) == ("skipped_fallback", [])
        assert not (await registry.snapshot()).entries
        again = await post(session, url, {**asked, "apply": True})
        assert again["changed"] == [f"strategy/{first['retrospection']['strategy']}: canary"]
        assert (await post(session, url, {**asked, "apply": True}))["changed"] == []
        assert (await registry.snapshot()).of(PatternKind.STRATEGY, "canary")
        assert (await post(session, url, {"id": "nothing"}))["retrospection"] is None
        for wrong in ({}, [], {"id": 1}, {"id": "s5000", "call": None}, "x"):
            assert "body must be" in (await post(session, url, wrong, 400))["error"]

    over_http(dsn, check, registry=registry, retrospect_contracts=str(CONTRACTS))


def test_the_button_shows_the_evidence_and_tries_the_strategy(dsn, tmp_path) -> None:
    registry = FileRegistry(tmp_path / "registry.json")

    async def check(session: ClientSession, url: str) -> None:
        step = await text_of(session, f"{url}/runs/run5000/streams/s5000/steps/0/0")
        (address,) = re.findall(r'action="([^"]+/retrospect)"', step)
        async with session.post(url + address) as response:
            body = await response.text()
        assert "skipped fallback" in body
        assert [
            name for name in ("trigger", "chain", "deviation", "cause", "tried") if f". {name}</b>" not in body
        ] == []
        assert "Try it as a canary" in body
        async with session.post(url + address, data={"apply": "yes"}) as response:
            assert "In the registry" in await response.text()
        async with session.post(url + address, data={"apply": "yes"}) as response:
            assert "Nothing was changed" in await response.text()
        async with session.post(f"{url}/runs/run6000/streams/s6000/calls/call_0/retrospect") as response:
            assert "Nothing to look back at" in await response.text()
        (entry,) = (await registry.snapshot()).of(PatternKind.STRATEGY, "canary")
        trial = await text_of(session, f"{url}/patterns/{entry.id}/trial")
        assert "<b>21 of 21</b>" in trial
        fine = await text_of(session, f"{url}/runs/run6000/streams/s6000/steps/0/0")
        assert "retrospect" not in fine
        async with session.post(url + address, headers={"Origin": "https://elsewhere.example"}) as response:
            assert response.status == 403

    over_http(dsn, check, registry=registry, retrospect_contracts=str(CONTRACTS))


def test_the_command_prints_the_evidence_and_exits_with_1_where_there_is_nothing(
    dsn, monkeypatch, running, tmp_path
) -> None:
    settings = replace(running.settings, clickhouse_dsn=dsn, data_dir=str(tmp_path), topic_prefix="back.")
    for name, value in environment_of(settings).items():
        monkeypatch.setenv(name, value)
    app = program(["retrospect"])

    def said(*arguments: str):
        return CliRunner().invoke(app, ["retrospect", *arguments])

    answer = said("call", "s5000", "--contracts", str(CONTRACTS))
    assert answer.exit_code == 0
    assert answer.output.splitlines()[0] == "refund s5000/call_0: unhandled, skipped_fallback"
    assert "strategy: calls of refund with tier = vip go to a person" in answer.output
    applied = said("call", "s5000", "--contracts", str(CONTRACTS), "--apply", "--json")
    (changed,) = orjson.loads(applied.output)["changed"]
    assert changed.endswith(": canary")
    listed = said("strategies", "--json")
    assert orjson.loads(listed.output)["state"] == "canary"
    assert said("call", "nothing").exit_code == 1
