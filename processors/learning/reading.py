"""Text → tool calls by a learned shape: literals around name, keys and values, and two closed enums.

The same reading serves induction, proof and the segmenter, so what was proven is what runs. One cursor, no regular
expression from the data; a value that can't be read ends the call as not read.
"""

import re
from dataclasses import dataclass

from processors.learning.shape import (
    NAME_AS_KEY,
    RUN,
    Reader,
    Shape,
    Tools,
    Typing,
    after_literal,
    filled,
    name_at,
)
from processors.learning.values import CALL_CHARS_MAX, any_literal, decoded, literal_at, structure_end, typed
from schemas.jsonvalue import Json, JsonObject

KEY_CHARS_MAX = 64
CALLS_MAX = 64
_SEPARATOR = re.compile(r"[\s,;]*")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.\-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """One call as read; `start` to `end` is the whole call with its markup."""

    name: str
    arguments: JsonObject
    raw: dict[str, str]
    """Schema-typed values as written, after decoding."""
    start: int
    end: int


def read_section(text: str, at: int, shape: Shape, tools: Tools) -> list[ReadCall]:
    """The calls from the opening literal at `at` on: further ones too where a section goes on without an opener."""
    body = after_literal(text, at, shape.open)
    calls = _calls(text, (at, body), shape, tools) if body is not None else []
    while calls and shape.again is not None and len(calls) < CALLS_MAX:
        gap = _SEPARATOR.match(text, calls[-1].end)
        start = gap.end() if gap else calls[-1].end
        body = after_literal(text, start, shape.again)
        further = _calls(text, (start, body), shape, tools) if body is not None else []
        if not further:
            break
        calls += further
    return calls


def _calls(text: str, place: tuple[int, int], shape: Shape, tools: Tools) -> list[ReadCall]:
    """What stands behind one opener: one call, several for an array of objects, none if nothing fits."""
    at, body = place
    if shape.reader is Reader.OBJECT:
        return _read_objects(text, at, body, shape)
    name = name_at(text, body, tools)
    if name is None:
        return []
    after = body + len(name)
    if shape.reader is Reader.JSON:
        call = _read_json(text, at, after, name, shape)
    else:
        call = read_pairs(text, at, after, name, Pairs(shape, tools.get(name)))
    return [call] if call else []


def _read_json(text: str, start: int, place: int, name: str, shape: Shape) -> ReadCall | None:
    body = after_literal(text, place, filled(shape.first, name))
    if body is None:
        ended = after_literal(text, place, filled(shape.empty, name)) if shape.empty else None
        return None if ended is None else ReadCall(name=name, arguments={}, raw={}, start=start, end=ended)
    end = structure_end(text, body)
    value = _json_object(text[body:end]) if end else None
    ended = after_literal(text, end, filled(shape.close, name)) if end else None
    if value is None or ended is None:
        return None
    return ReadCall(name=name, arguments=value, raw={}, start=start, end=ended)


def _read_objects(text: str, start: int, body: int, shape: Shape) -> list[ReadCall]:
    end = structure_end(text, body)
    read = any_literal(text[body:end]) if end else None
    ended = after_literal(text, end, shape.close) if end else None
    if read is None or ended is None:
        return []
    items = read[0] if isinstance(read[0], list) else [read[0]]
    calls = []
    for item in items:
        name, arguments = _named(item, shape)
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return []
        calls.append(ReadCall(name=name, arguments=arguments, raw={}, start=start, end=ended))
    return calls


def _named(item: Json, shape: Shape) -> tuple[Json, Json]:
    """Name and arguments of one object; with the name as key, its only value is the arguments."""
    if shape.name_path == NAME_AS_KEY:
        return next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else (None, None)
    arguments = at_path(item, shape.arguments_path)
    return at_path(item, shape.name_path), {} if arguments is None else arguments


