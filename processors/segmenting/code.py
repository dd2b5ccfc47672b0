"""Where code is quoted in text: fences and inline code, in which a marker is text.

Each function answers from the text that has come so far: a position, or WAIT when more text is needed to be sure.
"""

import re
from functools import lru_cache

WAIT = -1
NOT_CODE = -2

INLINE_CHARS_MAX = 400
"""Longest inline code looked for: what is longer on one line is a lone backtick."""
INFO_CHARS_MAX = 200

RUN_CHARS_MAX = 200
"""Longest run of fence characters that may mean something; of a longer one, so many are text at a time."""

_RUN = {mark: re.compile(f"{mark}{{1,{RUN_CHARS_MAX + 1}}}") for mark in "`~"}


def run_length(window: str, at: int) -> int:
    """Number of equal fence characters from here on, as far as it matters."""
    found = _RUN[window[at]].match(window, at)
    return found.end() - at if found else 0


def fence_opens(window: str, at: int, *, is_final: bool) -> int:
    """A run of three or more at the start of a line → the end of its line."""
    length = run_length(window, at)
    if length > RUN_CHARS_MAX:
        return NOT_CODE
    end = window.find("\n", at + length, at + length + INFO_CHARS_MAX + 1)
    if end < 0 and not is_final and len(window) - at - length <= INFO_CHARS_MAX:
        return WAIT
    if length < 3 or end < 0:
        return NOT_CODE
    return end if "`" not in window[at + length : end] else NOT_CODE


@lru_cache(RUN_CHARS_MAX)
def _closing_line(fence: str) -> re.Pattern[str]:
    # Models close a fence and write a marker straight behind it.
    return re.compile(rf"\n[ \t>]{{0,32}}{fence[0]}{{{len(fence)},}}[ \t\r]{{0,32}}(?=(\n|[^\w\s`~{{.])|\Z)")


def fence_closes(window: str, at: int, fence: str, *, is_final: bool) -> tuple[int, int]:
    """The closing line of a fence → where reading may go on, and the end of that line (or WAIT)."""
    found = _closing_line(fence).search(window, at)
    if found:
        if found[1] or is_final:
            return found.end(), found.end()
        return found.start(), WAIT
    line = window.rfind("\n", at)
    if line >= 0 and not window[line:].strip(" \t\r\n>" + fence[0]) and not is_final:
        return line, WAIT
    return len(window), WAIT


def inline_ends(window: str, at: int, *, is_final: bool) -> int:
    """A run of backticks in a line → the end of the run that closes it."""
    length = run_length(window, at)
    if length > RUN_CHARS_MAX:
        return at + RUN_CHARS_MAX
    start = at + length
    if start == len(window) and not is_final:
        return WAIT
    line = window.find("\n", start, start + INLINE_CHARS_MAX)
    limit = line if line >= 0 else min(len(window), start + INLINE_CHARS_MAX)
    place = window.find("`", start, limit)
    while place >= 0:
        run = run_length(window, place)
        if place + run == len(window) and not is_final and run <= RUN_CHARS_MAX:
            return WAIT
        if run == length:
            return place + run
        place = window.find("`", place + run, limit)
    if line < 0 and not is_final and len(window) - start < INLINE_CHARS_MAX:
        return WAIT
    return NOT_CODE
