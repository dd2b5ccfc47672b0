r"""Text → the text as its reader means it, with an offset map back: escapes decoded, full-width forms folded.

Escapes are decoded wherever they stand and however deep JSON lies in JSON: a run of backslashes before an escape letter
is one escape. So `"tel\":\"\\u002b86…"` is read like the innermost string. Only `\u53f7` and `\/` change offsets; a
quote, a line end or a tab becomes spaces and itself, which as a boundary is the same and needs no map. Numbered
character references of HTML (`&#64;`, `&#x40;`) are decoded too, as a browser will show them. Full-width
digits, letters, `＠` and `＋` have the length of what they fold to.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

_CODES = re.compile(r"(\\+)u[0-9a-fA-F]{4}(?:\1u[0-9a-fA-F]{4})*|\\+/")
_WITH_REFERENCES = re.compile(
    rf"{_CODES.pattern}|(?:&#[0-9]{{2}};)+|(?:&#[0-9]{{3}};)+|(?:&#[xX][0-9a-fA-F]{{2}};)+", re.ASCII
)
"""The same and character references up to 255, in runs of one length."""
_SAME_LENGTH = (('\\"', ' "'), ("\\n", " \n"), ("\\r", " \r"), ("\\t", " \t"), ("\\", " "))
_WIDE_RUN = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff08\uff09\uff0b\uff0d\uff0e\uff20\uff3f]+")
_FOLD = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


@dataclass(frozen=True, slots=True)
class View:
    """A text to search in, and where each of its characters stands in the original."""

    text: str
    at: tuple[int, ...] = ()
    """Places in `text` at which a piece begins; empty when all offsets are the original's."""
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
    """The text to search in. Linear."""
    view = View(text) if "\\" not in text and "&#" not in text else _decoded(text)
    if is_wide(view.text):
        return View(_WIDE_RUN.sub(_folded, view.text), view.at, view.raw, view.stride)
    return view


def is_wide(text: str) -> bool:
    """Whether a full-width digit, `＠` or `＋` is there; `in` is fastest for one character."""
    return not text.isascii() and (
        ("０" in text or "１" in text or "２" in text or "３" in text or "４" in text or "５" in text)
        or ("６" in text or "７" in text or "８" in text or "９" in text or "＠" in text or "＋" in text)
    )


def _folded(match: re.Match[str]) -> str:
    run = match[0]
    return run.translate(_FOLD) if is_wide(run) else run


def _decoded(text: str) -> View:
    has_references = "&#" in text
    if not has_references and "\\u" not in text and "\\/" not in text:
        return View(_without_escapes(text))
    parts: list[str] = []
    at, raw, stride = [0], [0], [1]
    place = seen = 0
    for match in (_WITH_REFERENCES if has_references else _CODES).finditer(text):
        start, end = match.span()
        plain = text[seen:start]
        decoded, width = _unescaped(match)
        parts += (plain, decoded)
        place += len(plain)
        at += (place, place + len(decoded))
        raw += (start, end)
        stride += (width, 1)
        place, seen = place + len(decoded), end
    parts.append(text[seen:])
    return View(_without_escapes("".join(parts)), tuple(at), tuple(raw), tuple(stride))


def _without_escapes(text: str) -> str:
    for escape, same in _SAME_LENGTH:
        text = text.replace(escape, same)
    return text


def _unescaped(match: re.Match[str]) -> tuple[str, int]:
    escape, slashes = match[0], match[1]
    if escape[0] == "&":
        return "".join(map(_referenced, escape[2:-1].split(";&#"))), escape.index(";") + 1
    if slashes is None:
        return "/", len(escape)
    if len(slashes) > 1:
        escape = escape.replace(slashes, "\\")
    return escape.encode().decode("unicode_escape"), len(slashes) + 5


def _referenced(number: str) -> str:
    return chr(int(number[1:], 16) if number[0] in "xX" else int(number))