def at_path(value: Json, path: tuple[str, ...]) -> Json:
    """The value under a path of keys, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


class Pairs:
    """What stays the same over one call's pairs."""

    __slots__ = ("properties", "shape")

    def __init__(self, shape: Shape, properties: JsonObject | None) -> None:
        self.shape = shape
        self.properties = properties

    def key_at(self, text: str, at: int) -> tuple[str, int] | None:
        """A declared key and the offset after its end literal, or None."""
        head = self.shape.key_end.split(RUN)[0]
        end = text.find(head, at, at + KEY_CHARS_MAX + len(head))
        key = text[at:end] if end > at else ""
        known = key in self.properties if self.properties is not None else _IDENTIFIER.fullmatch(key) is not None
        after = after_literal(text, end, self.shape.key_end) if known else None
        return (key, after) if after is not None else None


def read_pairs(text: str, start: int, place: int, name: str, pairs: Pairs) -> ReadCall | None:
    shape = pairs.shape
    arguments: JsonObject = {}
    raw: dict[str, str] = {}
    body = after_literal(text, place, filled(shape.first, name))
    found = pairs.key_at(text, body) if body is not None else None
    if found is None:
        ended = after_literal(text, place, filled(shape.empty, name)) if shape.empty else None
        return None if ended is None else ReadCall(name=name, arguments={}, raw={}, start=start, end=ended)
    while True:
        key, value_at = found
        read = _value(text, value_at, key, name, pairs)
        if read is None or key in arguments or read[1] - start > CALL_CHARS_MAX:
            return None
        value, end, written = read
        arguments[key] = value
        if written is not None:
            raw[key] = written
        following = after_literal(text, end, filled(shape.next, name, key)) if shape.next else None
        found = pairs.key_at(text, following) if following is not None else None
        if found is None:
            closed = _closed(text, end, key, name, shape)
            return (
                None if closed is None else ReadCall(name=name, arguments=arguments, raw=raw, start=start, end=closed)
            )


def _closed(text: str, end: int, key: str, name: str, shape: Shape) -> int | None:
    """Offset after the call's close; the end of the text stands for a close of white space."""
    close = filled(shape.close, name, key)
    ended = after_literal(text, end, close)
    if ended is None and not text[end:].strip() and not close.strip():
        return len(text)
    return ended


def _value(text: str, at: int, key: str, name: str, pairs: Pairs) -> tuple[Json, int, str | None] | None:
    shape = pairs.shape
    if shape.quote and text.startswith(shape.quote, at):
        end = text.find(shape.quote, at + len(shape.quote), at + CALL_CHARS_MAX)
        return None if end < 0 else (text[at + len(shape.quote) : end], end + len(shape.quote), None)
    if shape.typing is Typing.SELF:
        read = literal_at(text, at)
        return None if read is None else (read[0], read[1], None)
    raw_end = _raw_end(text, at, key, name, pairs)
    if raw_end is None:
        return None
    written = decoded(text[at:raw_end], shape.decode)
    schema = (pairs.properties or {}).get(key)
    return typed(written, schema), raw_end, written


def _raw_end(text: str, at: int, key: str, name: str, pairs: Pairs) -> int | None:
    """End of a raw value: where the separator leads to a declared key, or the close stands; the first of both."""
    shape = pairs.shape
    limit = min(len(text), at + CALL_CHARS_MAX)
    close, separator = filled(shape.close, name, key), filled(shape.next, name, key)
    closed = text.find(close, at, limit) if close else -1
    following = text.find(separator, at, limit) if separator else -1
    while following >= 0 and (closed < 0 or following <= closed):
        if pairs.key_at(text, following + len(separator)) is not None:
            return following
        following = text.find(separator, following + 1, limit)
    if closed < 0 and not close.strip():
        return len(text.rstrip()) if len(text) <= limit else None
    return closed if closed >= 0 else None


def _json_object(text: str) -> JsonObject | None:
    read = any_literal(text)
    return read[0] if read and isinstance(read[0], dict) else None
