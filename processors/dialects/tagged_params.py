"""Tagged body → call: a run of `<key>value</key>` in whatever tags; the schema types what the text does not.

Values are not escaped, so a value ends at the first closing tag behind which the body goes on: with another argument,
with the call's end, or not at all. CDATA is jumped over.
"""

import re
from dataclasses import dataclass

import orjson

from processors.dialects.made import draft_of_params, param_of
from processors.dialects.reading import Head
from processors.segmenting.format import ParamMarkers
from processors.segmenting.template import Literal, beginning, heads_of, parse, whole
from schemas.segment import CallDraft, Param

DIALECT = "tagged_params"

_CDATA = re.compile(r"\s{0,64}<!\[CDATA\[")
_CDATA_BEGINNING = re.compile(r"\s{0,64}(?:<(?:!(?:\[(?:C(?:D(?:A(?:T(?:A(?:\[)?)?)?)?)?)?)?)?)?")
_UNREAD_CHARS_MAX = 256
"""Characters of a value that may wait for the call's end: to read them at once costs less than tag by tag."""
_FRAME = re.compile(r"\A\r?\n|\r?\n\Z")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#39;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_TYPES = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Markers:
    """The tags of a tagged body, compiled."""

    wake: re.Pattern[str]
    open: re.Pattern[str]
    open_line: re.Pattern[str]
    """An argument's opening tag at the start of a line."""
    between: re.Pattern[str]
    """Beginnings of an argument or of the call's end."""
    end: re.Pattern[str]
    """The call's end, or the next call."""
    close: re.Pattern[str]
    close_beginning: re.Pattern[str]
    after: re.Pattern[str]
    """A closing tag behind which the body goes on."""
    after_beginning: re.Pattern[str]
    first: re.Pattern[str]
    """A character with which a closing tag begins."""
    over: re.Pattern[str]
    """A marker without which the call is not over."""
    keys: tuple[str, ...]
    """Groups of `open`, one of which holds the argument's key."""
    types: tuple[str, ...]
    strings: tuple[str, ...]
    is_framed: bool


def params_of(markers: ParamMarkers, ends: tuple[str, ...]) -> Markers:
    """Argument markers, and the markers that end the call, → patterns."""
    opens = [parse(template) for template in markers.open]
    closes = [parse(template) for template in markers.close]
    leads = [parse(template)[:1] for template in ends if template and isinstance(parse(template)[0], Literal)]
    follow = "|".join([*(whole(sequence[:1]) for sequence in opens), *(whole(lead) for lead in leads)])
    follow_part = "|".join([*(beginning(sequence[:1]) for sequence in opens), *(beginning(lead) for lead in leads)])
    close = "|".join(whole(sequence) for sequence in closes)
    close_part = "|".join(beginning(sequence) for sequence in closes)
    lasts = {template.removesuffix("$)")[-1] for template in (*markers.open, *markers.close, *ends) if template}
    first = sorted({head[:1] for sequence in closes for head in heads_of(sequence)})
    tagged = [whole(sequence, f"p{place}") for place, sequence in enumerate(opens)]
    opening = re.compile(rf"\s{{0,64}}+(?:{'|'.join(tagged)})")
    groups = {
        name: tuple(group for group in opening.groupindex if group.startswith(f"{name}_"))
        for name in ("key", "type", "string")
    }
    return Markers(
        wake=re.compile(f"[{re.escape(''.join(sorted(lasts)))}]"),
        open=opening,
        open_line=re.compile(rf"\n(?:{'|'.join(whole(sequence) for sequence in opens)})"),
        between=re.compile(rf"\s{{0,64}}+(?:{'|'.join(beginning(sequence) for sequence in opens)}|{follow_part})"),
        end=re.compile(rf"\s{{0,64}}+(?:{'|'.join(whole(lead) for lead in leads) or '(?!)'})"),
        close=re.compile(rf"(?:{close})"),
        close_beginning=re.compile(rf"(?:{close_part})"),
        after=re.compile(rf"(?:{close})\s{{0,64}}+(?:{follow})"),
        after_beginning=re.compile(rf"(?:{close})\s{{0,64}}+(?:{follow_part})"),
        first=re.compile(f"[{re.escape(''.join(first))}]"),
        over=re.compile("|".join(whole(lead) for lead in leads) or "(?!)"),
        keys=groups["key"],
        types=groups["type"],
        strings=groups["string"],
        is_framed=markers.framed,
    )


