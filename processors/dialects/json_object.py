"""JSON body → call: `{"name": …, "arguments": …}` under whatever keys, or the arguments of a tool named before."""

import re
from dataclasses import dataclass, replace

import orjson

from processors.dialects.loose import Read, has_twice_at_top, read_loosely
from processors.dialects.made import draft_of
from processors.dialects.reading import Head
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import CallDraft

DIALECT = "json_object"

_NAME_KEYS = ("name", "tool_name", "function_name", "tool", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input")
_ID_KEYS = ("id", "tool_call_id", "call_id")
_OTHER_KEYS = frozenset({"type", "index", *_ID_KEYS})
_CALL_KEYS = _OTHER_KEYS | {*_NAME_KEYS, "description", "strict"}
"""What may stand beside a call's name and is no argument."""
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
    read = read_loosely(raw)
    if read is None or not isinstance(read.value, dict):
        return damaged(raw, head)
    if head.name is not None:
        return _draft(head, head.name, read)
    name, arguments = read.value.get(keys.name[0]), read.value.get(keys.arguments[0])
    if isinstance(name, str) and isinstance(arguments, dict) and len(read.value) == 2:
        return _draft(head, name, Read(arguments, read.mends))  # as most calls are
    if keys.name_is_key and len(read.value) == 1:
        name, arguments = next(iter(read.value.items()))
        if isinstance(arguments, dict):
            return _draft(head, name, Read(arguments, read.mends))
    draft = _call_of(read.value, head, keys)
    if draft and read.mends:
        return replace(draft, mends=(*read.mends, *draft.mends))
    return draft or damaged(raw, head)


def _draft(head: Head, name: str, read: Read, call_id: str | None = None) -> CallDraft:
    return draft_of(DIALECT, name, call_id or head.call_id, read.value, read.mends)


def _call_of(value: JsonObject, head: Head, keys: Keys) -> CallDraft | None:
    inner = value.get("function")
    if isinstance(inner, dict):
        value = {**inner, **{key: value[key] for key in _ID_KEYS if key in value}}
    name = _first(value, (*keys.name, *_NAME_KEYS))
    if not isinstance(name, str):
        return None
    call_id = _first(value, _ID_KEYS)
    given = _arguments_of(value, head, (*keys.arguments, *_ARGUMENT_KEYS))
    return _draft(head, name, given, None if call_id is None else str(call_id))


def _arguments_of(value: JsonObject, head: Head, keys: tuple[str, ...]) -> Read:
    """The arguments of a call: an object, one written out as text, or what stands beside the name in their place."""
    arguments = _first(value, keys)
    if isinstance(arguments, str):
        inside = read_loosely(arguments) if arguments.strip() else Read({})
        is_object = (
            inside is not None and isinstance(inside.value, dict) and not is_deeper(inside.value, head.nesting_max)
        )
        return inside if inside is not None and is_object else Read(arguments)
    if arguments is not None:
        return Read(arguments)
    beside = {key: inner for key, inner in value.items() if key not in _CALL_KEYS and key not in keys}
    return Read(beside, ("arguments_gathered",)) if beside else Read({})


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
    read = read_loosely(raw)
    if read is None or not isinstance(read.value, dict):
        return False
    value = read.value
    inner = value.get("function")
    if isinstance(inner, dict) and value.keys() <= {"function", *_OTHER_KEYS}:
        value = inner
    names = [key for key in (*keys.name, *_NAME_KEYS) if isinstance(value.get(key), str)]
    arguments = [key for key in (*keys.arguments, *_ARGUMENT_KEYS) if isinstance(value.get(key), dict | str)]
    if not names or not arguments or not value.keys() <= {names[0], arguments[0], *_OTHER_KEYS}:
        return False
    given = value[arguments[0]]
    return not (isinstance(given, dict) and given.get("type") == "object" and "properties" in given)


def damaged(raw: str, head: Head) -> CallDraft:
    """What no reader takes whole: name and argument text are found by their keys, and left to schema-guided repair."""
    if head.name is not None:
        return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, arguments_text=raw)
    name = _WRITTEN_NAME.search(raw)
    arguments = _WRITTEN_ARGUMENTS.search(raw)
    if name is None or arguments is None or _has_rival(raw, name, arguments) or has_twice_at_top(raw):
        return CallDraft(dialect=DIALECT, name=name[1] if name else None, call_id=head.call_id)
    start, end = arguments.end(), len(raw)
    if name.start() > arguments.start():
        end = name.start()
    text = _without_outer_brace(raw[start:end])
    end = start + len(text)
    is_sound = _is_object(f"{raw[:start]}0{raw[end:]}")
    mends = () if is_sound else ("call_mended",)
    return CallDraft(dialect=DIALECT, name=name[1], call_id=head.call_id, arguments_text=text, mends=mends)


def _has_rival(raw: str, name: re.Match[str], arguments: re.Match[str]) -> bool:
    """Whether another name stands beside the first one."""
    is_first = name.start() < arguments.start()
    again = _WRITTEN_NAME.search(raw, name.end(), arguments.start() if is_first else len(raw))
    return again is not None and again[1] != name[1]


def _is_object(text: str) -> bool:
    try:
        return isinstance(orjson.loads(text), dict)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return False


def _without_outer_brace(text: str) -> str:
    """The argument text without the brace that closes the call around it."""
    text = text.rstrip().rstrip(",")
    inner, outer = text.count("{"), text.count("}")
    return text[:-1].rstrip() if text.endswith("}") and outer > inner else text
