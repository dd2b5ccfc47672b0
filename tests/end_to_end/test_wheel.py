"""The wheel and the source archive, as `make dist` makes them: installed alone, `hermes-streams up` runs."""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "site", "*.egg-info", "__pycache__", "tests")


@pytest.mark.engines
def test_wheel_made_from_the_source_archive_runs_everything(tmp_path) -> None:
    """Dependencies are those of this environment: no index is asked, and no source folder is on the path."""
    shutil.copytree(ROOT, tmp_path / "source", ignore=LEFT_OUT)
    build = "import setuptools.build_meta as b; b.build_sdist('out')"
    subprocess.run([sys.executable, "-c", build], cwd=tmp_path / "source", check=True, capture_output=True)
    (archive,) = (tmp_path / "source" / "out").glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(unpacked)]
    subprocess.run(wheel, check=True, capture_output=True)

    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (made,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(made)], check=True, capture_output=True)
    (site / "dependencies.pth").write_text(next(path for path in sys.path if path.endswith("site-packages")))
    python = str(tmp_path / "venv" / "bin" / "python")
    where = [python, "-c", "import streams; print(streams.__file__)"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert (
        str(site) in subprocess.run(where, cwd=tmp_path, env=clean, check=True, capture_output=True, text=True).stdout
    )

    clean |= {"HERMES_DATA_DIR": str(tmp_path / "data")}
    up = subprocess.Popen([python, "-m", "streams", "up"], cwd=tmp_path, env=clean, stdout=subprocess.PIPE, text=True)
    try:
        said = [line.split()[0] for line in iter(up.stdout.readline, "running; Ctrl-C ends it\n")]
        example = site / "streams" / "examples" / "tee_openai.py"
        configured = clean | {"HERMES_CONFIG": str(tmp_path / "data" / "up.toml")}
        shown = subprocess.run(
            [python, str(example)], cwd=tmp_path, env=configured, check=True, capture_output=True, text=True, timeout=90
        ).stdout
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(60)
    assert {"kafka_bootstrap", "page"} <= set(said)
    assert 'call: get_weather {"city": "北京"} renamed' in shown
