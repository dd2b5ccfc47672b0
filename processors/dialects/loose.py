"""A literal that is nearly JSON → its value, and codes of what it needed: quotes, commas, `True`, raw line breaks.

An object with one key twice has no one value: it is not read here, and left to schema-guided repair.
"""

import ast
import json
import re
import warnings
from math import isfinite
from typing import NamedTuple, NoReturn

import orjson

from processors.repair.strict import has_doubles, is_strict, pairs_in
from schemas.jsonvalue import Json, JsonObject

_PYTHON_CHARS_MAX = 100_000
_TOKEN = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*+")|(?P<quotes_replaced>'(?:[^'\\]|\\.)*+')|(?P<comment_stripped>\#[^\n]*)"""
    r"""|(?P<trailing_comma>,\s*(?=[}\])]))|(?P<json>(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.]))"""
    r"""|(?P<mark>[{}\[\]:,])|(?P<python_literal>[^\s{}\[\]:,"'\#]+)""",
    re.DOTALL,
)
_STRINGS = frozenset({"double", "quotes_replaced"})
_NO_CODES = frozenset({"double", "json", "mark"})
_KEY_END = re.compile(r'"\s*:')
"""Stands behind each key, and seldom in a string: as often as there are pairs, if no key stands twice."""
_ESCAPES = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')


class Read(NamedTuple):
    """A value as a text says it."""

    value: Json
    mends: tuple[str, ...] = ()
    """What was odd about the text; empty: it is JSON."""


def read_loosely(text: str) -> Read | None:
    """The value of a text that is JSON, or JSON but for raw control characters, or a Python literal."""
    try:
        value = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):  # not strict JSON, or a lone surrogate
        return _with_controls(text) or _python(text)
    pairs = pairs_in(value)
    may_be_double = text.count(":") != pairs and len(_KEY_END.findall(text)) != pairs
    return None if may_be_double and has_doubles(text) else Read(value)


def has_twice_at_top(text: str) -> bool:
    """Whether a text is a JSON object that has one key twice itself, whatever the objects inside it have."""
    try:
        outer = json.loads(text, strict=False, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return False
    return isinstance(outer, tuple) and len(dict(outer)) != len(outer)


def _with_controls(text: str) -> Read | None:
    try:
        value = json.loads(text, strict=False, object_pairs_hook=object_of, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return Read(value, () if is_strict(text) else ("control_characters_kept",))


def _no_constant(_: str) -> NoReturn:
    raise ValueError("not JSON")


def object_of(pairs: list[tuple[str, Json]]) -> JsonObject:
    """The object of these pairs; raises ValueError for a key that stands twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _python(text: str) -> Read | None:
    if len(text) > _PYTHON_CHARS_MAX:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown escapes in strings
            value = literal(ast.parse(text.strip(), mode="eval").body, {})
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # not a Python literal either
        return None
    return Read(value, _codes(text))


def literal(node: ast.expr, names: JsonObject) -> Json:
    """A Python literal as JSON, with further names for values; raises ValueError for anything else."""
    match node:
        case ast.Constant(value=float() as value) if not isfinite(value):
            raise ValueError("not JSON")
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [literal(item, names) for item in items]
        case ast.Dict(keys=keys, values=values):
            return object_of([(_key(key), literal(value, names)) for key, value in zip(keys, values, strict=True)])
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant(value=int() | float() as number)):
            return -number if isinstance(node.op, ast.USub) else number
    raise ValueError("not a literal")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("not a string key")


def _codes(text: str) -> tuple[str, ...]:
    """What a Python literal has that JSON has not."""
    found: set[str] = set()
    before = ""
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        found.add(kind)
        if kind in _STRINGS:
            if before in _STRINGS:
                found.add("python_literal")
            if "\\" in _ESCAPES.sub("", token[0]):
                found.add("backslash_dropped")
        before = kind
    return tuple(sorted(found - _NO_CODES)) or ("python_literal",)
