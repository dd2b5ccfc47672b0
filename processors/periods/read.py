"""A user's words and a moment → what they say about time: nothing, one settled period, or why it isn't settled.

Text → tokens → reduced tokens → items → verdict. Two safety devices stand at the end. The leftover guard: time words
that no rule read, close to a period, make the period unread. And a period whose words have several readings stays
ambiguous unless the host's policy says which is meant. Bounds are never invented.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from processors.limits import LIMITS
from processors.periods.clocks import alone
from processors.periods.corrections import without_slips
from processors.periods.found import Part
from processors.periods.guard import guarded
from processors.periods.lexicon import has_cue
from processors.periods.literals import Token
from processors.periods.parts import edge_readings
from processors.periods.reading import (
    DEFAULT_POLICY,
    Context,
    Item,
    Kind,
    Policy,
    Reading,
    Span,
    Sure,
    Value,
    iso,
)
from processors.periods.reduce import reduced
from processors.periods.spans import same_span_earlier
from processors.periods.tokens import normalise, tokens_of

LIST_LINKS = frozenset({"and", "versus", "comma", "the", "poss"})
"""What may stand between two periods of one list."""
LINKS = LIST_LINKS | {"ratio", "or", "to", "till", "dash", "from", "between"}
"""What may stand between two periods that share a year."""
FAR_APART = tuple(datetime(year, 10, 17, 21, 15) for year in (2026, 1901, 2099))  # noqa: DTZ001 - naive on purpose
"""Moments in which no word means the same but one that needs none; in the first a number may be a year."""
NO_NOW = "no `now`"
ITEMS_MAX = 64
"""Most periods taken from one text."""


def read_periods(
    user: str, now: datetime | None, *, lang: str | None = None, policy: Policy = DEFAULT_POLICY
) -> Reading:
    """What a person's words say about time, seen from `now`.

    now: in the person's own offset; None leaves everything that needs it unread.
    lang: accepted for callers that know it; both languages are always read, since people mix them.
    A text over the limit is not read in part: its verdict is unread.
    """
    del lang
    if len(user) > LIMITS.user_chars_max:
        return Reading(kind="unread")
    if now is None:
        return _without_now(user, policy)
    text = normalise(user)
    context = Context(now=now, policy=policy, text=text)
    tokens = reduced(tokens_of(text, context), context)
    tokens = [token for place, token in enumerate(tokens) if not _is_stray_day(tokens, place, context)]
    tokens = without_slips(tokens, text)
    if not any(isinstance(token.held, Value) for token in tokens):
        return Reading(kind="unread" if any(isinstance(token.held, Part) for token in tokens) else "none")
    found = _with_neighbours(tokens)
    items = tuple(_item(token, user, context) for token in found if isinstance(token.held, Value))[:ITEMS_MAX]
    items = tuple(guarded(item, tokens, text) for item in items)
    return _verdict(items, tokens, text)


def _without_now(user: str, policy: Policy) -> Reading:
    """What the words say whenever they are said: what differs between far moments needs a `now`, and has no bounds."""
    reading, *others = (read_periods(user, moment, policy=policy) for moment in FAR_APART)
    if all(other == reading for other in others):
        return reading
    everywhere = set(reading.items).intersection(*(other.items for other in others))
    items = tuple(item if item in everywhere else _needing_now(item) for item in reading.items)
    shown = next((item for item in items if item.why == NO_NOW), None)
    return Reading(kind="unread", text=shown.text if shown else "", items=items)


def _needing_now(item: Item) -> Item:
    return replace(item, kind="unread", start=None, end=None, readings=(), why=NO_NOW, confidence=Sure.UNREAD)


def _is_stray_day(tokens: Sequence[Token], place: int, context: Context) -> bool:
    """Whether a number with 号 or th is no day of a month: 比3号便宜."""
    held = tokens[place].held
    if not isinstance(held, Value) or held.grain != "dom" or _is_plan(context):
        return False
    return place > 0 and tokens[place - 1].kind in ("x", "de", "versus")


def _with_neighbours(tokens: Sequence[Token]) -> list[Token]:
    """Tokens whose values took what they lacked from others: a year from a list, the period of a comparison."""
    found = list(tokens)
    places = [place for place, token in enumerate(found) if isinstance(token.held, Value)]
    for here, there in [*reversed([*pairwise(places)]), *pairwise(places)]:
        if all(token.kind in LINKS for token in found[here + 1 : there]):
            found[here], found[there] = _shared_year(found[here], found[there])
    before: Value | None = None
    for place in places:
        value = found[place].held
        assert isinstance(value, Value), "places hold values"
        if str(value.mark).startswith("earlier:") and before is not None:
            years = int(str(value.mark)[8:])
            spans = tuple(same_span_earlier(span, years) for span in before.spans if not isinstance(span[0], datetime))
            value = replace(before, spans=spans, others=(), at=None) if spans else value
            found[place] = found[place]._replace(held=value)
        elif value.grain != "clock":
            before = value if value.spans else None
    return found


def _shared_year(first: Token, second: Token) -> tuple[Token, Token]:
    """Q1 and Q2 2025, March 2024 and April: the year said once."""
    one, other = first.held, second.held
    if not isinstance(one, Value) or not isinstance(other, Value):
        return first, second
    if one.grain == other.grain and one.at is not None and not one.spans and other.start is not None:
        spans = one.at(other.start.year)
        return first._replace(held=replace(one, spans=spans, at=None, sure=other.sure)), second
    if one.grain == other.grain and other.at is not None and not other.spans and one.start is not None:
        spans = other.at(one.start.year)
        return first, second._replace(held=replace(other, spans=spans, at=None, sure=one.sure))
    return first, second


def _item(token: Token, user: str, context: Context) -> Item:
    value = token.held
    assert isinstance(value, Value), "only values become items"
    value = _finished(value, context)
    settled = not value.doubt and len(value.spans) == 1
    kind: Kind = _kind_of_span(value.spans[0]) if settled else "ambiguous"
    if value.doubt == "impossible":
        kind = "impossible"
    start, end = value.spans[0] if settled else (None, None)
    readings = dict.fromkeys((iso(a), iso(b)) for a, b in value.spans + value.others)
    return Item(
        span=(token.start, token.end),
        text=user[token.start : token.end],
        kind=kind,
        start=iso(start),
        end=iso(end),
        grain=value.grain,
        rules=token.rules,
        readings=tuple(readings),
        why="" if settled else value.doubt or "several readings",
        assumptions=value.assumptions,
        confidence=value.sure if settled else Sure.AMBIGUOUS,
    )


def _kind_of_span(span: Span) -> Kind:
    start, end = span
    if start == end and start is not None:
        return "datetime" if isinstance(start, datetime) else "date"
    return "range"


def _finished(value: Value, context: Context) -> Value:
    """A value with all that context gives it: a year, today's date, an edge's readings."""
    if value.grain == "clock":
        return alone(value, context)
    if value.grain == "edge":
        filled = value if value.spans else _with_year(value, context)
        return replace(filled, spans=edge_readings(filled), doubt=value.doubt, others=())
    if value.at is not None and not value.spans and value.doubt != "impossible":
        return _with_year(value, context)
    if value.grain == "dom" or (not value.spans and not value.doubt):
        return replace(value, doubt=value.doubt or "impossible")
    return value


def _with_year(value: Value, context: Context) -> Value:
    """A yearless period: by the policy, by a plan's next occurrence, else this year's and last year's."""
    place, today = value.at, context.today
    if place is None:
        return value
    years = [(year, place(year)) for year in (today.year, today.year - 1, today.year + 1)]
    spans = {year: found for year, found in years if found}
    days = {
        year: (found[0][0].date() if isinstance(found[0][0], datetime) else found[0][0])
        for year, found in spans.items()
    }
    if not spans:
        return replace(value, at=None, doubt="impossible")
    coming = [year for year in sorted(spans) if (start := days[year]) is not None and start >= today]
    begun = [year for year in sorted(spans, reverse=True) if (start := days[year]) is not None and start <= today]
    policy = context.policy
    chosen = {"current": [today.year], "latest_past": begun[:1], "next": coming[:1]}.get(policy.bare_year or "", [])
    why = f"year: {policy.bare_year}"
    if not chosen and value.grain in ("day", "moment") and not policy.strict and _is_plan(context):
        chosen, why = coming[:1], "year: next occurrence (future verb)"
    if chosen and chosen[0] in spans and not value.doubt:
        return replace(
            value, spans=spans[chosen[0]][:1], at=None, sure=Sure.ASSUMED, assumptions=(*value.assumptions, why)
        )
    order = begun[:1] + [year for year in (today.year, today.year - 1, today.year + 1) if year in spans]
    every = tuple(span for year in dict.fromkeys(order[:3]) for span in spans[year])
    return replace(value, spans=every, at=None, doubt=value.doubt or "no year", others=())


