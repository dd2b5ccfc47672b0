"""`match-tool`: wrong tool names in JSON lines → the registered tool each means, or none, with candidates."""

from dataclasses import asdict
from functools import lru_cache
from typing import Annotated

import typer

from processors.match_tool import ToolIndex
from processors.tools.links import canonical
from processors.tools.toolbox import function_of, loaded
from schemas.jsonvalue import JsonObject
from streams.cli.batch import RequestError, run_batch


@lru_cache(maxsize=64)
def _index(tools: bytes) -> ToolIndex:
    return ToolIndex(function for tool in loaded(tools) if (function := function_of(tool)))


def answer_match_tool(request: JsonObject) -> JsonObject:
    """`{"id", "name", "arguments"?, "tools"}` → `{"id", "tool", "confidence", "candidates"}`."""
    name, tools, arguments = request["name"], request["tools"], request.get("arguments")
    if not isinstance(name, str):
        raise RequestError("name: not a string")
    if not isinstance(tools, list):
        raise RequestError("tools: not a list")
    if arguments is not None and not isinstance(arguments, dict):
        raise RequestError("arguments: not an object")
    exact = next((tool for tool in map(function_of, tools) if tool and tool["name"] == name), None)
    if exact:
        return {"id": request.get("id"), "tool": name, "confidence": 1.0, "candidates": [{"name": name, "score": 1.0}]}
    match = _index(canonical(tools)).match(name, arguments)
    return {
        "id": request.get("id"),
        "tool": match.tool,
        "confidence": match.confidence,
        "candidates": [asdict(candidate) for candidate in match.candidates],
    }


def match_tool(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests, one a line; - for stdin.")],
    target: Annotated[str, typer.Option("-o", "--output", help="Answers, one a line; - for stdout.")] = "-",
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
) -> int:
    """Wrong tool names → the tool each means, or none, and up to three candidates.

    Request: `name`, `tools` (definitions), and if known `id`, `arguments`. Answer: `id`, `tool`, `confidence`,
    `candidates` (`name`, `score`).
    """
    return run_batch(source, target, answer_match_tool, jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add `match-tool` to the program."""
    app.command("match-tool")(match_tool)
