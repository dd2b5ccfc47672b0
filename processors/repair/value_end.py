"""Where a value ends: what may stand behind it, judged by the keys that are known at each level.

A quote closes a string only if what follows fits: the end of the container, or a comma and a key, or a known key
without its comma. Otherwise it is content. The look is bounded, so reading stays linear.
"""

import re
from dataclasses import dataclass

from processors.limits import LIMITS
from processors.repair.lexis import (
    CLOSERS,
    COMMAS,
    LOOK_AHEAD,
    NEXT_IN_KEY,
    NEXT_IN_STRING,
    NEXT_STRICT,
    QUOTES,
    SEPARATORS,
    STRICT_CLOSERS,
    Blanks,
    decode,
)
from processors.repair.nodes import Items, Members
from processors.repair.toolschema import Spec
from processors.repair.words import WORDS, fold

_QUOTED_KEY = re.compile(
    r"""[“"'`”„‘’「『«＂]((?:[^“"”„'‘’`:：=,{}\[\]\n\\]|\\.|(?<=\w)=(?=\\)){1,120})"""
    r"""[”"'`“’‘」』»＂]?(\s*(?:[:：=＝]))?"""
)
_CUT_KEY = re.compile(r"""[“"'`”„‘’「『«＂][^"“”„'‘’`:：=,{}\[\]\n]{0,120}[”"'`“’‘」』»＂]?\s*\Z""")
_BARE_KEY = re.compile(r"([^\W\d][\w.$-]{0,60})[”\"'`“’]?(\s*(?:[:：=＝]))?")
_ITEM_START = re.compile(r"""[“"'`„‘「『«＂\[{(\-.…+\d]|(?:true|false|null|True|False|None|NaN|Infinity)\b""")
_AFTER_ALL = re.compile(
    r"[\s\ufeff\u200b-\u200f\u2060]*(?:\Z|[<`\[{｛［\"'”“(（。，；、！]|\\n|\\\")|[ \t]*\n|"
    r"[ \t]*(?:;|\))\s*(?:\Z|\n|[\])`])"
)
_AROUND = WORDS.wrappers | WORDS.wrapper_names


@dataclass(slots=True)
class Frame:
    """One container that is open."""

    node: Members | Items
    spec: Spec
    closer: str
    has_bare_keys: bool = False
    is_after_comma: bool = False
    is_empty: bool = True


STRAIGHT = {"｝": "}", "］": "]", "）": ")"}


class TooMuchError(Exception):
    """Deeper or longer than the limits allow; caught where reading began. The argument is a refusal code."""


