"""Text of one stream, however it is cut → segments: reasoning, tool calls, state, response.

One pattern tells whether a piece of text matters where the reader is. What does not matter is put aside unread, so that
prose costs one search in C; what does is read from where reading stopped, and no character twice. Decisions depend on
the text alone, never on how it came: where a marker may still grow, reading waits.
"""

import io

from processors.catalog import Catalog
from processors.limits import LIMITS, Limits
from processors.segmenting.ledger import Ledger, SegmentEvent
from processors.segmenting.places import Places
from processors.segmenting.tools import Tools
from schemas.segment import Opened

_LOOK_BACK = 64
"""Characters before the place of reading that are kept: a fence and a quotation are seen by what stands before them."""


class Segmenter:
    """Cuts one stream; feed it, then close it once."""

    __slots__ = (
        "_at", "_base", "_catalog", "_hint", "_ledger", "_pending", "_places", "_wake", "_write", "chars",
        "format_confidence", "format_id",
    )  # fmt: skip

    def __init__(self, catalog: Catalog, opened: Opened, limits: Limits = LIMITS) -> None:
        meta = opened.meta
        self._catalog = catalog
        self._hint = catalog.hint(meta.format, meta.model)
        self._ledger = Ledger(opened.stream_id, limits, is_certain=not catalog.may_be_implied(self._hint))
        self._places = Places(catalog.automaton, self._ledger, Tools(meta.tools), limits)
        if meta.reasoning_open:
            self._places.enter_reasoning(frozenset())
        self._at = 0
        self._base = 0
        self._pending = io.StringIO()
        self._write = self._pending.write
        self._wake = self._places.wake
        self.chars = 0
        self.format_id: str | None = None
        self.format_confidence = 0.0

    def feed(self, text: str) -> list[SegmentEvent]:
        """Take the next piece of text, give what it makes certain."""
        self._write(text)
        if self._wake(text) is None:
            return []
        window = self._pending.getvalue()
        at = self._places.read(window, self._at, self._base, is_final=False)
        keep = max(0, at - _LOOK_BACK)
        self._pending = io.StringIO()
        self._write = self._pending.write
        self._write(window[keep:])
        self._base += keep
        self._at = at - keep
        self._wake = self._places.wake
        return self._ledger.take()

    def close(self) -> list[SegmentEvent]:
        """The stream is over: give what was held back."""
        window = self._pending.getvalue()
        self._places.read(window, self._at, self._base, is_final=True)
        self._places.finish()
        self.chars = self._base + len(window)
        self.format_id, self.format_confidence = self._catalog.automaton.judge.verdict(self._places.seen, self._hint)
        return self._ledger.take()
