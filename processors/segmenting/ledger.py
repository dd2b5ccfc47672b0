"""Pieces of text → segments and failures, numbered, in order.

Text at the beginning of a stream may turn out to be reasoning that the prompt opened: what it was cut into is held
until a first marker, or the end, makes it certain.
"""

import re

from processors.limits import Limits
from processors.segmenting.marks import Mark
from processors.segmenting.members import TOOL_CALL
from schemas.failure import Failure, FailureCode, Stage
from schemas.jsonvalue import Json
from schemas.segment import CallDraft, Delta, Relabel, Segment, SegmentKind
from schemas.span import Span

SegmentEvent = Segment | Delta | Relabel | Failure

_FAILURES_MAX = 1_000
"""Most failures of one stream: a thousand show what there is to see."""
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")


class _Fields:
    """The fields of a Segment, not frozen: to fill these takes a seventh of the time that making a frozen one takes."""

    __slots__ = Segment.__slots__
    schema: str
    stream_id: str
    order: int
    kind: SegmentKind
    text: str
    span: Span
    call: CallDraft | None
    repairs: tuple[str, ...]
    format: str | None


class Ledger:
    """The events of one stream."""

    __slots__ = (
        "_failures", "_format", "_held", "_known", "_limits", "_order", "_stream_id", "has_sent", "is_certain", "out",
        "seen",
    )  # fmt: skip

    def __init__(self, stream_id: str, limits: Limits) -> None:
        self._stream_id = stream_id
        self._limits = limits
        self._order = 0
        self._failures = 0
        self._held: list[SegmentEvent] = []
        self._known: frozenset[str] = frozenset()
        self._format: str | None = None
        self.is_certain = False
        """Whether no reasoning can have been opened by the prompt, as far as is known now."""
        self.has_sent = False
        """Whether a live reader was sent text that is uncertain."""
        self.out: list[SegmentEvent] = []
        self.seen: set[Mark] = set()
        """The marks that counted."""

    def take(self) -> list[SegmentEvent]:
        """What was added since it was asked last."""
        out = self.out
        if out:
            self.out = []
        return out

    def see(self, mark: Mark) -> None:
        """A mark counts: the only format that has all of those so far is the stream's."""
        if mark not in self.seen:
            self.seen.add(mark)
            self._known = (self._known & mark.formats) or mark.formats
            self._format = next(iter(self._known)) if len(self._known) == 1 else None

    def has_call_of(self, formats: frozenset[str]) -> bool:
        """Whether a call of one of these formats came."""
        return any(mark.grammar is not None and mark.formats & formats for mark in self.seen)

    def segment(self, kind: SegmentKind, text: str, span: Span, repairs: tuple[str, ...] = ()) -> None:
        """A run of text of one kind."""
        (self.out if self.is_certain else self._held).append(self._made(kind, text, span, None, repairs))

    def call(self, text: str, span: Span, draft: CallDraft, repairs: tuple[str, ...]) -> None:
        """A tool call; makes certain what came before."""
        if not self.is_certain:
            self.settle()
        self.out.append(self._made(TOOL_CALL, text, span, draft, repairs))

    def _made(
        self, kind: SegmentKind, text: str, span: Span, call: CallDraft | None, repairs: tuple[str, ...]
    ) -> Segment:
        made = _Fields()
        made.schema = "segment/1"
        made.stream_id = self._stream_id
        made.order = self._order
        made.kind = kind
        made.text = text
        made.span = span
        made.call = call
        made.repairs = repairs
        made.format = self._format
        made.__class__ = Segment  # type: ignore[assignment] # same slots, so the same object
        self._order += 1
        return made  # type: ignore[return-value] # it is one now

    def failure(
        self, code: FailureCode, span: Span, found: str, *, state: str, context: dict[str, Json] | None = None
    ) -> None:
        """Something odd; excerpts and their number are bounded here."""
        self._failures += 1
        if self._failures > _FAILURES_MAX:
            return
        excerpt = found[: self._limits.excerpt_chars_max]
        shape = _DIGITS.sub("9", _LETTERS.sub("a", excerpt))[:64]
        self._add(
            Failure(
                stream_id=self._stream_id,
                code=code,
                stage=Stage.SEGMENT,
                span=span,
                state=state,
                found=excerpt,
                signature=f"{Stage.SEGMENT}:{code}:{state}:{shape}",
                context=context,
            )
        )

    @property
    def has_held(self) -> bool:
        """Whether a segment is held."""
        return bool(self._held)

    def delta(self, kind: SegmentKind, text: str) -> None:
        """Text of the segment that is open."""
        self.has_sent = not self.is_certain
        self.out.append(Delta(stream_id=self._stream_id, order=self._order, kind=kind, text=text))

    def relabel(self, kind: SegmentKind) -> None:
        """What was sent of the first uncertain segment is of another kind."""
        held = self.held()
        order = held[0].order if held else self._order
        self.out.append(Relabel(stream_id=self._stream_id, order=order, kind=kind))

    def settle(self) -> None:
        """What came before is what it seemed to be."""
        self.is_certain = True
        if self._held:
            self.out.extend(self._held)
            self._held = []

    def held(self) -> list[Segment]:
        """The segments that are uncertain."""
        return [event for event in self._held if isinstance(event, Segment)]

    def take_held(self) -> list[Segment]:
        """The segments that were uncertain, to be made into one; their numbers are free again."""
        segments = self.held()
        self._held = [event for event in self._held if isinstance(event, Failure)]
        self._order -= len(segments)
        return segments

    def _add(self, event: SegmentEvent) -> None:
        if self.is_certain:
            self.out.append(event)
        else:
            self._held.append(event)
