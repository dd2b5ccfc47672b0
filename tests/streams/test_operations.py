"""doctor, lag, dead-letters and replay on a running broker."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from processors.snapshot import Snapshot
from schemas.token import Token
from streams.cli.app import main
from streams.settings import environment_of
from streams.stage import chains
from streams.tokens_to_outputs import hot_path
from streams.worker import Worker
from tests.streams.flow import consumed, prepared, produce, produce_tokens, stream

pytestmark = pytest.mark.engines


async def worked(settings, topology, count: int) -> None:
    snapshot = Snapshot()
    builds = hot_path(lambda: snapshot)
    (chain,) = chains(
        topology, builds, [b.name for b in builds], group_prefix=settings.group_prefix, publish_between=False
    )
    worker, stop = Worker(settings, topology, chain), asyncio.Event()
    task = asyncio.create_task(worker.run(stop))
    await consumed(settings, "llm.outputs", count)
    stop.set()
    await task


@pytest.fixture
def call(monkeypatch, capfd):
    def run(settings, *arguments: str) -> tuple[int, str]:
        for name, value in environment_of(settings).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
        return leaving.value.code or 0, capfd.readouterr().out

    return run


def test_lag_dead_letters_and_replay(running, call, tmp_path) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "ops.")
        await produce_tokens(settings, [t for i in range(3) for t in stream(f"s{i}", "<think>plan</think>", "answer")])
        await produce(settings, "ops.llm.tokens", [("x", b"\xff"), ("y", b'{"seq":1}')])
        await worked(settings, topology, 3)
        return settings

    settings = asyncio.run(flow())
    code, out = call(settings, "lag", "--json")
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert (code, row["lag"], row["end"]) == (0, 0, 8)

    code, out = call(settings, "dead-letters", "list", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["code"] for row in rows] == ["undecodable"] * 2
    code, out = call(settings, "dead-letters", "show", next(row["at"] for row in rows if row["bytes"] > 1))
    assert (code, out) == (0, '{"seq":1}\n')
    assert call(settings, "dead-letters", "show", "0:99")[0] == 2
    assert call(settings, "dead-letters", "replay", "--dry-run")[1] == "would send back 2 records\n"
    assert call(settings, "dead-letters", "replay", "--code", "undecodable")[1] == "sent back 2 records\n"
    assert json.loads(call(settings, "lag", "--json")[1])["lag"] == 2

    code, out = call(settings, "replay", "--topic", "ops.llm.dead-letters", "--json")
    assert (code, out) == (0, "")

    code, out = call(replace(settings, clickhouse_dsn=f"chdb://{tmp_path}"), "doctor", "--json")
    rows = {row["what"]: row for row in map(json.loads, out.splitlines())}
    assert code == 1
    assert (rows["Kafka"]["well"], rows["Redis"]["well"], rows["ClickHouse"]["well"]) == ("yes", "yes", "yes")
    assert rows["dead letters"]["to_do"] == "hermes-streams dead-letters list"


def test_replay_shows_which_streams_another_version_reads_differently(running, call) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "again.")
        await produce_tokens(settings, stream("a", "x", "y"))
        await worked(settings, topology, 1)
        output = b'{"schema":"output/1","stream_id":"a","response":"changed"}'
        await produce(settings, "again.llm.outputs", [("a", output)])
        await produce_tokens(settings, [Token(stream_id="b", seq=0, text="z", done=True)])
        return settings

    code, out = call(asyncio.run(flow()), "replay", "--json")
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert (code, row["stream_id"]) == (1, "a")
    assert "response" in row["fields"]


def test_doctor_names_what_is_away(call, tmp_path) -> None:
    from streams.settings import Settings

    settings = Settings(
        kafka_bootstrap="127.0.0.1:1",
        redis_url="redis://127.0.0.1:1/0",
        clickhouse_dsn="http://127.0.0.1:1/x",
        data_dir=str(tmp_path),
    )
    code, out = call(settings, "doctor", "--json")
    rows = {row["what"]: row for row in map(json.loads, out.splitlines())}
    assert code == 1
    assert [rows[what]["well"] for what in ("Kafka", "Redis", "ClickHouse", "disk")] == ["NO", "NO", "NO", "yes"]
    assert "127.0.0.1:1" in rows["Kafka"]["detail"]


def test_up_hands_its_addresses_to_other_commands(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HERMES_DATA_DIR", str(tmp_path))
    up = subprocess.Popen([sys.executable, "-m", "streams", "up"], stdout=subprocess.PIPE, text=True)
    file = tmp_path / "up.toml"
    try:
        assert any(line.startswith("running") for line in up.stdout)
        assert file.stat().st_mode & 0o777 == 0o600
        doctor = subprocess.run(
            [sys.executable, "-m", "streams", "doctor", "--json"],
            env={**os.environ, "HERMES_CONFIG": str(file)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert {row["what"]: row["well"] for row in map(json.loads, doctor.stdout.splitlines())} == {
            "Kafka": "yes", "dead letters": "yes", "Redis": "yes", "ClickHouse": "yes", "disk": "yes",
        }  # fmt: skip
    finally:
        up.send_signal(signal.SIGINT)
        assert up.wait(30) == 0
        up.stdout.close()
    assert not file.exists()
