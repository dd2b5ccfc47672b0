"""Texts of one kind, in order → the same, and where a value reaches over markup from one into the next.

Markup that is taken out of an answer can stand inside a value: `call 138<!-- … -->00138000`. Each text by itself holds
half a number, which no rule finds; the answer, which joins its texts, shows the whole. So a text whose end may be the
beginning of a value waits for the next of its kind, or for the stream's end, and both are searched as one. What comes
between waits behind it, so that steps stay in order.

Blocks of reasoning are joined with a line end, which is a boundary; of them only digits are read on over it. What is
split on purpose over two arguments of a call (`{"area": "138", "rest": "00138000"}`) is not put together: a rule that
did would take any two numbers side by side for one.
"""

import re
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from processors.pii.find import find_pii
from processors.pii.matching import PLACEHOLDER_END
from processors.pii.overlaps import merged
from processors.pii.rules import PiiRules
from processors.pii.span import PiiSpan
from processors.pii.stream import HELD_CHARS_MAX, MEMORY_CHARS, PROBE, open_from
from schemas.reasoning import Node
from schemas.segment import Closed, Delta, Segment, SegmentKind
from schemas.wire import Event

EVENTS_MAX = 64
"""Most events that wait behind such a text: no value is cut by more."""
TEXTS_MAX = 16
"""Most texts that wait for one value: what is cut more often is no value."""
LOOK_CHARS = HELD_CHARS_MAX + MEMORY_CHARS
"""How far from the border between two texts is looked."""
LONG_WORD_CHARS = 16
"""A last word from which on it may be the beginning of a key."""
JOINING = frozenset("-_+@")
"""Marks after which a word goes on; after a stop it seldom does, so `qzx.` of an address that is cut there goes out."""
STOPS = frozenset(".,;:)")
_may_begin = re.compile(r"[0-9@]|[A-Za-z][._+-][A-Za-z]|-----BEGIN").search


@dataclass(frozen=True, slots=True)
class Joined:
    """An event, and of its text what belongs to values that reach over its edges."""

    event: Event
    head: int = 0
    """How many characters at the beginning belong to a value that began in an earlier text."""
    tail: PiiSpan | None = None
    """The value that begins here and goes on in a later text; its end is the text's."""
    value: str = ""
    """The whole of that value."""
    inside: tuple[PiiSpan, ...] = ()
    """Values in the text whose cue, or a boundary, stands in an earlier text."""


@dataclass(slots=True)
class _Held:
    """An event in its place; those behind it wait until it is settled."""

    one: Joined
    is_settled: bool = True


@dataclass(slots=True)
class _Line:
    """The texts of one kind: those that wait, and the end of what went on before them."""

    waiting: list[_Held] = field(default_factory=list)
    before: str = ""


