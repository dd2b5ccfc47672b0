"""Events of one stream → the same events without personal data and secrets; the originals are kept apart for the audit.

Every string of an event is cleaned but for a few named fields (`processors/pii/fields.py`); spans go on meaning the raw
text. Deltas of an open segment go through a `StreamRedactor`, which holds back what may be the beginning of a value;
what it holds comes out as one more delta before the segment itself.

If cleaning raises on an event, the event becomes a `Failure(CLEAN_FAILED)` that holds nothing of it. Whoever runs the
stage takes the originals and encrypts them; they are no event, so no path leads from them to a topic.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from processors.pii.arguments import marked, parameters_by_name
from processors.pii.excerpts import without_cut_values
from processors.pii.fields import FieldCleaner
from processors.pii.redact import Naming, Numbered, plain
from processors.pii.rules import SHIPPED, PiiRules
from processors.pii.stream import StreamRedactor
from schemas.audit import Original, Originals
from schemas.failure import Failure, FailureCode, Stage
from schemas.jsonvalue import JsonObject
from schemas.reasoning import Node, StateEntry
from schemas.segment import Closed, Delta, Opened, Segment
from schemas.toolcall import ToolCall
from schemas.wire import Event

_COUNTED = {Segment: ("text",), Node: ("text",), StateEntry: ("content",), ToolCall: ("raw", "arguments")}
"""Which fields hold what the model wrote; of two that hold the same, the one with more values of a type counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanOptions:
    """How a stream is cleaned."""

    rules: PiiRules = SHIPPED
    is_consistent: bool = False
    """The same value gets the same number within the stream: `[PHONE_1_REDACTED]`."""
    keeps_originals: bool = False
    """Collect what is taken out; for whoever takes it, encrypts it and is the only one to read it."""


_PLAIN = CleanOptions()


class CleanStage:
    """Cleans the events of one stream."""

    __slots__ = ("_entries", "_keeps_originals", "_live", "_naming", "_rules", "_stream_id", "_tools", "counts")

    def __init__(self, options: CleanOptions = _PLAIN) -> None:
        self._rules = options.rules
        self._naming: Naming = Numbered() if options.is_consistent else plain
        self._keeps_originals = options.keeps_originals
        self._live: tuple[Delta, StreamRedactor] | None = None
        self._tools: dict[str, JsonObject] = {}
        self._entries: list[Original] = []
        self._stream_id = ""
        self.counts: Counter[str] = Counter()
        """Values taken out so far, by type in upper case."""

    def feed(self, event: Event) -> Iterator[Event]:
        """One event, clean; the held end of a delta first where the event ends it."""
        try:
            events = list(self._cleaned(event))
        except (ValueError, LookupError, ArithmeticError, RecursionError):
            # What a check or a conversion raises on text that nobody thought of. Passing the event on would leak it and
            # stopping the worker would hold up its partition, so the place alone is reported.
            events = [self._failure(event)]
        return iter(events)

    def close(self) -> Iterator[Event]:
        """The held end of a segment that never came."""
        return self._rest()

    def take_originals(self) -> Originals | None:
        """What was taken out since the last call; None when nothing was."""
        if not self._entries:
            return None
        entries, self._entries = tuple(self._entries), []
        return Originals(stream_id=self._stream_id, entries=entries)

    def _cleaned(self, event: Event) -> Iterator[Event]:
        self._stream_id = getattr(event, "stream_id", self._stream_id)
        if isinstance(event, Delta):
            yield from self._delta(event)
            return
        if self._live is not None and (isinstance(event, Closed) or getattr(event, "order", -1) >= self._live[0].order):
            yield from self._rest()
        if isinstance(event, Opened):
            self._tools = parameters_by_name(event.meta.tools)
        if isinstance(event, Failure):
            event = without_cut_values(event)
        cleaner = FieldCleaner(self._rules, self._naming)
        where = _where(event)
        cleaned = cleaner.cleaned(event, where)
        if self._keeps_originals:
            self._entries += cleaner.originals
        self._count(cleaner.originals, where, _COUNTED.get(type(event), ()))
        if isinstance(cleaned, ToolCall) and cleaner.findings:
            cleaned = marked(cleaned, cleaner.findings, self._tools.get(cleaned.name or "", {}))
        yield cleaned

    def _delta(self, delta: Delta) -> Iterator[Event]:
        if self._live is None or self._live[0].order != delta.order:
            yield from self._rest()
            self._live = (delta, StreamRedactor(self._rules, self._naming))
        self._live = (delta, self._live[1])
        if text := self._live[1].feed(delta.text):
            yield replace(delta, text=text)

    def _rest(self) -> Iterator[Event]:
        if self._live is not None:
            (delta, redactor), self._live = self._live, None
            if text := redactor.close():
                yield replace(delta, text=text)

    def _count(self, originals: list[Original], where: str, names: tuple[str, ...]) -> None:
        most: Counter[str] = Counter()
        for name in names:
            place = f"{where}/{name}"
            most |= Counter(entry.type for entry in originals if entry.where.startswith(place))
        self.counts += most

    def _failure(self, event: Event) -> Failure:
        return Failure(
            stream_id=self._stream_id,
            code=FailureCode.CLEAN_FAILED,
            stage=Stage.CLEAN,
            span=getattr(event, "span", (0, 0)),
            state=type(event).__name__.lower(),
        )


def _where(event: Event) -> str:
    """`segment/3`, `toolcall/5`, `opened`."""
    order = getattr(event, "order", None)
    name = type(event).__name__.lower()
    return name if order is None else f"{name}/{order}"
