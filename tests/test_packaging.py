"""Everything that the packages read travels in the wheel."""

import os
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
