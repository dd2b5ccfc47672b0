"""Text → values: literals that tell their own end, raw text with its decodings and its schema's type."""

import html
import re
from ast import literal_eval

import orjson

from processors.repair.strict import json_number
from schemas.jsonvalue import Json

CALL_CHARS_MAX = 20_000
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_WORD = re.compile(r"[A-Za-z]+")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[\[\]{}]', re.DOTALL)


def literal_at(text: str, at: int) -> tuple[Json, int] | None:
    """A JSON or Python literal at `at` and the offset after it; a number that JSON can't hold stays text."""
    char = text[at : at + 1]
    if char in {"{", "["} and char:
        end = structure_end(text, at)
        read = any_literal(text[at:end]) if end else None
        return None if read is None else (read[0], end)
    if char in {'"', "'"} and char:
        quoted = _QUOTED.match(text, at, at + CALL_CHARS_MAX)
        read = any_literal(quoted.group()) if quoted else None
        return None if read is None or quoted is None else (read[0], quoted.end())
    number = _NUMBER.match(text, at)
    if number:
        value = json_number(number.group())
        return (number.group() if value is None else value, number.end())
    word = _WORD.match(text, at)
    if word and word.group() in _WORDS:
        return (_WORDS[word.group()], word.end())
    return None


def any_literal(text: str) -> tuple[Json] | None:
    """A JSON text, else a Python literal, as a one-tuple; None if neither."""
    try:
        return (orjson.loads(text),)
    except orjson.JSONDecodeError:
        pass
    try:
        value = literal_eval(text)
        orjson.dumps(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # literal_eval on what a model wrote
        return None
    return (value,)


def structure_end(text: str, at: int) -> int:
    """Offset after the object or array at `at`, strings skipped whole; 0 if it does not end within the limit."""
    if text[at : at + 1] not in {"{", "["} or not text[at : at + 1]:
        return 0
    depth = 0
    for match in _STRUCTURE.finditer(text, at, at + CALL_CHARS_MAX):
        mark = match.group()
        if mark in {"{", "["}:
            depth += 1
        elif mark in {"}", "]"}:
            depth -= 1
            if depth == 0:
                return match.end()
    return 0


def decoded(text: str, steps: tuple[str, ...]) -> str:
    """A raw value after the shape's decodings."""
    for step in steps:
        if step == "entities":
            text = html.unescape(text)
        elif step == "trim":
            text = text.strip()
        elif step == "escapes":
            read = any_literal(f'"{text}"')
            text = read[0] if read else text
    return text


def typed(text: str, schema: Json) -> Json:
    """Raw text as the schema's type: a string stays, else JSON or a Python literal, else the text."""
    kinds = types_of(schema)
    if not kinds or kinds == {"string"}:
        return text
    read = any_literal(text.strip()) or ((_WORDS[text.strip()],) if text.strip() in _WORDS else None)
    if read is not None and fits(read[0], schema):
        return read[0]
    return text


def types_of(schema: Json) -> set[str]:
    """The JSON types that a parameter's schema names."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return (
        {kind}
        if isinstance(kind, str)
        else {k for k in kind if isinstance(k, str)}
        if isinstance(kind, list)
        else set()
    )


_PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "object": dict,
    "array": list,
    "number": (int, float),
    "integer": int,
}


def fits(value: Json, schema: Json) -> bool:
    """Whether a value has a declared type and stands in a declared enum; null fits anywhere."""
    kinds = types_of(schema)
    if value is None or not kinds:
        return True
    if isinstance(value, bool) and "boolean" not in kinds:
        return False
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        return False
    return any(isinstance(value, _PYTHON[kind]) for kind in kinds if kind in _PYTHON)