class Joints:
    """One stream's events, in order; holds back texts whose end is open, and what comes behind them."""

    __slots__ = ("_cues", "_lines", "_queue", "_rules")

    def __init__(self, rules: PiiRules) -> None:
        self._rules = rules
        self._cues = (*(needle for needle, _ in rules.words), *(letter for letter, _ in rules.cues))
        self._lines: dict[SegmentKind, _Line] = {}
        self._queue: deque[_Held] = deque()

    def feed(self, event: Event) -> list[Joined]:
        """One event → what is settled, this one last if it is."""
        if isinstance(event, Delta):
            return [Joined(event)]
        held = _Held(Joined(event))
        if isinstance(event, Closed) or len(self._queue) >= EVENTS_MAX or self._is_about_held(event):
            return [*self.close(), held.one]
        self._queue.append(held)
        kind = kind_of(event)
        if kind is not None:
            line = self._lines.setdefault(kind, _Line())
            if line.waiting and not _goes_on(line.waiting[-1].one.event, event):
                _settle(line.waiting)
                line.waiting, line.before = [], ""
            line.waiting.append(held)
            self._search(line)
        return self._in_order()

    def close(self) -> list[Joined]:
        """What waited for more."""
        queue, self._queue, self._lines = self._queue, deque(), {}
        return [held.one for held in queue]

    def open_end(self, kind: SegmentKind) -> str:
        """The end of what waits, as it was written, for who shows the next text as it comes."""
        line = self._lines.get(kind)
        return "".join(_text(held.one)[-HELD_CHARS_MAX:] for held in line.waiting) if line else ""

    def _is_about_held(self, event: Event) -> bool:
        order = getattr(event, "order", -1)
        waiting = (held.one.event for line in self._lines.values() for held in line.waiting)
        return any(order == one.order for one in waiting if isinstance(one, Segment | Node))

    def _in_order(self) -> list[Joined]:
        ready = []
        while self._queue and self._queue[0].is_settled:
            ready.append(self._queue.popleft().one)
        return ready

    def _search(self, line: _Line) -> None:
        """Look over the borders of the texts that wait; what nothing can follow in is settled."""
        texts = [_text(held.one) for held in line.waiting]
        before, last = line.before, line.waiting[-1].one.event
        start = len(before)
        text = before + "".join(texts)
        is_full = len(texts) >= TEXTS_MAX or not _may_go_on(last)
        cut = len(text) if is_full else self._open_from(text)
        known = self._told(before, texts)
        cut = min([cut, *(span.start for span in known if span.end > cut)])
        known = [span for span in known if span.end <= cut]
        count = 0
        for held, part in zip(line.waiting, texts, strict=True):
            end = start + len(part)
            held.one = _with_edges(held.one, (start, end), known, text)
            held.is_settled = end <= cut
            count += held.is_settled
            start = end
        line.waiting = line.waiting[count:]
        line.before = (before + "".join(texts[:count]))[-MEMORY_CHARS:]

    def _told(self, before: str, texts: list[str]) -> list[PiiSpan]:
        """Values near the borders between the texts, found in what they say together."""
        if len(texts) == 1 and not self._has_cue(before):
            return []
        skipped = max(0, len(texts[0]) - LOOK_CHARS) if len(texts) > 1 else 0
        first = texts[0][skipped:] if skipped else before + texts[0]
        parts = [first, *texts[1:]]
        parts[-1] = parts[-1][:LOOK_CHARS]
        spans = self._joined(parts, "")
        if not any(_crosses(span, parts) for span in spans) and _are_digits_around(parts):
            spans = merged(spans, (span for span in self._joined(parts, " ") if _crosses(span, parts)))
        begin = 0 if skipped else len(before)
        last = sum(map(len, parts[:-1])) if len(parts) > 1 else begin
        shift = len(before) + skipped if skipped else 0
        return [
            span._replace(start=span.start + shift, end=span.end + shift)
            for span in spans
            if begin <= span.start <= last + MEMORY_CHARS
        ]

    def _joined(self, parts: list[str], glue: str) -> list[PiiSpan]:
        """Spans in the texts joined; with a space between, as markup may have taken one with it."""
        spans = find_pii(glue.join(parts), self._rules)
        if not glue:
            return spans
        borders = [end + at for at, end in enumerate(accumulate(map(len, parts[:-1])))]
        return [
            span._replace(
                start=span.start - bisect_left(borders, span.start), end=span.end - bisect_left(borders, span.end)
            )
            for span in spans
        ]

    def _has_cue(self, text: str) -> bool:
        low = text.lower()
        return any(cue in low for cue in self._cues)

    def _open_from(self, text: str) -> int:
        """Where the end begins that may be the beginning of a value: a last word, or what stands behind a cue."""
        end = len(text)
        if end > LOOK_CHARS:
            return end - LOOK_CHARS + self._open_from(text[-LOOK_CHARS:])
        start = open_from(text)
        if (placeholder := text.rfind(PLACEHOLDER_END, start)) >= 0:
            start = placeholder + len(PLACEHOLDER_END)
        if end - start > HELD_CHARS_MAX or self._is_over(text):
            return end
        if self._has_cue(text[max(0, start - MEMORY_CHARS) :]):
            spans = find_pii(text + PROBE, self._rules)
            if reaching := [span.start for span in spans if span.start <= end < span.end]:
                return min(start, end - 1, *reaching)
        word = text[start:]
        is_cut = word[-1:] in JOINING or (word[-1:].isascii() and word[-1:].isalnum())
        return start if is_cut or len(word) >= LONG_WORD_CHARS or _may_begin(word) else end

    def _is_over(self, text: str) -> bool:
        """Whether the text ends with a value and a stop: `Write to a@example.com.`"""
        if text[-1:] not in STOPS:
            return False
        last = find_pii(text, self._rules)[-1:]
        return bool(last) and last[0].end >= len(text) - 1


def _settle(waiting: list[_Held]) -> None:
    for held in waiting:
        held.is_settled = True


def kind_of(event: Event) -> SegmentKind | None:
    """Of which kind the text is that an output joins with others."""
    if isinstance(event, Node):
        return SegmentKind.REASONING
    return event.kind if isinstance(event, Segment) and event.kind is SegmentKind.RESPONSE else None


def _crosses(span: PiiSpan, parts: list[str]) -> bool:
    return any(span.start < border < span.end for border in accumulate(map(len, parts[:-1])))


def _are_digits_around(parts: list[str]) -> bool:
    return any(a[-1:].isdigit() and b[:1].isdigit() for a, b in pairwise(parts))


def _may_go_on(event: Event) -> bool:
    return not isinstance(event, Node) or event.text[-1:].isdigit()


def _goes_on(before: Event, event: Event) -> bool:
    if isinstance(event, Segment):
        return True
    assert isinstance(before, Node)
    assert isinstance(event, Node)
    return before.text[-1:].isdigit() and event.text[:1].isdigit()


def _text(one: Joined) -> str:
    text: str = one.event.text  # type: ignore[union-attr]  # only segments and nodes are joined
    return text[one.head :]


def _with_edges(one: Joined, place: tuple[int, int], spans: list[PiiSpan], text: str) -> Joined:
    """The text with the values that reach over its edges; place: where it stands in `text`."""
    start, end = place
    for span in spans:
        if span.start < start < span.end:
            one = replace(one, head=one.head + min(span.end, end) - start)
        elif start <= span.start < end:
            shift = one.head + len(_text(one)) - end
            here = span._replace(start=span.start + shift, end=min(span.end, end) + shift)
            if span.end > end:
                one = replace(one, tail=here, value=text[span.start : span.end])
            else:
                one = replace(one, inside=(*one.inside, here))
    return one
