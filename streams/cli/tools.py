"""`tools add|import|list|show|remove`: the tools that calls are checked against."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import orjson
import typer

from processors.snapshot import Snapshot
from processors.tools.definition import index_line
from schemas.jsonvalue import JsonObject
from schemas.pattern import PatternKind, PatternState
from streams import tool_registry
from streams.cli.registry import run_with
from streams.cli.show import say, show
from streams.settings import ConfigError
from streams.tool_registry import Outcome

group = typer.Typer(help="The tools that calls are checked against.", no_args_is_help=True)
REGISTRY = typer.Option("--registry", help="A file or a redis:// address; the configured Redis if none is given.")
SOURCE = typer.Argument(metavar="FILE", help="JSON or YAML (OpenAI, Anthropic, MCP, OpenAPI), or Python source.")
DRY_RUN = typer.Option("--dry-run", help="Only say what would change.")
AS_JSON = typer.Option("--json", help="JSON lines instead of a table.")


@group.command("add")
def add(
    source: Annotated[Path, SOURCE],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, DRY_RUN] = False,
) -> None:
    """Register the one tool of a file; a registered one of that name gets a new version."""
    tools = tool_registry.read_tools(source)
    if len(tools) != 1:
        raise ConfigError(f"{source}: holds {len(tools)} tools; use `tools import` for several")
    _register(registry, tools, str(source.name), dry_run=dry_run)


@group.command("import")
def import_tools(
    source: Annotated[Path, SOURCE],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, DRY_RUN] = False,
) -> None:
    """Register all tools of a file in one change; nothing is registered if one is malformed."""
    _register(registry, tool_registry.read_tools(source), str(source.name), dry_run=dry_run)


@group.command("list")
def list_tools(
    registry: Annotated[str | None, REGISTRY] = None,
    everything: Annotated[bool, typer.Option("--all", help="Removed tools too.")] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """One line for each tool: the index that a model is shown first."""
    states = tuple(PatternState) if everything else (PatternState.ACTIVE,)
    rows = [
        {
            "tool": entry.id,
            "does": index_line(entry.definition),
            "required": entry.definition["parameters"].get("required", []),
            "version": entry.version,
            "state": str(entry.state),
        }
        for entry in _snapshot(registry).of(PatternKind.TOOL, *states)
    ]
    show(rows, ("tool", "does", "required", "version", *(["state"] if everything else [])), as_json=as_json)


@group.command("show")
def show_tool(
    name: Annotated[str, typer.Argument(help="A tool's name.")],
    registry: Annotated[str | None, REGISTRY] = None,
) -> None:
    """The whole definition of one tool, with version and history, as JSON."""
    entry = _snapshot(registry).get(PatternKind.TOOL, name)
    if entry is None:
        raise ConfigError(f"no tool is named {name!r}; `tools list` has the names")
    say(asdict(entry), orjson.dumps(asdict(entry), option=orjson.OPT_INDENT_2).decode())


@group.command("remove")
def remove(
    names: Annotated[list[str], typer.Argument(help="Names of tools.")],
    registry: Annotated[str | None, REGISTRY] = None,
) -> int:
    """Take tools out of use; entries and history stay. Exit code 1 if one was not there."""
    outcomes = run_with(registry, lambda one: tool_registry.remove_tools(one, names, time.time() * 1000))
    _say(outcomes)
    return 1 if any(outcome.done == "not there" for outcome in outcomes) else 0


def _register(where: str | None, tools: Sequence[JsonObject], source: str, *, dry_run: bool) -> None:
    now = time.time() * 1000
    if dry_run:
        outcomes, _ = tool_registry.plan(_snapshot(where), tools, source, now)
    else:
        outcomes = run_with(where, lambda one: tool_registry.add_tools(one, tools, source, now))
    _say(outcomes, "would be " if dry_run else "")


def _say(outcomes: Sequence[Outcome], how: str = "") -> None:
    for outcome in outcomes:
        version = f" (version {outcome.version})" if outcome.version else ""
        row = {"tool": outcome.name, "done": outcome.done, "version": outcome.version, "is_dry_run": bool(how)}
        say(row, f"{outcome.name}: {how}{outcome.done}{version}")


def _snapshot(where: str | None) -> Snapshot:
    return run_with(where, lambda registry: registry.snapshot())


def register(app: typer.Typer) -> None:
    """Add `tools` to the program."""
    app.add_typer(group, name="tools")
