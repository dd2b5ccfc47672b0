"""Arguments, their raw text and their repairs → where each scalar stands in the text, or the code that says why not.

Computed only when it is asked for, from what every call carries. A value is looked for behind its key, as written or as
a repair says that it was written, and behind the value before it; between them may stand only what is no word. What is
found therefore decodes to the value. The cost is linear: each search begins where the last one ended, and all of them
together read at most READS_A_CHAR times the text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from processors.repair.nodes import pointer_step
from processors.repair.written import View, says, views_of
from schemas.jsonvalue import Json, JsonObject
from schemas.span import Span
from schemas.toolcall import Repair

UNCLEAR = "place_unclear"
"""The value stands at several places of the text, and nothing says at which."""
NOT_SEARCHED = "too_large"
READS_A_CHAR = 40
READS_MIN = 20_000
ALONE_MIN = 3
"""Shortest text that is looked for without its key."""
TRIES_MAX = 8
"""Places of one key that are looked at."""
RENAMED = frozenset({
    "name_style", "name_residue", "name_fuzzy", "name_synonym", "unknown_param_renamed", "nested_rebuilt", "rule",
})  # fmt: skip
"""Codes that change a key and leave its value as written."""
_GAP = re.compile(
    r"(?:<[^<>\n]{0,80}>|[\W_]|\b(?:string|type)=[\"'](?:true|false|\w{0,12})[\"']"
    r"|(?:n|r|t|CDATA|value|arg_value|item|and|und|et|y)(?![^\W_])|\d{1,6}(?=[\"'”]?\s*[:：=]))*"
)
_NUMBER = re.compile(r"[-+]?(?:\d|\.\d)[\w.+-]*")
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\d)")
_WORD = re.compile(r"[^\W\d_]+")
_EMPTY = re.compile(r"[\\\"'”’`\])]*?\s*[:：=＝>,\[\s\\]*[\"'“”`](?=\\*[\"'“”`])")


COATS = frozenset({"decoded_nested", "double_encoded", "unescaped", "quotes_undoubled"})
"""Codes of the whole text that may leave no value as it is written."""
GAP_MAX = 2_000
"""Most characters between a key and its value."""
_QUOTES = frozenset("\"'`“”„‘’«»「」『』＂>")
_EMPTY_TAG = re.compile(r"(?:</[^<>]{0,80}>\s*<[^<>/]{0,80}>|[^<>\w]{0,8}[^<>]{0,60}>)\s*(?=</|<\|)")


@dataclass(slots=True)
class _Search:
    """One call's text under way."""

    rest: Iterator[View]
    """Views that were not needed yet."""
    codes: Mapping[str, str]
    """Path → why its value may be another than what is written."""
    keys: Mapping[str, str]
    """Path → its key as written, where a repair says that it was another."""
    reads: int
    """How many more characters may be read."""
    made: list[View] = field(default_factory=list)
    cursor: int = 0
    """Raw offset behind what was found last."""
    found: dict[str, Span | str] = field(default_factory=dict)
    taken: set[Span] = field(default_factory=set)
    """Where values were found: a second one does not stand there."""

    def views(self) -> Iterator[View]:
        """The views of the text, made once each."""
        yield from self.made
        for view in self.rest:
            self.made.append(view)
            yield view


def spans_of(arguments: JsonObject, raw: str, repairs: Sequence[Repair] = ()) -> dict[str, Span | str]:
    """JSON pointer of each scalar of the arguments → its half-open offsets in `raw`, or a code.

    The code is that of the repair that made the value another than what is written, `place_unclear`, or `too_large`.
    """
    search = _Search(
        rest=views_of(raw),
        codes={repair.path: repair.code for repair in reversed(repairs) if repair.code not in RENAMED},
        keys={repair.path: repair.detail for repair in repairs if repair.code in RENAMED and repair.detail},
        reads=READS_MIN + READS_A_CHAR * len(raw),
    )
    if "" in search.codes:
        coats = [repair.code for repair in repairs if not repair.path and repair.code in COATS]
        search.codes = {**search.codes, "": coats[0] if coats else UNCLEAR}
    _inside(arguments, "", search)
    return search.found


def _inside(value: Json, path: str, search: _Search) -> None:
    """Find the scalars of a container, in order."""
    start = search.cursor
    named = value.items() if isinstance(value, dict) else ((None, inner) for inner in value)
    for place, (key, inner) in enumerate(named):
        below = f"{path}/{place if key is None else pointer_step(key)}"
        name = None if key is None else search.keys.get(below, key)
        if isinstance(inner, dict | list):
            if name is not None and search.reads > 0:
                search.cursor = _behind_name(search, name, start)
            _inside(inner, below, search)
        else:
            search.found[below] = _scalar(inner, below, name, (search, start))


