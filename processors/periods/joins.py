"""Operations for periods made of two: from–to, since, until, before, after, so many days before a day."""

from dataclasses import replace
from datetime import date, datetime, timedelta

from processors.periods.found import Found, Made, less_sure
from processors.periods.lexicon import has_cue
from processors.periods.reading import Context, Point, Span, Sure, Value
from processors.periods.spans import DAY, month_end, rolling, shift, week_span

SIDES = {"start": 0, "early": 0, "end": 1, "late": 1}
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
    if len(values) != 2 or (found.args.get("not_compared") and has_cue("compare", found.context.text)):
        return None
    first, last = edge_as_day(values[0]), edge_as_day(values[1])
    if {first.grain, last.grain} & {"clock", "vague", "edge"}:
        return None
    if first.grain == "moment" or last.grain == "moment":
        if first.grain != last.grain:
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
            if spans and spans[0][0] is not None and _precedes(_plain(spans[0][0]), _plain(last.spans[-1][1])):
                return replace(first, spans=spans, at=None, sure=last.sure), last
    if not last.spans and first.spans and last.at is not None:
        for year in (_year(first), _year(first) + 1):
            spans = last.at(year)
            if spans and spans[0][1] is not None and _precedes(_plain(first.spans[0][0]), _plain(spans[0][1])):
                return first, replace(last, spans=spans, at=None, sure=first.sure)
    return first, last


def _plain(point: Point | None) -> date:
    if isinstance(point, datetime):
        return point.date()
    return point or date.max


def _year(value: Value) -> int:
    return _plain(value.start).year


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
    start = _plain(first.start)
    day = week_span(start)[0] + int(last.mark) * DAY
    if day < start:
        day += timedelta(days=7)
    return Value(grain="day", spans=((day, day),), sure=first.sure)


def days_in_month(found: Found) -> Made:
    """2025年3月1日到10日, 9–12 May 2023, from the 3rd to the 10th of May: days of one month."""
    value = next((one for one in found.values() if one.grain in ("day",)), None)
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


def since(found: Found) -> Made:
    """Since X, 自 X 以来: from its first day to today."""
    value, context = edge_as_day(found.values()[0]), found.context
    if value.grain in ("clock", "vague", "edge", "dom"):
        return None
    if not value.spans:
        return _since_yearless(value, context)
    starts = [one[0] for one in value.spans if one[0] is not None]
    spans = tuple(dict.fromkeys(_until_now(start, context) for start in starts))
    if not spans:
        return None
    others = ((spans[0][0], None),) if spans[0][1] is not None and not value.doubt else ()
    return replace(value, grain="span", spans=spans, others=others, sure=less_sure(value.sure, Sure.RELATIVE), mark="")


def _until_now(start: Point, context: Context) -> Span:
    if isinstance(start, datetime):
        now = context.now.replace(microsecond=0)
        comparable = (start.tzinfo is None) == (now.tzinfo is None)
        return (start, now if comparable and start <= now else None)
    return (start, context.today if start <= context.today else None)


def _since_yearless(value: Value, context: Context) -> Made:
    """Since March: the latest one that has begun, but a plan may mean another."""
    if value.at is None:
        return None
    for year in (context.today.year, context.today.year - 1):
        spans = value.at(year)
        start = spans[0][0] if spans else None
        if start is not None and _plain(start) <= context.today:
            made = _until_now(start, context)
            return Value(grain="span", spans=(made, (start, None)), doubt="no year", sure=Sure.RELATIVE)
    return None


def until(found: Found) -> Made:
    """Until X, through X, 截至 X: open before, up to its last day."""
    return _bound(found, lambda value: tuple((None, one[1]) for one in value.spans if one[1] is not None))


def deadline(found: Found) -> Made:
    """By Friday, 月底前: in a request the last day itself; about records, everything up to it."""
    value, context = found.values()[0], found.context
    was_edge = value.grain == "edge"
    value = edge_as_day(value)
    if value.grain in ("clock", "vague", "edge", "dom") or (not value.spans and value.at is None):
        return None
    if value.grain == "moment":
        return value
    if not (was_edge or has_cue("future", context.text)) or value.grain not in ("day",) or not value.spans:
        return until(found)
    last = value.end
    if last is None or value.doubt:
        return value
    others: tuple[Span, ...] = ((None, last), (context.today, last))
    return replace(value, grain="day", others=others)


