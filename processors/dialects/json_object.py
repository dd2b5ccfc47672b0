"""JSON body → call: `{"name": …, "arguments": …}` under whatever keys, or the arguments of a tool named before."""

import ast
import json
import re
import warnings
from dataclasses import dataclass

import orjson

from processors.dialects.reading import Head
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import CallDraft

DIALECT = "json_object"

_NAME_KEYS = ("name", "tool_name", "function_name", "tool", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input")
_ID_KEYS = ("id", "tool_call_id", "call_id")
_OTHER_KEYS = frozenset({"type", "index", *_ID_KEYS})
_LOOSE_LITERAL_CHARS_MAX = 100_000
_WRITTEN_NAME = re.compile(r"""["'](?:name|tool_name|function_name|tool)["']\s*:\s*["']([^"'\\\n]{1,128})["']""")
_WRITTEN_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters|args|params|input)["']\s*:\s*""")


@dataclass(frozen=True, slots=True)
class Keys:
    """Under which keys a call's parts stand; others that are in use are understood too."""

    name: tuple[str, ...]
    arguments: tuple[str, ...]
    name_is_key: bool = False


def read_object(raw: str, head: Head, keys: Keys) -> CallDraft:
    """The text of one object → the call."""
    value = _loads(raw)
    if not isinstance(value, dict):
        return damaged(raw, head)
    if head.name is not None:
        return _draft(head, head.name, value)
    if keys.name_is_key and len(value) == 1:
        name, arguments = next(iter(value.items()))
        if isinstance(arguments, dict):
            return _draft(head, name, arguments)
    return _call_of(value, head, keys) or damaged(raw, head)


def _draft(head: Head, name: str, arguments: Json, call_id: str | None = None) -> CallDraft:
    return CallDraft(dialect=DIALECT, name=name, call_id=call_id or head.call_id, value=arguments)


def _call_of(value: JsonObject, head: Head, keys: Keys) -> CallDraft | None:
    inner = value.get("function")
    if isinstance(inner, dict):
        value = {**inner, **{key: value[key] for key in _ID_KEYS if key in value}}
    name = _first(value, (*keys.name, *_NAME_KEYS))
    if not isinstance(name, str):
        return None
    arguments = _first(value, (*keys.arguments, *_ARGUMENT_KEYS))
    if isinstance(arguments, str):
        inside = _loads(arguments) if arguments.strip() else {}
        arguments = inside if isinstance(inside, dict) and not is_deeper(inside, head.nesting_max) else arguments
    call_id = _first(value, _ID_KEYS)
    return _draft(head, name, {} if arguments is None else arguments, None if call_id is None else str(call_id))


def is_deeper(value: Json, depth_max: int) -> bool:
    """Whether a value is nested deeper than this."""
    level = [value]
    for _ in range(depth_max):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def _first(value: JsonObject, keys: tuple[str, ...]) -> Json:
    for key in keys:
        if key in value:
            return value[key]
        if "." in key and (found := _at_path(value, key.split("."))) is not None:
            return found
    return None


def _at_path(value: Json, path: list[str]) -> Json:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def has_call_keys(raw: str, keys: Keys) -> bool:
    """Whether an object has a call's keys and no others, so that it is a call even without a marker.

    The description of a tool has the same keys, with a JSON Schema in place of arguments.
    """
    value = _loads(raw)
    if not isinstance(value, dict):
        return False
    inner = value.get("function")
    if isinstance(inner, dict) and value.keys() <= {"function", *_OTHER_KEYS}:
        value = inner
    names = [key for key in (*keys.name, *_NAME_KEYS) if isinstance(value.get(key), str)]
    arguments = [key for key in (*keys.arguments, *_ARGUMENT_KEYS) if isinstance(value.get(key), dict | str)]
    if not names or not arguments or not value.keys() <= {names[0], arguments[0], *_OTHER_KEYS}:
        return False
    given = value[arguments[0]]
    return not (isinstance(given, dict) and given.get("type") == "object" and "properties" in given)


def _loads(text: str) -> Json:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):  # not strict JSON, or a lone surrogate
        pass
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    if len(text) > _LOOSE_LITERAL_CHARS_MAX:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown escapes in strings
            return _as_json(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):  # not a Python literal either
        return None


def _as_json(value: object) -> Json:
    """A Python literal as JSON; raises ValueError for what JSON does not have."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("keys must be strings")
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError("not JSON")


def damaged(raw: str, head: Head) -> CallDraft:
    """What no reader takes whole: name and argument text are found by their keys, and left to schema-guided repair."""
    if head.name is not None:
        return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, arguments_text=raw)
    name = _WRITTEN_NAME.search(raw)
    arguments = _WRITTEN_ARGUMENTS.search(raw)
    if name is None or arguments is None:
        return CallDraft(dialect=DIALECT, name=name[1] if name else None, call_id=head.call_id)
    text = raw[arguments.end() :]
    if name.start() > arguments.start():
        text = raw[arguments.end() : name.start()]
    return CallDraft(dialect=DIALECT, name=name[1], call_id=head.call_id, arguments_text=_without_outer_brace(text))


def _without_outer_brace(text: str) -> str:
    """The argument text without the brace that closes the call around it."""
    text = text.rstrip().rstrip(",")
    inner, outer = text.count("{"), text.count("}")
    return text[:-1].rstrip() if text.endswith("}") and outer > inner else text
