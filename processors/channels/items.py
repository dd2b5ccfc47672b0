"""Items of an iterator that a user has, of any kind → parts: objects, strings, lines of server-sent events, bytes."""

import re

import orjson

from processors.channels.part import Part
from processors.channels.shapes import read_object

LINE_CHARS_MAX = 16_000_000
"""Longest unfinished line of server-sent events that is kept; a longer one is given up."""
_EVENTS_BEGIN = re.compile(r"\s*(?:data:\s*(?:[\[{]|$)|event:\s*[\w.]+\s*$|: [\w ]*\s*$)", re.MULTILINE)
_END = (Part(is_end=True),)


class ItemReader:
    """Reads the items of one iterator in order."""

    __slots__ = ("_is_events", "_rest", "unknown")

    def __init__(self) -> None:
        self._is_events: bool | None = None
        self._rest = ""
        self.unknown = 0
        """Items that were of no known shape, and said nothing to us."""

    def read(self, item: object) -> tuple[Part, ...]:
        """Parts that one item adds."""
        if isinstance(item, str):
            return self._text(item)
        if isinstance(item, bytes | bytearray):
            self._is_events = True
            return self._lines(bytes(item).decode("utf-8", "surrogateescape"))
        parts = read_object(item)
        if parts is None:
            self.unknown += 1
            return ()
        return parts

    def _text(self, text: str) -> tuple[Part, ...]:
        """The first strings tell whether they are lines of events or what the model wrote."""
        if self._is_events is None and text.strip():
            self._is_events = bool(_EVENTS_BEGIN.match(text))
        if not self._is_events:
            return (Part(text),) if text else ()
        return self._lines(text if text.endswith("\n") or "\n" in text else text + "\n")

    def _lines(self, text: str) -> tuple[Part, ...]:
        *lines, self._rest = (self._rest + text).split("\n")
        if len(self._rest) > LINE_CHARS_MAX:
            self._rest = ""
            self.unknown += 1
        found: list[Part] = []
        for line in lines:
            if line.startswith("data:"):
                found += self._data(line[5:].strip())
        return tuple(found)

    def _data(self, data: str) -> tuple[Part, ...]:
        if data == "[DONE]":
            return _END
        try:
            parts = read_object(orjson.loads(data.encode("utf-8", "surrogateescape")))
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            parts = None
        if parts is None:
            self.unknown += 1
            return ()
        return parts
