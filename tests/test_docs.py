"""Generated pages and pictures are what their sources say, and every relative link leads somewhere."""

import importlib.util
import re
from pathlib import Path

import pytest

from streams.settings import Settings
from streams.topics import load_topology

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_picture_is_drawn_from_topics_yaml() -> None:
    assert (ROOT / "docs" / "flow.svg").read_text(encoding="utf-8") == script("draw").picture(load_topology(Settings()))


def test_failure_codes_page_is_made_from_the_enum() -> None:
    module = script("failure_codes")
    assert all(meaning for _, meaning in module.members(module.FailureCode))
    assert (ROOT / "docs" / "failure-codes.md").read_text(encoding="utf-8") == module.document()


def test_json_schemas_are_made_from_the_events() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "schemas" / "json").glob("*.json")}
    assert files == script("json_schemas").documents()


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("*.md")), ids=lambda path: path.name
)
def test_relative_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_architecture_page_names_every_module_of_streams() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+)/?`", page.partition("## Modules of `streams/`")[2])
    modules = {path.stem for path in (ROOT / "streams").glob("*.py")} - {"__init__", "__main__"}
    packages = {path.parent.name for path in (ROOT / "streams").glob("*/__init__.py")}
    assert (modules | packages) - set(named) == set()


def test_every_make_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE).group(1).split())
    explained = set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))
    assert targets == explained
