"""Operations for spans that are said by their ends: from A to B, 3 days from A, the 30 days ending B."""

from dataclasses import replace
from datetime import date, datetime, timedelta

from processors.periods.found import Found, Made, less_sure
from processors.periods.lexicon import has_cue
from processors.periods.reading import Point, Span, Sure, Value
from processors.periods.spans import DAY, month_end, rolling, shift, week_span

SIDES = {"start": 0, "end": 1}
PAIRS_MAX = 6
"""Readings kept of two ambiguous ends."""


def edge_as_day(value: Value) -> Value:
    """An edge that a bound settles: the start or end of a period as one day."""
    if value.grain != "edge" or value.mark not in SIDES:
        return value
    side = SIDES[str(value.mark)]
    place = value.at

    def cut(spans: tuple[Span, ...]) -> tuple[Span, ...]:
        return tuple((span[side], span[side]) for span in spans)

    doubt = "" if value.doubt == "part of a period" else value.doubt
    at = (lambda year: cut(place(year))) if place and not value.spans else None
    return replace(value, grain="day", spans=cut(value.spans), at=at, doubt=doubt)


def span(found: Found) -> Made:
    """From A to B, A 到 B, between A and B; what one end leaves out is taken from the other."""
    values = found.values()
    if len(values) != 2 or _is_list(found):
        return None
    first, last = _same_order(edge_as_day(values[0]), edge_as_day(values[1]))
    if {first.grain, last.grain} & {"clock", "vague", "edge"}:
        return None
    if (first.grain == "moment") != (last.grain == "moment"):
        return None
    first, last = _with_years(first, last)
    if not first.spans and not last.spans:
        return _yearless(first, last)
    last = _same_week(values[0], first, last)
    pairs = [
        (a[0], b[1])
        for a in first.spans
        for b in last.spans
        if a[0] is not None and b[1] is not None and _precedes(a[0], b[1])
    ]
    pairs = list(dict.fromkeys(pairs))[:PAIRS_MAX]
    doubt = first.doubt or last.doubt
    if not pairs:
        return Value(grain="span", doubt=doubt or "end before start")
    return Value(
        grain="span",
        spans=tuple(pairs),
        doubt=doubt,
        sure=less_sure(first.sure, last.sure),
        assumptions=tuple(dict.fromkeys(first.assumptions + last.assumptions)),
    )


def _is_list(found: Found) -> bool:
    """Compare A to B, move A to B: two periods, not a span."""
    text = found.context.text
    joints = {text[token.start : token.end] for token in found.tokens if token.kind == "to"}
    if joints and has_cue("move", text):
        return True
    is_span = found.has("from", "between", "starting", "since")
    return not is_span and "to" in joints and has_cue("compare", text)


def _same_order(first: Value, last: Value) -> tuple[Value, Value]:
    """From 02/03/2026 to 28/03/2026: the end that is clear says in which order the other one is written."""
    for clear, unclear in ((first, last), (last, first)):
        if unclear.doubt == "day/month order" and clear.mark in ("mdy", "dmy") and len(unclear.spans) == 2:
            span_of_order = unclear.spans[clear.mark == "dmy"]
            settled = replace(unclear, spans=(span_of_order,), doubt="")
            return (settled, last) if unclear is first else (first, settled)
    return first, last


def _precedes(first: Point, last: Point) -> bool:
    if isinstance(first, datetime) and isinstance(last, datetime):
        if (first.tzinfo is None) != (last.tzinfo is None):
            return False
        return first <= last
    return type(first) is type(last) and first <= last


def _with_years(first: Value, last: Value) -> tuple[Value, Value]:
    if not first.spans and last.spans and first.at is not None:
        for year in (_year(last), _year(last) - 1):
            spans = first.at(year)
            if spans and spans[0][0] is not None and _precedes(day_part(spans[0][0]), day_part(last.spans[-1][1])):
                return replace(first, spans=spans, at=None, sure=last.sure), last
    if not last.spans and first.spans and last.at is not None:
        for year in (_year(first), _year(first) + 1):
            spans = last.at(year)
            if spans and spans[0][1] is not None and _precedes(day_part(first.spans[0][0]), day_part(spans[0][1])):
                return first, replace(last, spans=spans, at=None, sure=first.sure)
    return first, last


