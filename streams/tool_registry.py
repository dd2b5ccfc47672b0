"""Tools in a registry: a file of definitions in, entries of kind `tool` out.

Files are JSON or YAML (OpenAI, Anthropic, MCP, OpenAPI) or Python source; processors/tools knows the forms. YAML is
read here and in topics.py only, because OpenAPI documents are mostly written in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import orjson
import yaml

from processors.snapshot import Snapshot
from processors.tools.definition import ToolFormatError
from processors.tools.from_json import tools_of
from processors.tools.from_python import tools_of_python
from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from streams.registry_changes import Registry, edit, following
from streams.settings import ConfigError

FILE_BYTES_MAX = 50_000_000
VALUES_MAX = 2_000_000
DEPTH_MAX = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one tool."""

    name: str
    done: Literal["added", "updated", "unchanged", "removed", "not there"]
    version: int = 0


def read_tools(path: Path) -> list[JsonObject]:
    """The tools of a file; raises ConfigError, which names file and place."""
    try:
        data = path.read_bytes()
        if len(data) > FILE_BYTES_MAX:
            raise ConfigError(f"{path}: longer than {FILE_BYTES_MAX} bytes")
        if path.suffix == ".py":
            return tools_of_python(data.decode("utf-8"))
        if path.suffix in {".yaml", ".yml"}:
            return tools_of(_Plain().of(yaml.safe_load(data)))
        return tools_of(orjson.loads(data))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (ToolFormatError, UnicodeDecodeError, yaml.YAMLError, orjson.JSONDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


async def add_tools(registry: Registry, tools: Sequence[JsonObject], source: str, ts: float) -> list[Outcome]:
    """Put tools into the registry in one change; what is there in the same form stays as it is."""
    outcomes: list[Outcome] = []

    def decide(snapshot: Snapshot) -> list[Pattern]:
        nonlocal outcomes
        outcomes, changes = plan(snapshot, tools, source, ts)
        return changes

    await edit(registry, decide)
    return outcomes


def plan(
    snapshot: Snapshot, tools: Sequence[JsonObject], source: str, ts: float
) -> tuple[list[Outcome], list[Pattern]]:
    """What adding tools would do to the entries as they are."""
    outcomes, changes = [], []
    for tool in tools:
        known = snapshot.get(PatternKind.TOOL, tool["name"])
        if known and known.state is PatternState.ACTIVE and known.definition == tool:
            outcomes.append(Outcome(tool["name"], "unchanged", known.version))
            continue
        step = Evidence(step="registered", data={"source": source}, ts=ts)
        entry = Pattern(
            id=tool["name"], version=1, kind=PatternKind.TOOL, definition=tool, state=PatternState.ACTIVE,
            evidence=(step,), ts=ts,
        )  # fmt: skip
        changes.append(following(snapshot, entry))
        is_new = known is None or known.state is not PatternState.ACTIVE
        outcomes.append(Outcome(tool["name"], "added" if is_new else "updated", changes[-1].version))
    return outcomes, changes


async def remove_tools(registry: Registry, names: Sequence[str], ts: float) -> list[Outcome]:
    """Retire tools in one change; their entries and history stay."""
    outcomes: list[Outcome] = []

    def decide(snapshot: Snapshot) -> list[Pattern]:
        nonlocal outcomes
        outcomes, changes = [], []
        for name in dict.fromkeys(names):
            known = snapshot.get(PatternKind.TOOL, name)
            if known is None or known.state is not PatternState.ACTIVE:
                outcomes.append(Outcome(name, "not there"))
                continue
            step = Evidence(step="removed", ts=ts)
            retired = replace(known, state=PatternState.RETIRED, evidence=(*known.evidence, step), ts=ts)
            changes.append(following(snapshot, retired))
            outcomes.append(Outcome(name, "removed", changes[-1].version))
        return changes

    await edit(registry, decide)
    return outcomes


class _Plain:
    """YAML as JSON: dates and keys become text. Aliases are written out, within a limit: a small file can hold many."""

    def __init__(self) -> None:
        self._left = VALUES_MAX

    def of(self, value: Json, depth: int = 0) -> Json:
        self._left -= 1
        if self._left < 0 or depth > DEPTH_MAX:
            raise ToolFormatError(f"more than {VALUES_MAX} values, or nested deeper than {DEPTH_MAX}")
        if isinstance(value, dict):
            return {str(key): self.of(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner, depth + 1) for inner in value]
        return value if value is None or isinstance(value, str | int | float | bool) else str(value)
