"""Tokens of one stream → its text, each delta once and in order; then segments.

This is the segment stage: the only place that knows of `seq`. What comes before the first token (the producer's
`meta`) opens the stream, `done` closes it; a limit closes it as truncated.
"""

from collections.abc import Iterable

from processors.knowledge import Knowledge
from processors.limits import LIMITS, Limits
from processors.segment import Segmenter
from schemas.failure import Failure, FailureCode, Stage
from schemas.segment import Closed, Opened
from schemas.token import Meta, Token
from schemas.wire import Event

NOTHING: tuple[Event, ...] = ()


class SegmentStage:
    """One stream's tokens → Opened, segments and failures, Closed."""

    __slots__ = (
        "_chars",
        "_knowledge",
        "_limits",
        "_missing",
        "_next",
        "_opened",
        "_segmenter",
        "_tokens",
        "is_closed",
    )

    def __init__(self, knowledge: Knowledge, limits: Limits = LIMITS) -> None:
        self._knowledge = knowledge
        self._limits = limits
        self._segmenter: Segmenter | None = None
        self._opened: Opened | None = None
        self._next = 0
        self._tokens = 0
        self._chars = 0
        self._missing = 0
        self.is_closed = False

    def feed(self, event: Event) -> Iterable[Event]:
        """Take the stream's next token; a repeated `seq` gives nothing, one after the end a failure."""
        if type(event) is not Token:
            return (event,)
        return self._take(event)

    def close(self) -> Iterable[Event]:
        """End the stream here, as truncated, if it did not end itself."""
        if self.is_closed or self._opened is None:
            return NOTHING
        return self._end(self._last(None), truncated=True)

    def _take(self, token: Token) -> Iterable[Event]:
        if token.seq < self._next:
            return NOTHING
        if self.is_closed:
            return (self._failure(token, FailureCode.AFTER_END),)
        events: list[Event] = []
        if self._segmenter is None:
            self._open(token, events)
        if token.seq > self._next:
            self._missing += token.seq - self._next
            events.append(self._failure(token, FailureCode.MISSING_SEQ, f"{self._next}..{token.seq - 1}"))
        self._next = token.seq + token.count
        self._tokens += token.count
        self._chars += len(token.text)
        if self._chars > self._limits.stream_chars_max:
            events.append(self._failure(token, FailureCode.STREAM_TOO_LONG))
            events.extend(self._end(token, truncated=True))
            return events
        if token.text and self._segmenter is not None:
            found = self._segmenter.feed(token.text)
            if found:
                events.extend(found)
        if token.done:
            events.extend(self._end(token, truncated=False))
        return events

    def cut(self, code: FailureCode, ts: float | None = None) -> Iterable[Event]:
        """End a stream that did not end itself: idle too long, or too many open."""
        if self.is_closed or self._opened is None:
            return NOTHING
        last = self._last(ts)
        return [self._failure(last, code), *self._end(last, truncated=True)]

    def _last(self, ts: float | None) -> Token:
        assert self._opened is not None
        return Token(stream_id=self._opened.stream_id, seq=self._next, text="", ts=ts)

    def _open(self, token: Token, events: list[Event]) -> None:
        meta = token.meta or Meta()
        self._opened = Opened(
            stream_id=token.stream_id, meta=meta, registry_version=self._knowledge.version, ts=token.ts
        )
        self._segmenter = Segmenter(self._knowledge.catalog_for(token.stream_id), self._opened, self._limits)
        events.append(self._opened)

    def _end(self, token: Token, *, truncated: bool) -> list[Event]:
        assert self._segmenter is not None
        self.is_closed = True
        events: list[Event] = list(self._segmenter.close())
        events.append(
            Closed(
                stream_id=token.stream_id,
                chars=self._chars,
                tokens=self._tokens,
                format=self._segmenter.format_id,
                format_confidence=self._segmenter.format_confidence,
                truncated=truncated,
                finish_reason=token.finish_reason,
                usage=token.usage,
                missing_seqs=self._missing,
                ts=token.ts,
            )
        )
        return events

    def _failure(self, token: Token, code: FailureCode, found: str = "") -> Failure:
        place = (self._chars, self._chars)
        return Failure(stream_id=token.stream_id, code=code, stage=Stage.SEGMENT, span=place, found=found)
