"""The tools that a stream may call: those given with it, in front of those of the registry.

A schema given with a stream overrides the registry's of the same name. The registry's box is built once for a
snapshot and shared; a stream's own few tools cost a dict. The index for near names is only built when a name is
unknown.
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache

import orjson

from processors.match_tool import Match, ToolIndex
from processors.repair import SchemaError, ToolSchema, compile_tool
from processors.tools.links import canonical
from schemas.jsonvalue import Json, JsonObject

NAME_CHARS_MAX = 256
"""Longest tool name read: providers allow 64."""
INDEXES_MAX = 64
"""Indexes of tool sets kept; one of 10,000 tools takes 0.6 s to build and 31 MB."""
SCHEMAS_MAX = 2_048
"""Compiled schemas kept: streams of one agent bring the same tools again and again."""


def function_of(tool: Json) -> JsonObject | None:
    """The `{"name", "description", "parameters"}` of a tool in OpenAI form, bare or wrapped; None if it is not one."""
    if not isinstance(tool, dict):
        return None
    function = tool.get("function", tool)
    if not isinstance(function, dict):
        return None
    name = function.get("name")
    return function if isinstance(name, str) and 0 < len(name) <= NAME_CHARS_MAX else None


def loaded(tool: bytes) -> Json:
    """Canonical JSON read back; half of an emoji, as a description cut by UTF-16 units ends in, becomes `?`."""
    try:
        return orjson.loads(tool)
    except orjson.JSONDecodeError:
        return orjson.loads(_whole(tool))


def _whole(tool: bytes) -> bytes:
    try:
        return json.dumps(json.loads(tool), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):  # no JSON, or too deep
        return tool


@lru_cache(maxsize=SCHEMAS_MAX)
def _compiled(tool: bytes) -> ToolSchema | str:
    """A tool's schema; a sentence that names the place if it is none."""
    try:
        return compile_tool(loaded(tool))
    except orjson.JSONDecodeError:  # what canonical JSON can't hold
        return "tool: not JSON"
    except SchemaError as error:
        return str(error)


@lru_cache(maxsize=INDEXES_MAX)
def _indexed(tools: bytes) -> ToolIndex:
    return ToolIndex(orjson.loads(tools))


class Toolbox:
    """Tools by name, and a second box behind for the names that this one lacks."""

    def __init__(self, tools: Iterable[Json] = (), behind: "Toolbox | None" = None) -> None:
        self._tools = {found["name"]: found for tool in tools if (found := function_of(tool))}
        self._behind = behind
        self._index: ToolIndex | None = None

    def __bool__(self) -> bool:
        return bool(self._tools) or bool(self._behind)

    def names(self) -> Iterator[str]:
        """All names, the stream's own first."""
        yield from self._tools
        if self._behind:
            yield from (name for name in self._behind.names() if name not in self._tools)

    def get(self, name: str) -> JsonObject | None:
        """The tool of exactly this name."""
        return self._tools.get(name) or (self._behind.get(name) if self._behind else None)

    def schema(self, name: str) -> ToolSchema | str | None:
        """The compiled schema of a tool; None if there is no such tool, a sentence if its schema is malformed."""
        tool = self.get(name)
        return _compiled(canonical(tool)) if tool else None

    def match(self, name: str, arguments: JsonObject | None = None) -> Match:
        """The tool that an unknown name means, if one is near enough; candidates in any case."""
        own = self._own_index().match(name, arguments) if self._tools else Match()
        if own.tool or not self._behind:
            return own
        behind = self._behind.match(name, arguments)
        both = sorted((*own.candidates, *behind.candidates), key=lambda candidate: -candidate.score)
        return Match(tool=behind.tool, confidence=behind.confidence, candidates=tuple(both[:3]))

    def _own_index(self) -> ToolIndex:
        if self._index is None:
            try:
                self._index = _indexed(orjson.dumps(list(self._tools.values())))
            except TypeError:  # what orjson can't write: a lone surrogate in a definition
                self._index = ToolIndex(self._tools.values())
        return self._index
