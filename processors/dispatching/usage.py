"""A tool's definition → how it is called, in words that a model can act on, with an example."""

import json
from collections.abc import Callable

from schemas.jsonvalue import Json, JsonObject

ARGUMENTS_MAX = 30
CHARS_MAX = 2_000
EXAMPLE_DEPTH_MAX = 4
NAMES_MAX = 50
_SAMPLES: dict[str, Json] = {"string": "…", "integer": 1, "number": 1.0, "boolean": True, "array": [], "null": None}


def usage_of(definition: JsonObject, wrong_in: Callable[[JsonObject], str | None], hint: str = "") -> str:
    """What the tool takes, each argument with its type and meaning, and one call of it that would be accepted.

    wrong_in: what is wrong with arguments; an example is shown only where nothing is.
    """
    name, parameters = definition["name"], definition["parameters"]
    properties = parameters.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = [one for one in parameters.get("required") or () if isinstance(one, str)]
    order = [*(one for one in required if one in known), *(one for one in known if one not in required)]
    said = [_argument(one, known[one], is_required=one in required) for one in order[:ARGUMENTS_MAX]]
    parts = [f"{hint.strip()} " if hint.strip() else "", f"{name} takes {'; '.join(said) or 'no arguments'}."]
    when = definition.get("when_to_use")
    if isinstance(when, str) and when:
        parts.append(f" Use it when: {when.rstrip('.')}.")
    example = {one: _sample(known.get(one), 0) for one in required}
    if wrong_in(example) is None:
        parts.append(f" For example: {_text(example)}")
    return "".join(parts)[:CHARS_MAX]


def usage_of_unknown(names: list[str]) -> str:
    """What may be called instead of a tool that there is not."""
    shown = ", ".join(sorted(names)[:NAMES_MAX])
    return f"There are these tools: {shown}."[:CHARS_MAX]


def _argument(name: str, schema: Json, *, is_required: bool) -> str:
    told = schema if isinstance(schema, dict) else {}
    values = told.get("enum")
    kind = told.get("type", "any value")
    if isinstance(values, list) and values:
        kind = f"one of {', '.join(_text(one) for one in values[:20])}"
    elif isinstance(kind, list):
        kind = " or ".join(map(str, kind))
    means = told.get("description")
    text = f"{name} ({kind}, {'required' if is_required else 'optional'})"
    return f"{text}: {' '.join(means.split())[:200]}" if isinstance(means, str) and means else text


def _sample(schema: Json, depth: int) -> Json:
    """A value that the schema most likely takes."""
    if not isinstance(schema, dict) or depth > EXAMPLE_DEPTH_MAX:
        return "…"
    for given in ("examples", "enum"):
        if isinstance(schema.get(given), list) and schema[given]:
            return schema[given][0]
    for given in ("const", "default"):
        if given in schema:
            return schema[given]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        properties = schema.get("properties")
        inner = properties if isinstance(properties, dict) else {}
        return {one: _sample(inner.get(one), depth + 1) for one in schema.get("required") or () if isinstance(one, str)}
    if kind in {"integer", "number"} and isinstance(schema.get("minimum"), int | float):
        return schema["minimum"]
    return _SAMPLES.get(kind, "…") if isinstance(kind, str) else "…"


def _text(value: Json) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
