"""Everything that the packages read travels in the wheel."""

import json
import os
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKED = PROJECT["tool"]["setuptools"]["package-data"]
LEFT_OUT = {"grafana"}
"""Folders that are provisioned from the repository, and read by no package."""


@pytest.mark.parametrize("package", PACKED)
def test_package_data_names_every_file_beside_the_modules(package) -> None:
    missing = set()
    for folder, folders, names in os.walk(ROOT / package, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__" and name not in LEFT_OUT]
        for name in names:
            path = str((Path(folder) / name).relative_to(ROOT / package))
            is_module = name.endswith(".py") and Path(folder, "__init__.py").exists()
            patterns = [pattern.replace("**/", "*") for pattern in PACKED[package]]
            if not is_module and not any(fnmatch(path, pattern) for pattern in patterns):
                missing.add(path)
    assert missing <= {"panels/grafana.py"}


def test_packages_say_that_they_are_typed() -> None:
    assert all((ROOT / package / "py.typed").exists() for package in PACKED)


def test_bill_of_materials_names_every_pinned_package_with_its_hashes() -> None:
    said = subprocess.run(
        [sys.executable, ROOT / "deploy" / "sbom.py"], capture_output=True, check=True, text=True
    ).stdout
    bill = json.loads(said)
    lock = (ROOT / "requirements" / "runtime.lock").read_text(encoding="utf-8")
    pinned = [line.split("==")[0] for line in lock.splitlines() if "==" in line and not line.startswith(" ")]
    assert [component["name"] for component in bill["components"]] == pinned
    assert all(component["hashes"] and component["purl"].startswith("pkg:pypi/") for component in bill["components"])


def test_image_is_built_in_stages_and_runs_as_a_numbered_user() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("FROM ") for line in lines) == 2
    user = next(line.split()[1] for line in lines if line.startswith("USER "))
    assert int(user) > 0