class Source:
    """One text that is being read, with the containers open in it and the codes of what was odd."""

    __slots__ = ("_last", "_left", "blanks", "codes", "is_strict", "stack", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.blanks = Blanks(text)
        self.stack: list[Frame] = []
        self.codes = self.blanks.codes
        self.is_strict = False
        """The text is JSON, or breaks off: the first quote that isn't escaped ends a string."""
        self._left = LIMITS.repair_tokens_max
        self._last: dict[str, int] = {}

    def skip(self, at: int) -> int:
        """Position of the next token."""
        return self.blanks.skip(at)

    def is_closer(self, char: str) -> bool:
        """Whether a bracket can close anything that is open."""
        char = STRAIGHT.get(char, char)
        return any(frame.closer == char for frame in self.stack)

    def closers_of(self, quote: str, at: int) -> re.Pattern[str]:
        """What ends a string opened by this quote here, or is a backslash."""
        if self.is_strict:
            return NEXT_IN_KEY[quote]
        own = STRICT_CLOSERS.get(quote)
        if own and self._last.setdefault(own, self.text.rfind(own)) > at:
            return NEXT_STRICT[quote]
        return NEXT_IN_STRING[quote]

    def ends_at(self, at: int) -> bool:
        """Whether a value of the innermost container may end before this position."""
        self.spend()
        return self._fits(at, len(self.stack) - 1)

    def spend(self) -> None:
        """Count one token or one look; raises TooMuchError at the limit."""
        self._left -= 1
        if self._left < 0:
            raise TooMuchError("too_large")

    def goes_on_outside(self, at: int) -> bool:
        """Whether a pair of the outermost object follows: what closed it before was one closer too many."""
        at = self.blanks.skip(at, LOOK_AHEAD)
        return self.text[at : at + 1] in COMMAS and self.is_key(
            self.blanks.skip(at + 1, LOOK_AHEAD), 0, needs_known=True
        )

    def _fits(self, at: int, level: int, start: int = -1) -> bool:
        text = self.text
        start = at if start < 0 else start
        at = self.blanks.skip(at, LOOK_AHEAD)
        if at >= len(text):
            return True
        if level < 0:
            return bool(_AFTER_ALL.match(text, start))
        char = text[at]
        frame = self.stack[level]
        if char in CLOSERS:
            return self.is_closer(char) and self._closers_fit(at, level)
        if char in COMMAS:
            return self._goes_on(self.blanks.skip(at + 1, LOOK_AHEAD), level)
        if isinstance(frame.node, Members):
            return (at > start or char in QUOTES) and self.is_key(at, level, needs_known=True)
        return at > start and char in QUOTES

    def _closers_fit(self, at: int, level: int) -> bool:
        text = self.text
        for _ in range(len(self.stack) + 8):
            if at >= len(text) or text[at] not in CLOSERS:
                break
            level = self._level_after(STRAIGHT.get(text[at], text[at]), level)
            at = self.blanks.skip(at + 1, LOOK_AHEAD) if level >= 0 else at + 1
            if level < 0:
                return self._is_over(at)
        return at >= len(text) or self._fits(at, level, at - 1)

    def _level_after(self, char: str, level: int) -> int:
        """A closer of another kind closes the containers in between too."""
        for place in range(level, -1, -1):
            if self.stack[place].closer == char:
                return place - 1
        return level - 1

    def _is_over(self, at: int) -> bool:
        while at < len(self.text) and self.text[at] in CLOSERS:
            at += 1
        return bool(_AFTER_ALL.match(self.text, at)) or self.goes_on_outside(at)

    def _goes_on(self, at: int, level: int) -> bool:
        """Behind a comma: the next key or item."""
        text = self.text
        if at >= len(text) or text[at] in COMMAS:
            return True
        if text[at] in CLOSERS:
            return self._closers_fit(at, level)
        if text.startswith(("...", "…"), at):
            return True
        frame = self.stack[level]
        if isinstance(frame.node, Members):
            return self.is_key(at, level, needs_known=False)
        if _ITEM_START.match(text, at):
            return True
        return bool(frame.spec.items and not frame.spec.items.wants("string"))

    def is_key_of(self, at: int, spec: Spec) -> bool:
        """Whether a key of this schema and its separator stand here, where a value should."""
        found = _QUOTED_KEY.match(self.text, at) if self.text[at] in QUOTES else _BARE_KEY.match(self.text, at)
        return bool(found and found[2] and (found[1] in spec.properties or fold(found[1]) in spec.folded))

    def is_key(self, at: int, level: int, *, needs_known: bool) -> bool:
        """Whether a key of this level begins here."""
        frame = self.stack[level]
        if self.text[at : at + 1] in QUOTES:
            found = _QUOTED_KEY.match(self.text, at)
            if not found or found.end() == len(self.text):
                return not needs_known and bool(_CUT_KEY.match(self.text, at))
            if is_known(found[1], frame.spec) or (level == 0 and fold(found[1]) in _AROUND):
                return True
            return bool(found[2]) and (not needs_known or not frame.spec.properties)
        found = _BARE_KEY.match(self.text, at)
        if not found or not found[2]:
            return False
        if is_known(found[1], frame.spec) or (frame.has_bare_keys and not needs_known):
            return True
        return not needs_known and fold(found[1]) in WORDS.asides


def is_known(key: str, spec: Spec) -> bool:
    """Whether a key, or its folded spelling, is one of the schema's."""
    if "\\" in key:
        key = str(decode(key))
    return key in spec.properties or fold(key) in spec.folded or key in spec.inner_keys


def is_separator(char: str) -> bool:
    """Whether a character may stand between key and value."""
    return char in SEPARATORS
