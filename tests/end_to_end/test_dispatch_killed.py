"""No side effect happens twice, whenever a dispatcher is killed; what is not known to have happened is said to be so."""

import asyncio
import os
import subprocess
import sys
import time
from uuid import uuid4

import orjson
import pytest

from schemas.wire import encode
from streams.settings import environment_of
from tests.end_to_end.dispatching import ROOT, TOOLS, killed, paying
from tests.streams.flow import consumed, prepared, produce

pytestmark = pytest.mark.engines


def test_no_side_effect_happens_twice_in_twelve_kills(running, tmp_path) -> None:
    found = killed(running.settings.redis_url, tmp_path, kills=12, seed=1)
    assert found.kills >= 12
    assert set(found.effects) == {1}
    assert sum(found.statuses.values()) == found.calls
    # Each answer is of a call that took effect; those that took effect without one are among the lost.
    assert found.statuses["ok"] <= found.effects[1] <= found.statuses["ok"] + found.statuses["system_error"]
    assert found.is_stable


def test_the_command_is_killed_between_its_two_topics_and_no_payment_happens_twice(running, tmp_path) -> None:
    async def main():
        settings, _ = await prepared(running.settings, f"k{uuid4().hex[:6]}.")
        values = [(f"s{stream}", encode(paying(stream))) for stream in range(150)]
        await produce(settings, f"{settings.topic_prefix}llm.outputs", values)
        file = tmp_path / "effects"
        environment = os.environ | environment_of(settings) | {"EFFECTS": str(file)}
        command = [sys.executable, "-m", "streams", "run", "dispatch", "--tools", str(TOOLS), "--permit", "pay"]
        for kill in range(2):
            process = _started(command, environment)
            await asyncio.to_thread(_wait_for_lines, file, 40 * (kill + 1))
            process.kill()
            process.wait()
        process = _started(command, environment)
        records = await consumed(settings, "llm.tool-results", 300, extra_s=3)
        process.terminate()
        assert process.wait(20) == 0
        return [orjson.loads(record.value) for record in records], file.read_text(encoding="utf-8").split()

    results, effects = asyncio.run(main())
    assert len({(result["stream_id"], result["call_id"]) for result in results}) == 300
    assert len(effects) == len(set(effects))


def _started(command: list[str], environment: dict[str, str]) -> subprocess.Popen:
    return subprocess.Popen(command, cwd=ROOT, env=environment)


def _wait_for_lines(file, count: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and (not file.exists() or file.read_bytes().count(b"\n") < count):
        time.sleep(0.01)