def _behind_name(search: _Search, name: str, start: int) -> int:
    """Raw offset behind a key whose value is a container; where the search stands, if the key is not written."""
    for view, end in _places_of(name, tuple(dict.fromkeys((search.cursor, start))), search, 1):
        return view.span(end, end)[0]
    return search.cursor


def _cursor(view: View, raw_offset: int) -> int:
    return raw_offset if view.places is None else bisect_left(view.places, raw_offset)


def _scalar(value: Json, path: str, name: str | None, under_way: tuple[_Search, int]) -> Span | str:
    """Where a value stands; one that was changed is only looked for at the next place of its key."""
    search, start = under_way
    is_changed = path in search.codes
    begins = (search.cursor,) if is_changed else tuple(dict.fromkeys((search.cursor, start, 0)))
    for view, end in _places_of(name, begins, search, 1 if is_changed else TRIES_MAX):
        place = _behind(value, view, end, search)
        span = view.span(*place) if place else None
        if span is not None and span not in search.taken:
            search.taken.add(span)
            search.cursor = span[1]
            return span
    if search.reads <= 0:
        return NOT_SEARCHED
    return _changed(path, search) or _only_place(value, search) or search.codes.get("", UNCLEAR)


def _places_of(name: str | None, begins: tuple[int, ...], search: _Search, tries: int) -> Iterator[tuple[View, int]]:
    """Where a value may begin: behind its key, from each of these raw offsets on; at the offset, if it has no key."""
    for begin in begins:
        for view in search.views():
            at = _cursor(view, begin)
            ends = iter((at,)) if name is None else _ends_of(name, view, at, search)
            yield from ((view, end) for end in islice(ends, tries) if search.reads > 0)


def _changed(path: str, search: _Search) -> str:
    """The code of the nearest repair at the value or around it."""
    while path:
        if path in search.codes:
            return search.codes[path]
        path = path.rpartition("/")[0]
    return ""


def _only_place(value: Json, search: _Search) -> Span | None:
    """The one place where a text of some length stands, whatever is around it."""
    if not isinstance(value, str) or len(value) < ALONE_MIN:
        return None
    for view in search.views():
        search.reads -= 2 * len(view.text)
        if search.reads <= 0:
            return None
        at = view.text.find(value)
        if at >= 0 and view.text.find(value, at + 1) < 0:
            return view.span(at, at + len(value))
    return None


def _ends_of(name: str, view: View, at: int, search: _Search) -> Iterator[int]:
    """The ends of the first places of a name, as a word of its own."""
    text = view.text
    for _ in range(TRIES_MAX):
        if search.reads <= 0 or not name:
            return
        start = text.find(name, at)
        search.reads -= (start if start >= 0 else len(text)) - at
        if start < 0:
            return
        at = start + len(name)
        if _is_whole(text, start, at):
            yield at


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a piece of a text begins and ends where words do."""
    begins = start == 0 or not (_is_letter(text[start]) and _is_letter(text[start - 1]))
    return begins and (end >= len(text) or not (_is_letter(text[end - 1]) and _is_letter(text[end])))


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


def _behind(value: Json, view: View, at: int, search: _Search) -> Span | None:
    """Where a value stands, if nothing but marks is between this place and it."""
    gap = _GAP.match(view.text, at, at + GAP_MAX)
    end = gap.end() if gap else at
    search.reads -= end - at + len(str(value))
    if isinstance(value, str):
        return _text_in(value, view.text, at, end)
    while end > at and view.text[end - 1] in "+-.":
        end -= 1
    for shape in (_NUMBER, _PLAIN_NUMBER, _WORD):
        token = shape.match(view.text, end)
        if token and says(token[0], value):
            return token.span()
    return None


def _text_in(value: str, text: str, at: int, end: int) -> Span | None:
    """Where a text stands that begins in this gap or at its end."""
    if not value:
        empty = _EMPTY.match(text, at, min(end + 2, at + GAP_MAX)) or _EMPTY_TAG.match(text, at, at + GAP_MAX)
        return (empty.end(), empty.end()) if empty else None
    has_letters = any(map(_is_letter, value))
    start = text.find(value, at, end + len(value))
    for _ in range(TRIES_MAX):
        if start < 0:
            return None
        is_marked = has_letters or (start > 0 and text[start - 1] in _QUOTES)
        if is_marked and _is_whole(text, start, start + len(value)):
            return start, start + len(value)
        start = text.find(value, start + 1, end + len(value))
    return None
