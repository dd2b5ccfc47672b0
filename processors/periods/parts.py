"""Operations for parts of periods: halves, thirds, the first three days, the second Friday, the end."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from processors.periods.found import Cut, Found, Made, Part, mapped
from processors.periods.reading import Span, Value
from processors.periods.spans import (
    DAY,
    MONTHS,
    add_months,
    month_end,
    months_span,
    nth_weekday,
    shift,
    unit_span,
    week_span,
)

MONTH_THIRDS = ((1, 10), (11, 20), (21, 31))


def _whole(span: Span) -> tuple[date, date] | None:
    start, end = span
    return None if start is None or end is None else (start, end)


def half(found: Found) -> Made:
    """The first half of …: of a year, a half or a month (to the 15th)."""
    which = found.number("ord", "second", "latter", "halfyear", "halfmonth", "n")
    if found.has("last", "zuihou", "back", "final"):
        which = 2
    if which not in (1, 2):
        return None

    def cut(span: Span) -> tuple[Span, ...]:
        whole = _whole(span)
        if whole is None:
            return ()
        start, end = whole
        months = (end.year - start.year) * 12 + end.month - start.month + 1
        if months == 1 and start.day == 1:
            middle = start.replace(day=15)
        elif months % 2 == 0 and start.day == 1:
            middle = month_end(add_months(start, months // 2 - 1))
        else:
            return ()
        return ((start, middle) if which == 1 else (middle + DAY, end),)

    return Part(grain="span", cut=cut)


def half_month(found: Found) -> Made:
    """上半月, 下半月 of a month."""
    part = half(found)
    values = found.values()
    if not isinstance(part, Part):
        return None
    if not values:
        return part
    return mapped(values[0], part.cut, "span") if values[0].grain == "month" else None


def third(found: Found) -> Made:
    """上旬, 中旬, 下旬 of a month: 10 days each, the last one to the month's end."""
    first, last = MONTH_THIRDS[found.number("xun") - 1]

    def cut(span: Span) -> tuple[Span, ...]:
        whole = _whole(span)
        if whole is None or whole[0].day != 1 or month_end(whole[0]) != whole[1]:
            return ()
        end = whole[1] if last == 31 else whole[0].replace(day=last)
        return ((whole[0].replace(day=first), end),)

    return Part(grain="span", cut=cut)


def some_units(found: Found) -> Made:
    """The first three days of …, 最后两个月: units counted from the start or the end."""
    count = found.number("n", "one")
    unit = found.text_arg("unit") or found.word("unit", "geyue", "tian", "zhou", "nian", "ji")
    from_end = found.has("last", "zuihou", "hou", "final")
    if not 1 <= count <= 400:
        return None

    def choose(start: date, end: date) -> tuple[date, date]:
        return (shift(end + DAY, unit, -count), end) if from_end else (start, shift(start, unit, count) - DAY)

    return Part(grain="span", cut=_units_cut(unit, choose))


def nth(found: Found) -> Made:
    """The second Friday of …, the last day of …, 第三个星期: one unit counted from the start or the end."""
    count = found.number("ord", "second", "n", "one", "edgeday", default=0)
    if found.has("last", "zuihou", "final"):
        if found.number("n", default=1) != 1 and not found.has("wdn"):
            return None
        count = found.number("last", "zuihou", "final", default=-1)
    if found.has("tou"):
        count = 1
    if found.has("edgeday"):
        count = 1 if found.word("edgeday") == "start" else -1
    if not count or abs(count) > 400:
        return None
    number = found.held("wd", "wwd", "wdn")
    if isinstance(number, int):
        return Part(grain="day", cut=_weekday_cut(number, count))
    if found.has("weekend"):
        return Part(grain="span", cut=_weekday_cut(5, count, days=2))
    unit = "day" if found.has("edgeday") else found.word("unit", "geyue", "tian", "zhou", "ji")
    if unit == "week":
        return _nth_week(found, count) if abs(count) <= 6 else None
    if unit not in ("day", "month", "quarter"):
        return None

    def choose(start: date, end: date) -> tuple[date, date]:
        first = shift(start, unit, count - 1) if count > 0 else shift(end + DAY, unit, count)
        return first, shift(first, unit, 1) - DAY

    return Part(grain=unit, cut=_units_cut(unit, choose))


