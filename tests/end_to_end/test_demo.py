"""The demo, as `make demo` runs it: every stream has one output, and the tables as many."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.engines
def test_demo_has_one_output_for_each_stream_and_as_many_rows(tmp_path) -> None:
    command = [sys.executable, "-m", "streams", "demo", "--repeat", "3", "--json"]
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": root}
    done = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    figures = json.loads(done.stdout)
    assert figures["outputs"] == figures["streams"] == figures["rows"]["streams"] >= 96
    assert figures["doubled"] == 0
    assert len(figures["formats"]) >= 12
    assert {"EMAIL", "PHONE", "ID_CARD", "API_KEY"} <= figures["pii"].keys()
    learned = figures["learned"]
    assert learned["first_read"] < learned["first"]
    assert learned["later_read"] >= 0.9 * learned["later"] > 0
