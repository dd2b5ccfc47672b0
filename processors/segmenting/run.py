"""The text between two marks → segments: what is collected, what is framing, what must be put back.

White space behind a mark is framing, unless the stream begins with it. A token that ends a turn is markup only when no
more text follows; until that is known it is put aside, and put back when text follows.
"""

import io
import re

from processors.segmenting.ledger import Ledger
from processors.segmenting.members import REASONING, RESPONSE
from processors.segmenting.orphans import MAY_HOLD, call_like, orphans_in
from processors.segmenting.quoted import COMMENT_CLOSE, COMMENT_OPEN
from processors.segmenting.tools import Tools
from schemas.failure import FailureCode
from schemas.segment import SegmentKind

_CLOSING_TAG = re.compile(r"</([^\s<>/]{1,64})>")


def _is_pair(tokens: str, text: str) -> bool:
    """Whether a closing tag at the end of a text closes one that the text itself opens, as in HTML."""
    tag = _CLOSING_TAG.match(tokens)
    return tag is not None and f"<{tag[1]}" in text


class Run:
    """Collects the text of the segment that is open."""

    __slots__ = (
        "_aside", "_held_max", "_leak", "_room", "_text", "_tools", "_unsent", "has_calls", "is_start", "ledger",
        "start",
    )  # fmt: skip

    def __init__(self, ledger: Ledger, tools: Tools, held_max: int) -> None:
        self.ledger = ledger
        self._tools = tools
        self._held_max = self._room = held_max
        self._unsent: list[str] | None = None
        self._text = io.StringIO()
        self._aside: list[str] = []
        self._leak: list[str] = []
        self.start = 0
        """Where the text began, in the stream."""
        self.is_start = True
        """Whether nothing but white space came since the stream began."""
        self.has_calls = False

    @property
    def is_empty(self) -> bool:
        """Whether no text was collected."""
        return not self._text.tell()

    def holds(self, pattern: re.Pattern[str]) -> bool:
        """Whether the text so far holds this, what is held in the ledger included."""
        texts = (event.text for event in self.ledger.held())
        return pattern.search(self._text.getvalue()) is not None or any(pattern.search(text) for text in texts)

    def write(self, text: str, kind: SegmentKind = RESPONSE) -> None:
        """More text; a segment of this kind that grows beyond the limit is ended there."""
        self._room -= self._text.write(text)
        if self._unsent is not None:
            self._unsent.append(text)
        if self._room < 0:
            self._split(kind)

    def _split(self, kind: SegmentKind) -> None:
        text, size = self._text.getvalue(), self._held_max
        while len(text) > size:
            span = (self.start, self.start + size)
            self.ledger.settle()
            self.ledger.failure(FailureCode.HELD_TOO_LONG, span, "", state="text")
            self.ledger.segment(kind, text[:size], span)
            self.start, text = self.start + size, text[size:]
        self._restore(text)

    def _restore(self, text: str) -> None:
        self._text = io.StringIO()
        self._room = self._held_max - self._text.write(text)
        if self._unsent is not None:
            self._unsent = [text] if text else []

    def send(self, kind: SegmentKind) -> None:
        """Give live readers what is sure to be of the segment; white space at its end may be framing."""
        if self._unsent is None:
            self._unsent = [self._text.getvalue()]
        if not self._unsent or self._unsent[-1].isspace() or self.ledger.has_held:
            return
        unsent = "".join(self._unsent)
        if kind is SegmentKind.REASONING and len(unsent) == self._text.tell():
            unsent = unsent.lstrip()
        text = unsent.rstrip()
        self._unsent = [unsent[len(text) :]] if len(text) < len(unsent) else []
        if text:
            self.ledger.delta(kind, text)

    def put_aside(self, text: str, *, is_leak: bool = False) -> None:
        """White space behind a mark, or a token that may end the turn."""
        if text:
            self._aside.append(text)
        if is_leak:
            self._leak.append(text)

    def resume(self, place: int, *, has_tokens: bool) -> None:
        """Plain text follows at this place in the stream."""
        aside = self._take_aside() if self._aside else ""
        if has_tokens or self.is_start or self._text.tell():
            if not self._text.tell():
                self.start = place - len(aside)
            if aside:
                self._text.write(aside)
        else:
            self.start = place
        self.is_start = False

    def restart(self, place: int) -> None:
        """A mark ends here."""
        if self._aside:
            self._take_aside()
        self.start = place
        self.is_start = False

    def _take_aside(self) -> str:
        if not self._aside:
            return ""
        aside = "".join(self._aside)
        self._aside, self._leak = [], []
        return aside

    def end(self, kind: SegmentKind, place: int, *, by_mark: bool) -> None:
        """The segment ends here; framing at a mark is not part of it."""
        if not (self._aside or self._text.tell()):
            self.start = place
            return
        leak = "".join(self._leak) if self._leak else ""
        aside = self._take_aside()
        if leak and _is_pair(leak, self._text.getvalue()):
            leak, by_mark = "", False
        if leak:
            self.ledger.failure(FailureCode.LEAKED_TOKEN, (place - len(aside), place), leak, state="text")
            by_mark = True
        elif aside and not by_mark and (self.is_start or not self.is_empty):
            self._text.write(aside)
            aside = ""
        text, start = self._text.getvalue(), self.start
        self.start = place
        place -= len(aside)
        is_one_piece = place - start == len(text)
        if not text:
            return
        self._restore("")
        if kind is REASONING:
            start += len(text) - len(text.lstrip())
            text = text.strip()
        elif by_mark:
            text = text.rstrip()
        if text and (not text.isspace() or self.is_start):
            self.ledger.segment(kind, text, (start, start + len(text) if is_one_piece else place))
            if kind is RESPONSE:
                self._report(text, start)

    def end_implied(self, place: int) -> None:
        """A bare closing marker: what came before was reasoning that the prompt opened."""
        if self.ledger.has_sent:
            self.ledger.relabel(SegmentKind.REASONING)
        held = self.ledger.take_held()
        if held:
            parts = [
                COMMENT_OPEN + one.text + COMMENT_CLOSE if one.kind is SegmentKind.STATE else one.text for one in held
            ]
            self._restore("".join(parts) + self._text.getvalue())
            self.start = held[0].span[0]
        self.ledger.settle()
        self.end(SegmentKind.REASONING, place, by_mark=True)

    def _report(self, text: str, start: int) -> None:
        """Marker-like text and names of tools in a response are material for the learner."""
        if MAY_HOLD.search(text) is not None:
            for place, marker, context in orphans_in(text):
                span = (start + place, start + place + len(marker))
                self.ledger.failure(FailureCode.ORPHAN_MARKER, span, marker, state="text", context=context)
        found = None if self.has_calls else call_like(text, self._tools.names)
        if found:
            name, context = found
            span = (start, start + len(text))
            self.ledger.failure(FailureCode.LOOKS_LIKE_CALL, span, name, state="text", context=context)
