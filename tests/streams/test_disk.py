"""A disk that is full or can't be written: a message that says what to do, code 3 or waiting in place, nothing lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from streams.cli.app import main
from streams.disk import TO_DO, is_disk_trouble, must_be_writable
from streams.settings import ServerAwayError

ROOT = Path(__file__).parent.parent.parent
FULL_FOR_A_WHILE = """
import random, resource, sys, time
from schemas.trajectory import Step
from streams.settings import ServerAwayError
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink

def batch(number):
    text = [random.Random(f"{number}-{at}").randbytes(3_000).hex() for at in range(100)]
    now = time.time() * 1000
    return [Step(stream_id=f"s{number}-{at}", order=0, kind="response", text=one, ts=now) for at, one in enumerate(text)]

sink = Sink(sys.argv[1])
sink.migrate()
sink.write(batch(0))
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
for _ in range(2):
    try:
        sink.write(batch(1))
    except ServerAwayError as error:
        print("waits:", error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
sink.write(batch(1))
sink.close()
print(Reader(sys.argv[1]).query("SELECT count(), uniqExact(stream_id) FROM steps FINAL").rows)
"""


@pytest.mark.parametrize(
    ("said", "is_trouble"),
    [
        ("Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)", True),
        ("Cannot write to file /x, errno: 28, strerror: No space left on device", True),
        ("Cannot open file /x/status: , errno: 13, strerror: Permission denied. (CANNOT_OPEN_FILE)", True),
        ("Cannot open file /x/status: , errno: 30, strerror: Read-only file system.", True),
        ("[Errno 122] Disk quota exceeded", True),
        ("Type mismatch in column run_id (TYPE_MISMATCH)", False),
        ("Memory limit exceeded, errno: 2", False),
    ],
)
def test_complaints_about_the_disk_are_told_from_others(said: str, is_trouble: bool) -> None:
    assert is_disk_trouble(ValueError(said)) is is_trouble


@pytest.mark.parametrize("folder", ["/proc/none/data", "/proc/self"])
def test_a_folder_that_cannot_be_written_is_said_with_what_to_do(folder: str) -> None:
    with pytest.raises(ServerAwayError) as raised:
        must_be_writable(Path(folder), "HERMES_DATA_DIR")
    said = str(raised.value)
    assert said.startswith(f"HERMES_DATA_DIR: {folder} can't be written: ")
    assert said.endswith(TO_DO)


@pytest.mark.parametrize("command", [("up",), ("demo",)])
def test_commands_end_with_code_3_on_such_a_folder(command: tuple[str, ...], monkeypatch, capsys) -> None:
    monkeypatch.setenv("HERMES_DATA_DIR", "/proc/none/data")
    with pytest.raises(SystemExit) as ended:
        main([*command])
    assert ended.value.code == 3
    assert "/proc/none/data can't be written" in capsys.readouterr().err


def test_a_batch_that_found_no_space_is_stored_once_when_there_is_some(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_FOR_A_WHILE, f"chdb://{tmp_path / 'store'}"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-2_000:]
    assert [line.split(":")[0] for line in lines[:2]] == ["waits", "waits"]
    assert all(line.endswith(TO_DO) for line in lines[:2])
    assert lines[2] == "[(200, 200)]"