def day_part(point: Point | None) -> date:
    if isinstance(point, datetime):
        return point.date()
    return point or date.max


def _year(value: Value) -> int:
    return day_part(value.start).year


def _yearless(first: Value, last: Value) -> Made:
    a, b = first.at, last.at
    if a is None or b is None:
        return None

    def at(year: int) -> tuple[Span, ...]:
        starts, ends = a(year), b(year)
        if not starts or not ends or starts[0][0] is None or ends[0][1] is None:
            return ()
        if not _precedes(starts[0][0], ends[0][1]):
            ends = b(year + 1)
        return ((starts[0][0], ends[0][1]),) if ends else ()

    return Value(grain="span", at=at, doubt=first.doubt or last.doubt)


def _same_week(said: Value, first: Value, last: Value) -> Value:
    """下周一到周五: a bare weekday at the end is that of the first day's week, or the next one after it."""
    if not isinstance(last.mark, int) or last.grain != "day" or first.start is None or said.grain != "day":
        return last
    if last.doubt != "which week" and last.sure != Sure.ASSUMED:
        return last
    start = day_part(first.start)
    day = week_span(start)[0] + int(last.mark) * DAY
    if day < start:
        day += timedelta(days=7)
    return Value(grain="day", spans=((day, day),), sure=first.sure)


def days_in_month(found: Found) -> Made:
    """2025年3月1日到10日, 9–12 May 2023, from the 3rd to the 10th of May: days of one month."""
    value = next((one for one in found.values() if one.grain == "day"), None)
    number = found.number("n", "ord", "second", default=0) or next(
        (int(one.mark) for one in found.values() if one.grain == "dom"), 0
    )
    if value is None or not 1 <= number <= 31:
        return None
    number_first = bool(found.args.get("number_first"))

    def cut(spans: tuple[Span, ...]) -> tuple[Span, ...]:
        made: list[Span] = []
        for start, _ in spans:
            if start is None or number > month_end(start).day:
                continue
            other = start.replace(day=number)
            pair = (other, start) if number_first else (start, other)
            if pair[0] < pair[1]:
                made.append(pair)
        return tuple(made)

    place = value.at
    spans = cut(value.spans)
    if value.spans and not spans:
        return None
    at = (lambda year: cut(place(year))) if place and not value.spans else None
    return replace(value, grain="span", spans=spans, at=at, others=())


def length_from(found: Found) -> Made:
    """For 3 days from May 5, 从5月1日起的一周: a start and a length."""
    value = found.values()[0]
    count = found.number("n", "one", "a")
    unit = found.word("unit", "weekfrom", "tian", "geyue", "zhou")
    if value.grain != "day" or value.start is None or value.doubt or not 1 <= count <= 400:
        return None
    start = day_part(value.start)
    return replace(value, grain="span", spans=((start, shift(start, unit, count) - DAY),), others=())


def units_beside(found: Found) -> Made:
    """The two weeks before Christmas 2025: a stretch that touches a day, without it."""
    value, count, unit = found.values()[0], found.number("n", "one"), found.word("unit")
    if value.grain != "day" or value.start is None or value.doubt or not 1 <= count <= 400:
        return None
    start = day_part(value.start)
    if found.has("before"):
        span_beside = (shift(start, unit, -count), start - DAY)
    else:
        span_beside = (start + DAY, shift(start, unit, count))
    return replace(value, grain="span", spans=(span_beside,), others=(), mark="")


def length_until(found: Found) -> Made:
    """The 30 days ending May 5, 截至3月31日的12个月: a length and an end."""
    value = edge_as_day(found.values()[0])
    count = found.number("n", "one", "a")
    unit = found.word("unit", "weekto", "tian", "geyue", "zhou")
    if value.end is None or value.doubt or not 1 <= count <= 400 or isinstance(value.end, datetime):
        return None
    return replace(value, grain="span", spans=(rolling(value.end, unit, count),), others=(), mark="")


def same_period(found: Found) -> Made:
    """The same period last year, 去年同期: of which period, the period before it says."""
    years = -found.number("yearrel", default=0) or found.number("yearago", default=1)
    return Value(grain="vague", doubt="which period?", mark=f"earlier:{max(1, years)}", sure=Sure.RELATIVE)
