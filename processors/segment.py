"""Text of one stream, however it is cut → segments: reasoning, tool calls, state, response.

One pattern tells whether a piece of text matters where the reader is. What does not matter is put aside unread, so that
prose costs one search in C; what does is read from where reading stopped, and no character twice. Decisions depend on
the text alone, never on how it came: where a marker may still grow, reading waits.
"""

import io
from collections.abc import Callable, Sequence

from processors.catalog import Catalog
from processors.limits import LIMITS, Limits
from processors.segmenting.ledger import Ledger, SegmentEvent
from processors.segmenting.places import Places
from processors.segmenting.tools import Tools
from processors.segmenting.wake import Wake, always
from schemas.failure import FailureCode
from schemas.segment import Opened


class Segmenter:
    """Cuts one stream; feed it, then close it once."""

    __slots__ = (
        "_catalog", "_has_deltas", "_hints", "_is_over", "_ledger", "_left", "_pending", "_places",
        "_wake", "_write", "chars", "format_confidence", "format_id",
    )  # fmt: skip

    def __init__(self, catalog: Catalog, opened: Opened, limits: Limits = LIMITS, *, deltas: bool = False) -> None:
        """`deltas`: also give text of segments that are still open; every piece is then read at once."""
        meta = opened.meta
        self._catalog = catalog
        self._hints = catalog.hints(meta.format, meta.model) if meta.format or meta.model else frozenset()
        self._ledger = Ledger(opened.stream_id, limits)
        self._places = Places(catalog.automaton, self._ledger, Tools(meta.tools), limits)
        if meta.reasoning_open:
            self._places.enter_reasoning(frozenset())
        self._has_deltas = deltas
        self._left = limits.stream_chars_max
        self._is_over = False
        self._pending = io.StringIO()
        self._write: Callable[[str], int] = self._pending.write
        self._wake: Wake = self._places.wake
        self.chars = 0
        self.format_id: str | None = None
        self.format_confidence = 0.0

    def feed(self, text: str) -> Sequence[SegmentEvent]:
        """Take the next piece of text, give what it makes certain."""
        if self._wake(text) is None:
            self._left -= self._write(text)
            return () if self._left >= 0 else self._stop()
        self._left -= len(text)
        if self._left < 0 or self._pending.tell():
            self._write(text)
            if self._left < 0:
                return self._stop()
            text = self._pending.getvalue()
            self._pending = io.StringIO()  # one that is emptied instead keeps 4 bytes for a character
            self._write = self._pending.write
        places = self._places
        places.read(text)
        if self._has_deltas:
            self._wake = always
            places.send()
        else:
            self._wake = places.wake
        return self._ledger.take() if self._ledger.out else ()

    def _stop(self) -> list[SegmentEvent]:
        """The stream is longer than the limit: what is beyond is not read."""
        if self._is_over:
            return []
        unread = self._pending.getvalue()[: self._left]
        self._write = len
        self._finish(unread)
        span = (self.chars, self.chars)
        self._ledger.failure(FailureCode.STREAM_TOO_LONG, span, "", state="stream")
        return self._ledger.take()

    def close(self) -> list[SegmentEvent]:
        """The stream is over: give what was held back."""
        if not self._is_over:
            self._finish(self._pending.getvalue())
        self.format_id, self.format_confidence = self._catalog.automaton.judge.verdict(self._ledger.seen, self._hints)
        return self._ledger.take()

    def _finish(self, unread: str) -> None:
        self.chars = self._places.finish(unread)
        self._is_over = True
