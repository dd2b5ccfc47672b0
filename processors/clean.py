"""Events of one stream → the same events without personal data and secrets; the originals are kept apart for the audit.

Every string of an event is cleaned but for a few named fields (`processors/pii/fields.py`); spans go on meaning the raw
text. Texts that an output joins are read over the markup between them (`processors/pii/joints.py`). Deltas of an open
segment go through a `StreamRedactor`, which holds back what may be the beginning of a value; what it holds comes out as
one more delta before the segment itself.

If cleaning raises on an event, the event becomes a `Failure(CLEAN_FAILED)` that holds nothing of it. Whoever runs the
stage takes the originals and encrypts them; they are no event, so no path leads from them to a topic.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from processors.pii.arguments import marked, parameters_by_name
from processors.pii.excerpts import without_cut_values
from processors.pii.fields import FieldCleaner, KnownValues
from processors.pii.joints import Joined, Joints, kind_of
from processors.pii.live import LiveText
from processors.pii.redact import Naming, Numbered, plain
from processors.pii.rules import SHIPPED, Finder, PiiRules
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
RAISED = (ValueError, LookupError, ArithmeticError, RecursionError)
"""What a check or a conversion raises on text that nobody thought of. Passing the event on would leak it and stopping
the worker would hold up its partition, so the place alone is reported."""


class CleanStage:
    """Cleans the events of one stream."""

    __slots__ = (
        "_entries", "_joints", "_keeps_originals", "_known", "_live", "_namings", "_rules", "_stream_id", "_tools",
        "counts",
    )  # fmt: skip

    def __init__(self, options: CleanOptions = _PLAIN) -> None:
        self._rules = options.rules
        numbered = Numbered()
        self._namings: tuple[Naming, Naming] = (numbered if options.is_consistent else plain, numbered)
        self._keeps_originals = options.keeps_originals
        self._joints = Joints(options.rules)
        self._known = KnownValues()
        self._live: dict[int, tuple[Delta, LiveText]] = {}
        self._tools: dict[str, JsonObject] = {}
        self._entries: list[Original] = []
        self._stream_id = ""
        self.counts: Counter[str] = Counter()
        """Values taken out so far, by type in upper case."""

    def feed(self, event: Event) -> Iterator[Event]:
        """One event, clean; what was held before it first. An event whose end is open waits for what follows."""
        self._stream_id = getattr(event, "stream_id", self._stream_id)
        return iter([out for one in self._settled(event) for out in self._guarded(one)])

    def close(self) -> Iterator[Event]:
        """What waited for more, and the held end of a segment that never came."""
        held = [out for one in self._joints.close() for out in self._guarded(one)]
        return iter([*self._rest(), *held])

    def take_originals(self) -> Originals | None:
        """What was taken out since the last call; None when nothing was."""
        if not self._entries:
            return None
        entries, self._entries = tuple(self._entries), []
        return Originals(stream_id=self._stream_id, entries=entries)

    def _settled(self, event: Event) -> list[Joined | Failure]:
        held = self._joints
        try:
            return [*held.feed(event)]
        except RAISED:
            self._joints = Joints(self._rules)
            waiting = [one for one in held.close() if one.event is not event]
            # Which of the texts it was is not known; what is no text goes on.
            return [
                one if kind_of(one.event) is None else self._failure(one.event) for one in (*waiting, Joined(event))
            ]

    def _guarded(self, one: Joined | Failure) -> list[Event]:
        if isinstance(one, Failure):
            return [one]
        event = one.event
        try:
            return list(self._cleaned(one))
        except RAISED:
            ending = [replace(event, usage=None, finish_reason=None)] if isinstance(event, Closed) else []
            return [self._failure(event), *ending]

    def _cleaned(self, one: Joined) -> Iterator[Event]:
        event = one.event
        if isinstance(event, Delta):
            yield from self._delta(event)
            return
        if isinstance(event, Closed):
            yield from self._rest()
        if isinstance(event, Opened):
            self._tools = parameters_by_name(event.meta.tools)
        if isinstance(event, Failure):
            event = without_cut_values(event)
        where = _where(event)
        joined = self._without_edges(one, where) if one.head or one.tail else event
        rules = replace(self._rules, finders=(*self._rules.finders, _told(one, joined))) if one.inside else self._rules
        cleaner = FieldCleaner(rules, self._namings, self._known)
        cleaned = cleaner.cleaned(joined, where)
        if self._keeps_originals:
            self._entries += _shifted(cleaner.originals, f"{where}/text", one.head)
        self._count(cleaner.originals, where, _COUNTED.get(type(event), ()))
        if isinstance(cleaned, ToolCall) and cleaner.findings:
            cleaned = marked(cleaned, cleaner.findings, self._tools.get(cleaned.name or "", {}))
        if isinstance(cleaned, Segment | Node) and (live := self._live.pop(cleaned.order, None)):
            yield from _shown(live[0], live[1].rest(cleaned.text))
        yield cleaned

    def _without_edges(self, one: Joined, where: str) -> Event:
        """The text without its part of values that reach over its edges; the placeholder stands where one begins."""
        event = one.event
        assert isinstance(event, Segment | Node)
        text, tail = event.text[one.head :], one.tail
        if tail is not None:
            place = (tail.start, tail.end)
            entry = Original(
                where=f"{where}/text", span=place, type=tail.type.upper(), rule=tail.rule, original=one.value
            )
            self.counts[entry.type] += 1
            if self._keeps_originals:
                self._entries.append(entry)
            text = event.text[one.head : tail.start] + self._namings[0](tail.type, one.value)
        return replace(event, text=text)

    def _delta(self, delta: Delta) -> Iterator[Event]:
        known = self._live.get(delta.order)
        if known is None:
            before = self._joints.open_end(delta.kind)
            live = LiveText(StreamRedactor(self._rules, self._namings[0]), before)
        else:
            live = known[1]
        self._live[delta.order] = (delta, live)
        yield from _shown(delta, live.feed(delta.text))

    def _rest(self) -> Iterator[Event]:
        """The held ends of segments that never came."""
        held, self._live = self._live, {}
        for delta, live in held.values():
            try:
                text = live.close()
            except RAISED:
                continue
            yield from _shown(delta, text)

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


def _shown(delta: Delta, text: str) -> Iterator[Event]:
    if text:
        yield replace(delta, text=text)


def _told(one: Joined, joined: Event) -> Finder:
    """The search that knows the values of one text whose cue stands in an earlier one."""
    spans = [span._replace(start=span.start - one.head, end=span.end - one.head) for span in one.inside]
    own = getattr(joined, "text", "")
    return lambda text: spans if text == own else ()


def _shifted(originals: list[Original], where: str, chars: int) -> list[Original]:
    """Originals with the places that they had before the text's head was taken off."""
    if not chars:
        return originals
    return [
        replace(entry, span=(entry.span[0] + chars, entry.span[1] + chars)) if entry.where == where else entry
        for entry in originals
    ]


def _where(event: Event) -> str:
    """`segment/3`, `toolcall/5`, `opened`."""
    order = getattr(event, "order", None)
    name = type(event).__name__.lower()
    return name if order is None else f"{name}/{order}"