def _units_cut(unit: str, choose: Callable[[date, date], tuple[date, date]]) -> Cut:
    """Some units of a period with both ends, if they lie in it; months only of what begins with one."""

    def cut(span: Span) -> tuple[Span, ...]:
        whole = _whole(span)
        if whole is None or (unit in MONTHS and whole[0].day != 1):
            return ()
        first, last = choose(*whole)
        return ((first, last),) if whole[0] <= first and last <= whole[1] else ()

    return cut


def _weekday_cut(number: int, count: int, days: int = 1) -> Cut:
    def cut(span: Span) -> tuple[Span, ...]:
        whole = _whole(span)
        day = nth_weekday(whole, number, count) if whole else None
        return ((day, day + (days - 1) * DAY),) if day else ()

    return cut


def _nth_week(found: Found, count: int) -> Part:
    """A week of a month: days 1–7, or the week from Monday on that holds day 1; the habits differ."""
    rule = found.context.policy.nth_week

    def cut(span: Span) -> tuple[Span, ...]:
        whole = _whole(span)
        if whole is None:
            return ()
        start, end = whole
        if count > 0:
            days = (start + timedelta(days=7 * (count - 1)), min(end, start + timedelta(days=7 * count - 1)))
            weeks = week_span(start, count - 1)
        else:
            days = (max(start, end + timedelta(days=7 * count + 1)), end + timedelta(days=7 * (count + 1)))
            weeks = week_span(end, count + 1)
        if days[0] > end or days[1] < start:
            return ()
        return (days,) if rule == "days" else (weeks,) if rule == "weeks" else (days, weeks)

    return Part(grain="week", cut=cut, doubt="" if rule else "n-th week")


def edge(found: Found) -> Made:
    """The end of …, early 2025, 月底: a day or a stretch; only a bound (since, by, until) settles which."""
    side = _side(found)
    values = found.values()
    if values:
        return replace(values[0], grain="edge", mark=side, doubt=values[0].doubt or "part of a period")
    unit = found.word("unit", "unitedge").split(":", maxsplit=1)[0]
    today = found.context.today
    if unit == "week":
        policy = found.context.policy
        start = policy.week_start or ("monday" if found.has("unitedge") else None)
        both = (week_span(today), week_span(today, sunday=True))
        spans: tuple[Span, ...] = both if start is None else both[:1] if start == "monday" else both[1:]
        return Value(grain="edge", spans=spans, mark=side, doubt="part of a period" if start else "week start")
    if unit not in MONTHS:
        return None
    return Value(grain="edge", spans=(unit_span(unit, today),), mark=side, doubt="part of a period")


def numbered_edge(found: Found) -> Made:
    """三月底, 一季度末: the edge of a month or quarter that is named by its number."""
    unit, side = found.word("unitedge").split(":")
    number, length = found.number("n"), MONTHS.get(unit, 1)
    if unit not in ("month", "quarter") or not 1 <= number <= 12 // length:
        return None
    return Value(
        grain="edge",
        at=lambda year: (months_span(year, (number - 1) * length + 1, length),),
        mark=side,
        doubt="part of a period",
    )


def edge_of_year(found: Found) -> Made:
    """去年年底, 上个月月底: the edge of the period that stands before it."""
    whole, value = found.values()
    return replace(whole, grain="edge", mark=value.mark, doubt=whole.doubt or "part of a period", others=())


def _side(found: Found) -> str:
    for kind, side in (("startof", "start"), ("endof", "end"), ("early", "early"), ("late", "late"), ("mid", "middle")):
        if found.has(kind):
            return side
    word = found.word("unitedge") or found.word("edge")
    return word.rsplit(":", maxsplit=1)[-1]


def the_unit(found: Found) -> Made:
    """The month, the year beside a part of it: the current one."""
    part = found.held("Part")
    unit = found.word("unit")
    if unit not in MONTHS or not isinstance(part, Part):
        return None
    value = Value(grain=unit, spans=(unit_span(unit, found.context.today),))
    return mapped(value, part.cut, part.grain, part.doubt)


def edge_readings(value: Value) -> tuple[Span, ...]:
    """What an edge may mean: a third of its period, or the one day."""
    found: list[Span] = []
    for span in value.spans:
        whole = _whole(span)
        if whole is None:
            continue
        start, end = whole
        length = (end - start).days + 1
        third_days = timedelta(days=length // 3 - 1)
        if value.mark in ("start", "early"):
            found += [(start, start + third_days), (start, start)]
        elif value.mark in ("end", "late"):
            found += [(end - third_days, end), (end, end)]
        else:
            found.append((start + third_days + DAY, end - third_days - DAY))
    return tuple(found)
