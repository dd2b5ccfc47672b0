"""A raw text → views of it without its escapes, each with its way back to the raw offsets; and what a piece of it says.

A value stands in the raw text as it is, or behind one coat of escapes or two, or behind HTML entities.
"""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from processors.repair.lexis import SURROGATE, unescape
from processors.repair.nodes import LITERALS
from processors.repair.read_number import decimal_of
from schemas.jsonvalue import Json
from schemas.span import Span

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")
COATS_MAX = 2


@dataclass(frozen=True, slots=True)
class View:
    """A text as it reads, and where each of its characters begins in the raw text; without places, where it stands."""

    text: str
    places: list[int] | None = None

    def span(self, start: int, end: int) -> Span:
        """The raw offsets of a stretch of the view."""
        return (start, end) if self.places is None else (self.places[start], self.places[end])


def views_of(raw: str) -> Iterator[View]:
    """The views of a raw text, the plainest first; each is only made when it is asked for."""
    view = View(SURROGATE.sub("\ufffd", raw))
    yield view
    if "&" in view.text:
        yield _decoded(view, _ENTITY, html.unescape)
    for _ in range(COATS_MAX):
        if "\\" not in view.text:
            return
        view = _decoded(view, _ESCAPE, unescape)
        yield view


def _decoded(view: View, escape: re.Pattern[str], read: Callable[[str], str]) -> View:
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for found in escape.finditer(view.text):
        pieces.append(view.text[done : found.start()])
        places += range(done, found.start())
        said = read(found[0])
        pieces.append(said)
        places += [found.start()] * len(said)
        done = found.end()
    pieces.append(view.text[done:])
    places += range(done, len(view.text) + 1)
    back = view.places
    return View("".join(pieces), places if back is None else [back[place] for place in places])


def says(text: str, value: Json) -> bool:
    """Whether a piece of a raw text says a scalar: the same text behind its escapes, the same number, the same word."""
    if isinstance(value, str):
        return any(view.text == value for view in views_of(text))
    if value is None or isinstance(value, bool):
        return text in LITERALS and LITERALS[text] is value
    return decimal_of(text) == decimal_of(repr(value)) or _float(text) == value


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:  # no number
        return None
