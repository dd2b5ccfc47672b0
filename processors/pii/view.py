r"""Text → the text as its reader means it, with an offset map back: JSON escapes decoded, full-width forms folded.

Escapes are decoded wherever they stand and however deep JSON lies in JSON: a run of backslashes before an escape letter
is one escape. So `"tel\":\"\\u002b86…"` is read like the innermost string. Full-width digits, letters, `＠` and `＋`
have the same length as what they fold to and need no map.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

_ESCAPES = re.compile(r"""(\\+)u[0-9a-fA-F]{4}(?:\1u[0-9a-fA-F]{4})*|\\+["/bfnrt\\]""")
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WIDE = re.compile("[\uff10-\uff19\uff20\uff0b\uff21-\uff3a\uff41-\uff5a]")
_WIDE_RUN = re.compile("[\uff01-\uff5e]+")
_FOLD = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


@dataclass(frozen=True, slots=True)
class View:
    """A text to search in, and where each of its characters stands in the original."""

    text: str
    at: tuple[int, ...] = ()
    """Places in `text` at which a piece begins."""
    raw: tuple[int, ...] = ()
    """Where each piece begins in the original."""
    stride: tuple[int, ...] = ()
    """How many original characters each character of the piece is."""

    def original(self, place: int) -> int:
        """Offset in the original of an offset in `text`."""
        if not self.at:
            return place
        piece = bisect_right(self.at, place) - 1
        return self.raw[piece] + (place - self.at[piece]) * self.stride[piece]


def view_of(text: str) -> View:
    """The text to search in; the same text when nothing is escaped or full width. Linear."""
    view = _decoded(text) if "\\" in text else View(text)
    if not view.text.isascii() and _WIDE.search(view.text):
        return View(_WIDE_RUN.sub(_folded, view.text), view.at, view.raw, view.stride)
    return view


def _folded(match: re.Match[str]) -> str:
    run = match[0]
    return run.translate(_FOLD) if _WIDE.search(run) else run


def _decoded(text: str) -> View:
    parts: list[str] = []
    at, raw, stride = [0], [0], [1]
    place = seen = 0
    for match in _ESCAPES.finditer(text):
        start, end = match.span()
        plain = text[seen:start]
        decoded, width = _unescaped(match)
        parts += (plain, decoded)
        place += len(plain)
        at += (place, place + len(decoded))
        raw += (start, end)
        stride += (width, 1)
        place, seen = place + len(decoded), end
    if not parts:
        return View(text)
    parts.append(text[seen:])
    return View("".join(parts), tuple(at), tuple(raw), tuple(stride))


def _unescaped(match: re.Match[str]) -> tuple[str, int]:
    escape, slashes = match[0], match[1]
    if slashes is None:
        return _SIMPLE.get(escape[-1], escape[-1]), len(escape)
    codes = escape.split(slashes + "u")[1:]
    return "".join([chr(int(code, 16)) for code in codes]), len(slashes) + 5
