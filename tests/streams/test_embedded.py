"""Embedded engines: they end with their parent in every case, and the registry's data stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from streams.embedded import engines
from streams.settings import ConfigError, ServerAwayError, Settings

pytestmark = pytest.mark.engines

PARENT = """
import sys, time
from streams.embedded import engines
from streams.settings import Settings
with engines(Settings(data_dir=sys.argv[1])) as started:
    print(*(engine.process.pid for engine in started.running), flush=True)
    time.sleep(60)
"""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_engines_end_when_their_parent_is_killed(tmp_path, number) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert len(pids) == 2
    assert all(is_alive(pid) for pid in pids)
    parent.send_signal(number)
    parent.wait(10)
    deadline = time.monotonic() + 5
    while any(is_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(is_alive(pid) for pid in pids)


def test_registry_keeps_its_data_and_wants_its_password(tmp_path) -> None:
    settings = Settings(data_dir=str(tmp_path))
    with engines(settings) as first:
        redis.Redis.from_url(first.settings.redis_url).set("kept", "1")
        port = first.running[1].port
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=port).get("kept")
    with engines(settings) as second:
        assert redis.Redis.from_url(second.settings.redis_url).get("kept") == b"1"


def test_engine_that_ended_by_itself_is_noticed(tmp_path) -> None:
    with engines(Settings(data_dir=str(tmp_path))) as started:
        started.check()
        os.kill(started.running[0].process.pid, signal.SIGKILL)
        started.running[0].process.wait(5)
        with pytest.raises(ServerAwayError, match="broker ended with code -9"):
            started.check()


def test_data_directory_has_one_user(tmp_path) -> None:
    settings = Settings(data_dir=str(tmp_path / "data"))
    with engines(settings), pytest.raises(ConfigError, match=f"in use by process {os.getpid()}"), engines(settings):
        pass
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ServerAwayError, match="HERMES_DATA_DIR"), engines(Settings(data_dir=str(blocked / "x"))):
        pass
