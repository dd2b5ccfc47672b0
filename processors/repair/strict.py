"""Text that is JSON as it stands → its value, or its tree with every number as written."""

import json
import re
from typing import Final

import orjson

from processors.limits import LIMITS
from processors.repair.nodes import Bare, Items, Members, Node, depth_of
from processors.repair.placeholder import TRIGGER
from processors.repair.toolschema import ToolSchema
from schemas.jsonvalue import Json, JsonObject

_CLOSER_LOOK: Final = re.compile(
    r'[0-9.](?:(?<=\.)0+\s*[,}\]]|(?<=[0-9])[0-9]{18})|(?<=[:\[,\s])-?[0-9][0-9.]*[eE][+-]?[0-9]|"[A-Za-z]:\\|\\[bf]'
)
"""What the short way leaves to the long one: `7.0`, digits beyond 64 bits, exponents, paths."""
_TRAILING_ZERO: Final = re.compile(r"\.\d*0\s*[,}\]]")
_BACKSLASHES: Final = re.compile(r'"[A-Za-z]:\\|\\[bf]|\\u[dD][89a-fA-F]|"\\\\\\\\')
"""Escapes that are valid and may be meant otherwise, or that need care: these strings are read from the raw text."""
_BEGUN: Final = re.compile(r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?\d+[.eE+-]*|\\u?[0-9a-fA-F]{0,3})\Z")
"""A token that the end of the text cuts."""


def is_fitting(value: JsonObject, schema: ToolSchema | None) -> bool:
    """Whether arguments need no repair: all names are known, and the schema takes the values."""
    return schema is None or (value.keys() <= schema.root.properties.keys() and schema.validator.is_valid(value))


def json_number(text: str) -> int | float | None:
    """The number of a text that is a JSON number which 64 bits hold; None: `007`, `1e999`, 30 digits, a word."""
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    if type(value) is float:
        return value if any(mark in text for mark in ".eE") else None  # an integer that a double would round
    return value if type(value) is int else None


def plain_object(raw: str) -> JsonObject | None:
    """The object of a text that is JSON as it stands and says no more than its value; None if it is not."""
    try:
        value = orjson.loads(raw)
    except ValueError:
        return None
    if type(value) is not dict or TRIGGER.search(raw) or _CLOSER_LOOK.search(raw):
        return None
    if _may_be_deep(raw) and depth_of(value, LIMITS.nesting_max) > LIMITS.nesting_max:
        return None
    if raw.count(":") != pairs_in(value) and has_doubles(raw):
        return None
    return value


def telling(raw: str) -> str:
    """The JSON object in a text, if it says more than its value: long digits, trailing zeros, odd backslashes, doubles.

    Empty if it says no more, or if the text holds no one JSON object, whatever is around it.
    """
    text = raw[raw.find("{") : raw.rfind("}") + 1]
    try:
        value = orjson.loads(text)
    except ValueError:
        return ""
    if _CLOSER_LOOK.search(text) or _TRAILING_ZERO.search(text):
        return text
    return text if text.count(":") != pairs_in(value) and has_doubles(text) else ""


def strict_tree(raw: str) -> Node:
    """The tree of a JSON text; None if it is none, or if its backslashes need the raw text."""
    if _BACKSLASHES.search(raw) or _may_be_deep(raw):
        return None
    try:
        tree: Json = _DECODER.decode(raw)
    except ValueError:  # no JSON
        return None
    if type(tree) is list:
        return _items(tree)
    return tree if isinstance(tree, Members) else None


def _may_be_deep(raw: str) -> bool:
    return raw.count("{") + raw.count("[") > LIMITS.nesting_max


def trusts_quotes(text: str) -> bool:
    """Whether each quote without a backslash bounds a string: the text is JSON, or it is JSON that breaks off."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        is_at_end = error.pos >= len(text.rstrip()) or bool(_BEGUN.match(text, error.pos))
        is_begun = error.msg.startswith("Invalid \\") and error.pos >= len(text) - 6
        return is_at_end or is_begun or error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):  # an integer longer than Python converts, or nested deeper than it reads
        return False
    return True


def is_strict(raw: str) -> bool:
    """Whether a text is one JSON value."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True


def pairs_in(value: Json) -> int:
    """How many pairs the objects of a JSON value have, all together."""
    count, level = 0, [value]
    while level:
        one = level.pop()
        if isinstance(one, dict):
            count += len(one)
            level += [inner for inner in one.values() if type(inner) in {dict, list}]
        elif isinstance(one, list):
            level += [inner for inner in one if type(inner) in {dict, list}]
    return count


def has_doubles(raw: str) -> bool:
    """Whether a key stands twice in one object; a text without as many colons as pairs has to be read for it."""
    doubled = False

    def pairs(found: list[tuple[str, Json]]) -> JsonObject:
        nonlocal doubled
        result = dict(found)
        doubled |= len(result) != len(found)
        return result

    try:
        json.loads(raw, object_pairs_hook=pairs)
    except (ValueError, RecursionError):  # deeper than Python's parser goes, or an integer longer than it converts
        return True
    return doubled


def _members(pairs: list[tuple[str, Json]]) -> Members:
    return Members([(key, _items(value) if type(value) is list else value) for key, value in pairs])


def _items(values: list[Json]) -> Items:
    return Items([_items(value) if type(value) is list else value for value in values])


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members, parse_float=Bare, parse_int=Bare, parse_constant=Bare)