def _is_plan(context: Context) -> bool:
    return has_cue("future", context.text) and not has_cue("past", context.text)


def _verdict(items: tuple[Item, ...], tokens: Sequence[Token], text: str) -> Reading:
    first = items[0]
    unsettled = [item for item in items if item.kind not in ("date", "range", "datetime")]
    kind: Kind = first.kind
    if unsettled:
        kind = unsettled[0].kind
    elif len({(item.start, item.end) for item in items}) > 1 and not _are_compared(items, tokens, text):
        kind = "ambiguous"
    settled = kind in ("date", "range", "datetime")
    shown = first if settled or not unsettled else unsettled[0]
    candidates = shown.readings if unsettled else tuple((item.start, item.end) for item in items)
    return Reading(
        kind=kind,
        start=first.start if settled else None,
        end=first.end if settled else None,
        text=shown.text,
        candidates=() if settled else candidates,
        items=items,
    )


def _are_compared(items: tuple[Item, ...], tokens: Sequence[Token], text: str) -> bool:
    """Whether several settled periods belong together: a list, or a comparison."""
    if any(one.grain == "year" and other.grain in ("half", "quarter", "month") for one, other in pairwise(items)):
        return False  # 2025 and 2026 Q1: the year may stand for its quarter
    if has_cue("compare", text):
        return True
    for one, other in pairwise(items):
        between = [token for token in tokens if one.span[1] <= token.start and token.end <= other.span[0]]
        if not between or any(token.kind not in LIST_LINKS for token in between):
            return False
    return True
