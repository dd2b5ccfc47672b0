"""Literal with a private quotation mark → call: `{key:<mark>text<mark>,n:1,on:true}`; keys are bare."""

import re
from dataclasses import dataclass, field

from processors.dialects.reading import Head
from processors.repair.strict import json_number
from schemas.jsonvalue import Json
from schemas.segment import CallDraft

DIALECT = "delimited_literal"

_BARE = re.compile(r"[^,:{}\[\]]*")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_ODD_WORDS: dict[str, Json] = {**_WORDS, "none": None}


class _UnreadableError(ValueError):
    pass


def read_literal(raw: str, head: Head, mark: str) -> CallDraft:
    """The text of the outer braces → the call."""
    parser = _Parser(raw, mark, head.nesting_max)
    try:
        value, end = parser.value(0, 0)
    except _UnreadableError:
        return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, arguments_text=raw)
    if raw[end:].strip() or not isinstance(value, dict):
        return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, arguments_text=raw)
    mends = tuple(sorted(parser.mends))
    return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, value=value, mends=mends)


@dataclass(frozen=True, slots=True)
class _Parser:
    text: str
    mark: str
    depth_max: int
    mends: set[str] = field(default_factory=set)
    """Codes of what the text needed."""

    def value(self, at: int, depth: int) -> tuple[Json, int]:
        if depth > self.depth_max:
            raise _UnreadableError
        at = self._spaces(at)
        if self.text.startswith(self.mark, at):
            return self._string(at)
        if self.text.startswith("{", at):
            return self._object(at + 1, depth)
        if self.text.startswith("[", at):
            return self._array(at + 1, depth)
        return self._bare(at)

    def _spaces(self, at: int) -> int:
        while self.text[at : at + 1].isspace():
            at += 1
        return at

    def _string(self, at: int) -> tuple[str, int]:
        start = at + len(self.mark)
        end = self.text.find(self.mark, start)
        if end < 0:
            raise _UnreadableError
        return self.text[start:end], end + len(self.mark)

    def _bare(self, at: int) -> tuple[Json, int]:
        found = _BARE.match(self.text, at)
        word = found[0].strip() if found else ""
        end = found.end() if found else at
        if (number := json_number(word)) is not None:
            return number, end
        if word in _WORDS:
            return _WORDS[word], end
        if word.lower() in _ODD_WORDS:
            self.mends.add("python_literal")
            return _ODD_WORDS[word.lower()], end
        if not word:
            raise _UnreadableError
        self.mends.add("auto_quoted_values")
        return word, end

    def _object(self, at: int, depth: int) -> tuple[Json, int]:
        found: dict[str, Json] = {}
        while True:
            at = self._spaces(at)
            if self.text.startswith("}", at):
                return found, at + 1
            key, at = self._string(at) if self.text.startswith(self.mark, at) else self._key(at)
            at = self._spaces(at)
            if not self.text.startswith(":", at) or key in found:
                raise _UnreadableError
            found[key], at = self.value(at + 1, depth + 1)
            at = self._after_item(at, "}")

    def _key(self, at: int) -> tuple[str, int]:
        found = _BARE.match(self.text, at)
        if found is None or not found[0].strip():
            raise _UnreadableError
        key = found[0].strip()
        if key[0] in "\"'":
            self.mends.add("quotes_replaced")
        return key.strip("\"'"), found.end()

    def _array(self, at: int, depth: int) -> tuple[Json, int]:
        found: list[Json] = []
        while True:
            at = self._spaces(at)
            if self.text.startswith("]", at):
                return found, at + 1
            item, at = self.value(at, depth + 1)
            found.append(item)
            at = self._after_item(at, "]")

    def _after_item(self, at: int, end: str) -> int:
        at = self._spaces(at)
        if self.text.startswith(",", at):
            if self.text.startswith(end, self._spaces(at + 1)):
                self.mends.add("trailing_comma")
            return at + 1
        if self.text.startswith(end, at):
            return at
        raise _UnreadableError
