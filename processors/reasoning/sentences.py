r"""Reasoning text → sentences with spans, in English and Chinese.

A sentence ends at `。！？…` and their half-width forms before white space, at a line's end, and at an item of a list. A
full stop does not end one inside a number, a URL, a file name or a known abbreviation, and nothing ends one inside
back quotes or a fence. A combining mark, a closing quote or an emoji right after the end still belongs to it. One
pass of one regular expression without nested repeats, so the cost is linear.
"""

import re

from schemas.span import Span

STEPS_MAX = 5_000
"""Most sentences of one block; what is beyond stays in the last one."""

_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|prof|fig|eq|eqs|no|vol|approx|dept|inc|ltd|jr|sr|st|al|resp)\.$",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?P<fence>^[ \t]*(?:```|~~~)[^\n]*\n)"
    r"|(?P<quoted>`[^`\n]{1,300}`)"
    r"|(?P<stop>[。！？!?….]+)"
    r"|(?P<line>\n)",
    re.MULTILINE,
)
_AFTER = re.compile(r"[\"'”’」』）)\]*_\u200d\ufe0f\u20e3\u2600-\u27bf\U0001f000-\U0001faff]+")
_FENCE_END = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*$", re.MULTILINE)
_CLOSERS = "\"'”’」』）)]*"
_JOINERS = tuple("=/&_")
_LIST_MARK = re.compile(r"\s*(?:\d{1,3}|[a-zA-Z])[.)]$")


def split_steps(text: str) -> list[Span]:
    """Spans of the sentences of a text, in order, white space between them left out."""
    spans: list[Span] = []
    start = at = 0
    while len(spans) < STEPS_MAX - 1 and (found := _END.search(text, at)):
        at, ends = _after(text, start, found)
        if ends:
            _add(spans, text, start, at)
            start = at
    _add(spans, text, start, len(text))
    return spans


def _after(text: str, start: int, found: re.Match[str]) -> tuple[int, bool]:
    """Where to read on after a possible end, and whether a sentence ends there."""
    end = found.end()
    if found.lastgroup == "fence":
        close = _FENCE_END.search(text, end)
        return (close.end() if close else len(text)), True
    if found.lastgroup == "quoted":
        return end, False
    if found.lastgroup == "line":
        return end, True
    if found["stop"][-1] in ".!?" and not _stops(text, start, found):
        return end, False
    after = _AFTER.match(text, end)
    return (after.end() if after else end), True


def _stops(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether half-width marks end a sentence: not inside a word, after an abbreviation or after a list's number."""
    end = found.end()
    follower = text[end : end + 1]
    if found["stop"][-1] == ".":
        if follower and not (follower.isspace() or follower in _CLOSERS or follower > "\u2e80"):
            return False
    elif follower in _JOINERS or (follower.isascii() and follower.isalnum()):
        return False
    if len(found["stop"]) > 1:
        return True
    tail = text[max(start, end - 12) : end]
    return not (_ABBREVIATION.search(tail) or (end - start <= 12 and _LIST_MARK.fullmatch(text[start:end])))


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    if right > left:
        spans.append((left, right))
