"""Code and comments in text, in which no marker counts: where they open, and how far they reach."""

import io
import re
from enum import Enum

from processors.segmenting.code import (
    NOT_CODE,
    RUN_CHARS_MAX,
    WAIT,
    fence_closes,
    fence_opens,
    inline_ends,
    run_length,
)
from processors.segmenting.wake import Wake, always

COMMENT_OPEN, COMMENT_CLOSE = "<!--", "-->"

_COMMENT_WAKE: Wake = re.compile(">").search
_FENCE_WAKE: dict[str, Wake] = {"`": re.compile("`").search, "~": re.compile("~").search}


class Opening(Enum):
    """What a character that may open a quotation turned out to be."""

    TEXT = "text up to the place given"
    WAIT = "not known yet"
    FENCE = "a fence was opened"
    COMMENT = "a comment was opened"


class Quoted:
    """The fence or comment that is open, if any."""

    __slots__ = ("_comment", "_fence", "wake")

    def __init__(self) -> None:
        self._fence = ""
        self._comment: io.StringIO
        self.wake: Wake = always

    @property
    def comment(self) -> str:
        """What the open comment holds so far."""
        return self._comment.getvalue()

    def open(self, window: str, here: int, *, is_line_start: bool, is_final: bool) -> tuple[int, Opening]:
        """A backtick, tilde or angle bracket → what it opens, and where reading goes on."""
        if window[here] == "<":
            return self._open_comment(window, here, is_final)
        end = fence_opens(window, here, is_final=is_final) if is_line_start else NOT_CODE
        if end >= 0:
            self.open_fence(window[here : here + run_length(window, here)])
            return end, Opening.FENCE
        if end == NOT_CODE and window[here] == "`":
            end = inline_ends(window, here, is_final=is_final)
        if end == WAIT:
            return here, Opening.WAIT
        return (end if end >= 0 else here + max(1, min(run_length(window, here), RUN_CHARS_MAX))), Opening.TEXT

    def open_fence(self, fence: str) -> None:
        """A fence of these characters is open."""
        self._fence = fence

    def _open_comment(self, window: str, here: int, is_final: bool) -> tuple[int, Opening]:
        if window.startswith(COMMENT_OPEN, here):
            self._comment = io.StringIO()
            return here + len(COMMENT_OPEN), Opening.COMMENT
        if not is_final and COMMENT_OPEN.startswith(window[here:]):
            return here, Opening.WAIT
        return here + 1, Opening.TEXT

    def through_fence(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """How far the text is the fence's, and whether it is closed there."""
        end, line_end = fence_closes(window, at, self._fence, is_final=is_final)
        self.wake = always if end < len(window) else _FENCE_WAKE[self._fence[0]]
        return end, line_end != WAIT

    def through_comment(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """How far the text was read, and whether the comment is closed there."""
        end = window.find(COMMENT_CLOSE, at)
        if end >= 0:
            self._comment.write(window[at:end])
            return end + len(COMMENT_CLOSE), True
        end = len(window) if is_final else max(at, len(window) - len(COMMENT_CLOSE) + 1)
        self._comment.write(window[at:end])
        self.wake = _COMMENT_WAKE
        return end, False
