"""A JSON value that holds tools, in any of the usual forms → the tools in the registry's form.

OpenAI (`{"type": "function", "function": …}` and the flat form of its newer interface), Anthropic (`input_schema`), MCP
(`{"tools": [{"name", "inputSchema"}]}` with or without its JSON-RPC envelope), an OpenAPI document, or lists of these.
"""

from collections.abc import Iterator

from processors.tools.definition import ToolFormatError, tool_of
from processors.tools.from_openapi import is_openapi, tools_of_openapi
from schemas.jsonvalue import Json, JsonObject

TOOLS_MAX = 10_000
_SCHEMA_KEYS = ("parameters", "inputSchema", "input_schema")


def tools_of(value: Json) -> list[JsonObject]:
    """All tools of a document; raises ToolFormatError, which names the place."""
    if is_openapi(value):
        tools = tools_of_openapi(value)
    else:
        tools = [_tool(item, place) for item, place in _items(value, "")]
    if not tools:
        raise ToolFormatError("no tools in it")
    if len(tools) > TOOLS_MAX:
        raise ToolFormatError(f"{len(tools)} tools, more than {TOOLS_MAX}")
    seen: dict[str, int] = {}
    for number, tool in enumerate(tools):
        if tool["name"] in seen:
            raise ToolFormatError(f"tools {seen[tool['name']]} and {number} (from 0) are both named {tool['name']!r}")
        seen[tool["name"]] = number
    return tools


def _items(value: Json, place: str) -> Iterator[tuple[Json, str]]:
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value, place = value["result"], f"{place}.result"
    if isinstance(value, dict) and isinstance(value.get("tools"), list):
        value, place = value["tools"], f"{place}.tools"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield item, f"{place}[{number}]".lstrip(".")
    else:
        yield value, place.lstrip(".") or "tool"


def _tool(item: Json, place: str) -> JsonObject:
    if not isinstance(item, dict):
        raise ToolFormatError(f"{place}: not an object")
    function = item.get("function", item)
    if not isinstance(function, dict):
        raise ToolFormatError(f"{place}.function: not an object")
    found = [key for key in _SCHEMA_KEYS if key in function]
    if len(found) > 1:
        raise ToolFormatError(f"{place}: has both {found[0]} and {found[1]}")
    if function is not item:
        place = f"{place}.function"
    parameters = function[found[0]] if found else None
    try:
        return tool_of(function, parameters, place)
    except ToolFormatError as error:
        given = found[0] if found else "parameters"
        raise ToolFormatError(str(error).replace(f"{place}.parameters", f"{place}.{given}", 1)) from None
