"""A tool as someone wrote it down → the one form in which the registry holds it, or the place where it is malformed.

The form is OpenAI's function object: `name`, `description`, `parameters` (a JSON Schema of type object). A model sees
tools on two levels: `index_line` for all of them, the whole definition of the one it asks for.
"""

import re

import jsonschema_rs

from processors.repair import SchemaError, compile_tool
from schemas.jsonvalue import Json, JsonObject

NAME = re.compile(r"[^\W\d][\w.-]{0,127}")
"""Providers allow ASCII only; registries with Chinese names exist."""
DESCRIPTION_CHARS_MAX = 8_000
ACCEPT_MIN = 0.85
"""Least confidence in repaired arguments at which a call is accepted."""
ACCEPT_READ_ONLY_MIN = 0.6
"""The same for a tool that changes nothing: a wrong call of it costs a wasted answer."""
INDEX_CHARS_MAX = 120
"""Length of a description in the one-line index: a few words more than most first sentences."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")


class ToolFormatError(ValueError):
    """A tool definition that can't be used; the message begins with the place."""


def tool_of(function: JsonObject, parameters: Json, place: str) -> JsonObject:
    """The registry's form of a tool; raises ToolFormatError.

    function: `name`, `description`, and where given `annotations` (as MCP has them) and `min_confidence`.
    """
    name, description = function.get("name"), function.get("description")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ToolFormatError(f"{place}.name: not a name of 1 to 128 letters, digits, `_`, `-` or `.`")
    if description is None:
        description = ""
    if not isinstance(description, str) or len(description) > DESCRIPTION_CHARS_MAX:
        raise ToolFormatError(f"{place}.description: not a text of at most {DESCRIPTION_CHARS_MAX} characters")
    if parameters is None:
        parameters = {"type": "object", "properties": {}}
    tool = {"name": name, "description": description, "parameters": parameters, **_handling(function, place)}
    check_schema(parameters, f"{place}.parameters")
    try:
        compile_tool(tool)
    except SchemaError as error:
        raise ToolFormatError(f"{place}.parameters: {str(error).removeprefix(f'{name}: ')}") from None
    return tool


def accept_min(tool: JsonObject | None) -> float:
    """Least confidence in repaired arguments at which a call of a tool is accepted."""
    own = (tool or {}).get("min_confidence")
    if isinstance(own, int | float) and not isinstance(own, bool):
        return float(own)
    annotations = (tool or {}).get("annotations")
    is_read_only = isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
    return ACCEPT_READ_ONLY_MIN if is_read_only else ACCEPT_MIN


def _handling(function: JsonObject, place: str) -> JsonObject:
    """What a definition says about handling the tool's calls."""
    kept: JsonObject = {}
    if isinstance(function.get("annotations"), dict):
        kept["annotations"] = {key: value for key, value in function["annotations"].items() if isinstance(value, bool)}
    line = function.get("min_confidence")
    if line is not None:
        if not isinstance(line, int | float) or isinstance(line, bool) or not 0 <= line <= 1:
            raise ToolFormatError(f"{place}.min_confidence: not a number from 0 to 1")
        kept["min_confidence"] = line
    return kept


def check_schema(schema: Json, place: str) -> None:
    """Raise ToolFormatError where a schema is not one for the parameters of a tool."""
    if not isinstance(schema, dict):
        raise ToolFormatError(f"{place}: not an object")
    if schema.get("type", "object") != "object":
        raise ToolFormatError(f"{place}.type: the parameters of a tool are an object")
    _check_words(schema, place)
    properties, required = schema.get("properties", {}), schema.get("required", [])
    is_open = schema.keys() & {"patternProperties", "$ref", "allOf", "anyOf", "oneOf"} or schema.get(
        "additionalProperties"
    )
    for number, key in enumerate(required):
        if key not in properties and not is_open:
            raise ToolFormatError(f"{place}.required[{number}]: {key!r} is not among the properties")


def _check_words(schema: JsonObject, place: str) -> None:
    try:
        jsonschema_rs.meta.validate(schema)
        jsonschema_rs.Draft202012Validator(schema)  # finds patterns that are none and references that lead nowhere
    except jsonschema_rs.ValidationError as error:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
        raise ToolFormatError(f"{place}{where}: {error.message[:200]}") from None
    except (ValueError, TypeError) as error:  # a dialect of JSON Schema that is unknown; what is no JSON
        raise ToolFormatError(f"{place}: {str(error).splitlines()[0][:200]}") from None


def index_line(tool: JsonObject) -> str:
    """One line for the index: the description's first sentence."""
    first = _SENTENCE_END.split(tool.get("description", "").strip(), maxsplit=1)[0]
    return first if len(first) <= INDEX_CHARS_MAX else first[: INDEX_CHARS_MAX - 1] + "…"
