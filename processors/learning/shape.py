"""How a learned format writes calls: literals and closed enums, and how a literal is found in a text."""

import re
from dataclasses import dataclass
from enum import StrEnum

from schemas.jsonvalue import JsonObject

ECHO = "\x00"
"""In a literal: the key that was opened last."""
NAME = "\x02"
"""In a literal: the name of the tool called."""
RUN = "\x01"
"""In a literal: a run of word characters that differs from call to call (an id, an index, a length)."""

NAME_AS_KEY = ("*",)
"""As `name_path`: `{NAME: {arguments}}`."""

_WORD_RUN = re.compile(r"[A-Za-z0-9_.:-]{1,40}")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.\-]{0,127}")


class Reader(StrEnum):
    """Where name and arguments stand."""

    JSON = "json"
    """Name, a literal, one JSON object, a literal."""
    PAIRS = "pairs"
    """Name, then keys and values between literals."""
    OBJECT = "object"
    """One JSON object that holds name and arguments under learned keys."""


class Typing(StrEnum):
    """What gives a value of a pair its type."""

    SELF = "self"
    """The value is a JSON or Python literal and tells its own end."""
    SCHEMA = "schema"
    """The value is raw text up to the next literal; the schema types it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How calls are written, as literals and enums only."""

    open: str
    line_start: bool = False
    section_open: str = ""
    section_close: str = ""
    again: str | None = None
    """What opens the second call of a section, after white space or a comma; None: `open` itself."""
    reader: Reader
    is_list: bool = False
    """The object's place is an array of objects, one for each call."""
    first: str = ""
    """Between name and first key (pairs), or name and object (json)."""
    key_end: str = ""
    next: str = ""
    """Between a value and the next key."""
    close: str = ""
    empty: str = ""
    """What follows the name of a call without arguments."""
    typing: Typing = Typing.SELF
    quote: str = ""
    """Private token around string values."""
    decode: tuple[str, ...] = ()
    """In this order: `entities`, `trim`, `escapes`."""
    name_path: tuple[str, ...] = ()
    arguments_path: tuple[str, ...] = ()

    @property
    def literals(self) -> tuple[str, ...]:
        """Every literal, for admissibility and description length."""
        return (
            self.open, self.section_open, self.section_close, self.first, self.key_end, self.next, self.close,
            self.empty, self.quote, *self.name_path, *self.arguments_path,
        )  # fmt: skip


Tools = dict[str, JsonObject]


def name_at(text: str, at: int, tools: Tools) -> str | None:
    """The longest registered name at `at`, else an identifier there when nothing is registered."""
    match = _IDENTIFIER.match(text, at)
    if match is None:
        return None
    word = match.group()
    while word and word not in tools and tools:
        cut = max(word.rfind(mark) for mark in ".-_") if word[-1].isalnum() else len(word) - 1
        word = word[: max(cut, 0)]
    return word or None


def filled(literal: str, name: str = "", key: str = "") -> str:
    """A literal with its echoes filled in."""
    return literal.replace(NAME, name).replace(ECHO, key) if NAME in literal or ECHO in literal else literal


def after_literal(text: str, at: int, literal: str) -> int | None:
    """Offset after `literal` at `at`, or None; echoes must have been filled in."""
    if RUN not in literal:
        return at + len(literal) if text.startswith(literal, at) else None
    for number, part in enumerate(literal.split(RUN)):
        if number:
            run = _WORD_RUN.match(text, at)
            if run is None:
                return None
            at = _shortest_run(text, run, part)
        if not text.startswith(part, at):
            return None
        at += len(part)
    return at


def _shortest_run(text: str, run: re.Match[str], part: str) -> int:
    """Where a word run ends when its characters may also begin what follows."""
    found = text.find(part, run.start() + 1, run.end() + len(part)) if part else -1
    return found if found >= 0 else run.end()
