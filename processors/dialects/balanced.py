"""Text → the end of a bracketed body, however it is cut; strings are jumped over in C.

JSON objects, Python arguments and literals with a private quotation mark differ in how their strings look and in how
deep they are when the body starts.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from processors.dialects.json_object import damaged
from processors.dialects.reading import Head
from processors.segmenting.wake import Wake, always
from schemas.segment import CallDraft

_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Strings:
    """How strings look, compiled."""

    wake: re.Pattern[str]
    skip: re.Pattern[str]
    """Everything up to the next bracket, marker or string that does not end in this text."""
    inside: dict[str, re.Pattern[str]]
    """Opening quotation mark → the rest of a string, without its end."""
    stop: re.Pattern[str]
    """A marker that ends a damaged body."""
    stop_partial: re.Pattern[str]
    first: frozenset[str]
    """First characters of these markers."""


def quoted(stops: tuple[str, ...], last: str) -> Strings:
    """Strings in double or single quotation marks with backslash escapes, in a body that a `last` ends."""
    strings = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"' + "|" + r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
    inside = {mark: rf"[^{mark}\\]*+(?:\\.[^{mark}\\]*+)*+" for mark in "\"'"}
    return _strings(strings, inside, "\"'", stops, last)


def delimited(mark: str) -> Strings:
    """Strings between two equal marks of several characters, without escapes."""
    literal = re.escape(mark)
    return _strings(rf"{literal}(?:(?!{literal}).)*+{literal}", {mark: rf"(?:(?!{literal}).)*+"}, mark[0], (), "}")


def _strings(whole: str, inside: dict[str, str], first: str, stops: tuple[str, ...], last: str) -> Strings:
    heads = "".join(sorted({text[0] for text in stops}))
    plain = rf"[^{re.escape(_OPEN + _CLOSE + first + heads)}]*+"
    return Strings(
        wake=re.compile(rf"[{re.escape(last + heads)}]"),
        skip=re.compile(rf"{plain}(?:(?:{whole}){plain})*+", re.DOTALL),
        inside={mark: re.compile(pattern, re.DOTALL) for mark, pattern in inside.items()},
        stop=re.compile("|".join(re.escape(text) for text in stops) or r"(?!)"),
        stop_partial=re.compile("|".join(_prefixes(text) for text in stops) or r"(?!)"),
        first=frozenset(heads),
    )


def _prefixes(text: str) -> str:
    pattern = ""
    for character in reversed(text):
        pattern = f"(?:{re.escape(character)}{pattern})?"
    return pattern


class Balanced:
    """Finds the end of one bracketed body."""

    __slots__ = ("_consumed", "_deepest", "_depth", "_opened", "_quote", "_read", "_strings", "wake")

    def __init__(self, strings: Strings, depth: int, read: Callable[[str, Head], CallDraft]) -> None:
        self._strings = strings
        self._depth = self._deepest = depth
        self._quote = ""
        self._read = read
        self._consumed = 0
        self._opened = 0
        self.wake: Wake = strings.wake.search

    @property
    def opened(self) -> int:
        """See table.Reader. With no string open at its end, a body that does not end has misplaced quotation marks."""
        return self._opened if self._quote else 0

    def scan(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """See table.Reader."""
        strings, size, start = self._strings, len(window), at
        skip = strings.skip.match
        while True:
            if self._quote:
                at = self._leave_string(window, at)
                if self._quote:
                    return self._pause(start, at, size)
            found = skip(window, at)
            at = found.end() if found else at
            if at == size:
                return self._pause(start, at, size)
            character = window[at]
            if character in strings.first and strings.stop.match(window, at):
                return at, True
            if character in strings.first and not is_final and strings.stop_partial.fullmatch(window, at):
                return self._pause(start, at, size)
            if character in _OPEN:
                at += 1
                self._depth += 1
                if self._depth > self._deepest:  # noqa: PLR1730 - a third of the time of max()
                    self._deepest = self._depth
            elif character in _CLOSE:
                at += 1
                self._depth -= 1
                if self._depth <= 0:
                    return at, True
            elif not self._enter_string(window, at):
                at += 1
            elif self._quote:
                self._opened = self._consumed + at - start
                at += len(self._quote)
            else:
                return self._pause(start, at, size)

    def _pause(self, start: int, at: int, size: int) -> tuple[int, bool]:
        self._consumed += at - start
        self.wake = self._strings.wake.search if at == size else always
        return at, False

    def _enter_string(self, window: str, at: int) -> bool:
        """Whether a string begins here, or may begin once there is more text."""
        for mark in self._strings.inside:
            if window.startswith(mark, at):
                self._quote = mark
                return True
            if len(mark) > 1 and mark.startswith(window[at:]):
                return True
        return False

    def _leave_string(self, window: str, at: int) -> int:
        start = at
        found = self._strings.inside[self._quote].match(window, at)
        at = found.end() if found else at
        if window.startswith(self._quote, at):
            at += len(self._quote)
            self._quote = ""
        elif len(self._quote) > 1:
            at = max(at - len(self._quote) + 1, start)
        return at

    def draft(self, raw: str, head: Head) -> CallDraft:
        """See table.Reader."""
        return damaged(raw, head) if self._deepest > head.nesting_max else self._read(raw, head)