@dataclass(slots=True)
class _Found:
    """One argument; offsets into the body's text."""

    key: str
    type: str | None
    string: str | None
    start: int
    end: int = -1
    first_close: int = -1
    """The first closing tag seen, in case none is followed by what may follow."""


class ParamsReader:
    """Finds the arguments and the end of one tagged body."""

    __slots__ = ("_consumed", "_found", "_in_cdata", "_markers", "_value", "wake")

    def __init__(self, markers: Markers) -> None:
        self._markers = markers
        self.wake = markers.wake.search
        self._found: list[_Found] = []
        self._value: _Found | None = None
        self._in_cdata: bool | None = False
        self._consumed = 0

    def scan(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """See table.Reader."""
        is_short = len(window) - at < _UNREAD_CHARS_MAX
        if is_short and self._value is not None and not is_final and not self._markers.over.search(window, at):
            return at, False
        offset = self._consumed - at
        start = at
        while True:
            if self._value is None:
                at, is_over = self._next(window, at, offset)
            else:
                at, is_over = self._through_value(window, at, offset, is_final=is_final)
            if is_over is not None:
                self._consumed += at - start
                return at, is_over

    def _next(self, window: str, at: int, offset: int) -> tuple[int, bool | None]:
        found = self._markers.open.match(window, at)
        if found:
            self._value = self._opened(found, found.end() + offset)
            self._in_cdata = None
            return found.end(), None
        if self._markers.end.match(window, at):
            return at, True
        return at, self._markers.between.fullmatch(window, at) is None

    def _through_value(self, window: str, at: int, offset: int, *, is_final: bool) -> tuple[int, bool | None]:
        value, markers = self._value, self._markers
        assert value is not None
        if self._in_cdata is None:
            if not is_final and _CDATA_BEGINNING.fullmatch(window, at):
                return at, False
            self._in_cdata = _CDATA.match(window, at) is not None
        if self._in_cdata:
            end = window.find("]]>", at)
            if end < 0:
                return max(at, len(window) - 2), False
            at, self._in_cdata = end + 3, False
        while True:
            hit = markers.first.search(window, at)
            if hit is None:
                return len(window), False
            at = hit.start()
            close = markers.close.match(window, at)
            if close and markers.after.match(window, at):
                value.end = at + offset
                self._found.append(value)
                self._value = None
                return close.end(), None
            if not is_final and (
                markers.close_beginning.fullmatch(window, at) or markers.after_beginning.fullmatch(window, at)
            ):
                return at, False
            if close and value.first_close < 0:
                value.first_close = at + offset
            at += 1

    @property
    def opened(self) -> int:
        """See table.Reader."""
        return self._value.start if self._value is not None else 0

    def draft(self, raw: str, head: Head) -> CallDraft:
        """See table.Reader."""
        found = list(self._found)
        mends = () if self._value is None else ("closers_added",)
        if self._value is not None:
            self._value.end = self._value.first_close if self._value.first_close >= 0 else len(raw)
            found += self._split(self._value, raw)
        params = tuple([self._param(item, raw[item.start : item.end]) for item in found])
        return draft_of_params(DIALECT, head, params, mends)

    def _split(self, value: _Found, raw: str) -> list[_Found]:
        """A value that was never closed → the values that follow each other in it."""
        values = [value]
        for opening in self._markers.open_line.finditer(raw, value.start, value.end):
            end, values[-1].end = values[-1].end, opening.start()
            found = self._markers.open.match(raw, opening.start())
            if found:
                values.append(self._opened(found, found.end(), end))
        return values

    def _opened(self, found: re.Match[str], start: int, end: int = -1) -> _Found:
        markers = self._markers
        kind = _group(found, markers.types) if markers.types else None
        string = _group(found, markers.strings) if markers.strings else None
        return _Found(_group(found, markers.keys) or "", kind, string, start, end)

    def _param(self, item: _Found, value: str) -> Param:
        cdata = _CDATA.match(value) if "<" in value else None
        if cdata and value.rstrip().endswith("]]>"):
            value = value.rstrip()[cdata.end() : -3]
        elif self._markers.is_framed:
            value = _FRAME.sub("", value)
        key = _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], item.key) if "&" in item.key else item.key
        if item.string is not None:
            return param_of(key, value, "string" if item.string == "true" else _type_of(value))
        return param_of(key, value, item.type)


def _type_of(value: str) -> str | None:
    try:
        return _TYPES.get(type(orjson.loads(value)))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


def _group(found: re.Match[str], groups: tuple[str, ...]) -> str | None:
    for group in groups:
        value: str | None = found[group]
        if value is not None:
            return value
    return None