def before(found: Found) -> Made:
    """Before X, X 之前: open before, up to the day before its first day."""
    if found.values()[0].grain == "edge":
        return deadline(found) if found.args.get("deadline") else until(found)

    def cut(value: Value) -> tuple[Span, ...]:
        return tuple((None, _step(one[0], -1)) for one in value.spans if one[0] is not None)

    made = _bound(found, cut)
    if isinstance(made, Value) and made.spans and not made.doubt and found.args.get("inclusive_too"):
        return replace(made, others=(*made.others, (None, found.values()[0].start)))
    return made


def after(found: Found) -> Made:
    """After X, X 之后: from the day after its last day, open."""
    context = found.context

    def cut(value: Value) -> tuple[Span, ...]:
        return tuple((_step(one[1], 1), None) for one in value.spans if one[1] is not None)

    made = _bound(found, cut)
    if isinstance(made, Value) and made.spans and not made.doubt and made.start is not None:
        others: tuple[Span, ...] = ((made.start, context.today),) if _plain(made.start) <= context.today else ()
        if found.args.get("inclusive_too"):
            others += ((edge_as_day(found.values()[0]).start, None),)
        return replace(made, others=others)
    return made


def onward(found: Found) -> Made:
    """From X onwards, 从 X 起: from its first day, open."""
    return _bound(found, lambda value: tuple((one[0], None) for one in value.spans if one[0] is not None))


def _bound(found: Found, cut) -> Made:  # type: ignore[no-untyped-def]  # noqa: ANN001
    value = edge_as_day(found.values()[0])
    if value.grain in ("clock", "vague", "edge", "dom"):
        return None
    if not value.spans:
        place = value.at
        if place is None:
            return None
        return replace(value, grain="span", at=lambda year: cut(Value(grain="span", spans=place(year))), mark="")
    spans = tuple(dict.fromkeys(cut(value)))
    return replace(value, grain="span", spans=spans, at=None, others=(), mark="") if spans else None


def _step(point: Point | None, days: int) -> Point | None:
    if point is None or isinstance(point, datetime):
        return point
    return point + days * DAY


def length_from(found: Found) -> Made:
    """For 3 days from May 5, 从5月1日起的一周: a start and a length."""
    value = found.values()[0]
    count = found.number("n", "one", "a")
    unit = found.word("unit", "tian", "geyue", "zhou")
    if value.grain != "day" or value.start is None or value.doubt or not 1 <= count <= 400:
        return None
    start = _plain(value.start)
    return replace(value, grain="span", spans=((start, shift(start, unit, count) - DAY),), others=())


def length_until(found: Found) -> Made:
    """The 30 days ending May 5, 截至3月31日的12个月: a length and an end."""
    value = edge_as_day(found.values()[0])
    count = found.number("n", "one", "a")
    unit = found.word("unit", "tian", "geyue", "zhou")
    if value.end is None or value.doubt or not 1 <= count <= 400 or isinstance(value.end, datetime):
        return None
    return replace(value, grain="span", spans=(rolling(value.end, unit, count),), others=(), mark="")


def same_period(found: Found) -> Made:
    """The same period last year, 去年同期: of which period, the period before it says."""
    years = -found.number("yearrel", default=0) or found.number("yearago", default=1)
    return Value(grain="vague", doubt="which period?", mark=f"earlier:{max(1, years)}", sure=Sure.RELATIVE)


def from_alone(found: Found) -> Made:
    """Invoices from March 2025: of March; from a day to come: open, or that day, which the word doesn't say."""
    value, today = found.values()[0], found.context.today
    value = edge_as_day(value)
    if value.start is None or value.doubt or value.grain in ("moment", "clock"):
        return value if value.at is not None or value.doubt else None
    if _plain(value.start) <= today:
        return replace(value, assumptions=(*value.assumptions, "from: of that period"))
    return replace(value, grain="span", spans=((value.start, None), value.spans[0]), doubt="open, or that period alone", others=())


def day_beside(found: Found) -> Made:
    """The day after Christmas Day 2025, the week before is not for here."""
    value = found.values()[0]
    if found.word("unit") != "day" or value.grain != "day":
        return None
    days = 1 if found.has("after") else -1
    spans = tuple((_step(one[0], days), _step(one[1], days)) for one in value.spans)
    return replace(value, spans=spans, others=(), mark="") if spans else None


def days_beside(found: Found) -> Made:
    """国庆前三天, 5月1日后三天: days right before or after a day, without it."""
    value, count = found.values()[0], found.number("n")
    if not 1 <= count <= 400 or found.word("tian") != "day" or not value.spans:
        return None
    if found.has("qian"):
        spans = tuple((_step(one[0], -count), _step(one[0], -1)) for one in value.spans)
    else:
        spans = tuple((_step(one[1], 1), _step(one[1], count)) for one in value.spans)
    return replace(value, grain="span", spans=spans, others=(), mark="")
