"""Operations for periods that the calendar names: years, halves, quarters, months, days, weeks."""

from calendar import isleap
from datetime import date, timedelta

from processors.periods.found import Found, Made, Part, less_sure, mapped
from processors.periods.literals import century
from processors.periods.parts import half
from processors.periods.reading import Place, Span, Sure, Value
from processors.periods.spans import add_months, iso_week, month_end, months_span, unit_span, week_span

PARTS = {"quarter": 3, "half": 6}
BARE_BACK_MAX, BARE_AHEAD_MAX = 15, 10
"""A number of four digits with no word that makes it a year is one only this near to `now`."""
YEARS_BACK_MAX, YEARS_AHEAD_MAX = 5, 3
"""A number of two digits is a year only this near to `now`; further off it may be a count of years."""


def dated(found: Found, grain: str, place: Place, mark: int | str = "") -> Value:
    """The period in the year that the match names; without one, a yearless period."""
    years = found.numbers("y4", "y2")
    if years:
        return Value(grain=grain, spans=place(years[-1]), mark=mark)
    return Value(grain=grain, at=place, mark=mark)


def year(found: Found) -> Made:
    """2025, '25, calendar year 2025."""
    number = found.number("y4", "y2", "n")
    if found.has("n"):
        number = century(number)
    this = found.context.today.year
    said = found.context.text[found.tokens[0].start : found.tokens[0].end]
    if (
        found.args.get("bare")
        and len(found.tokens) == 1
        and not this - BARE_BACK_MAX <= number <= this + BARE_AHEAD_MAX
    ):
        return None
    if (found.args.get("near") or found.args.get("two_digits")) and ("十" in said or len(said) != 2):
        return None
    if found.args.get("near") and not this - YEARS_BACK_MAX <= number <= this + YEARS_AHEAD_MAX:
        return None
    return Value(grain="year", spans=(months_span(number, 1, 12),))


def month(found: Found) -> Made:
    """May, 5月, May 2025."""
    number = found.number("mon", "wmon", "n")
    if not 1 <= number <= 12:
        return None
    return dated(found, "month", lambda year: (months_span(year, number, 1),), number)


def month_day(found: Found) -> Made:
    """May 5, the 5th of May 2025, 5月5日."""
    numbers = found.numbers("n", "ord", "second", "one")
    number = found.number("mon", "wmon") if found.has("mon", "wmon") else numbers.pop(0)
    if not numbers or not 1 <= number <= 12 or not 1 <= numbers[0] <= 31:
        return None if found.has("mon", "wmon") else Value(grain="day", doubt="impossible")
    day = numbers[0]
    if day > (29 if number == 2 else month_end(date(2001, number, 1)).day):
        return Value(grain="day", doubt="impossible")
    return dated(found, "day", _place_of_day(number, day))


def _place_of_day(month: int, day: int) -> Place:
    def at(year: int) -> tuple[Span, ...]:
        if (month, day) == (2, 29) and not isleap(year):
            return ()
        return ((date(year, month, day), date(year, month, day)),)

    return at


def month_days(found: Found) -> Made:
    """May 5–9, 2025; 5月5-9日."""
    numbers = found.numbers("n", "ord", "second", "one")
    number = found.number("mon", "wmon") if found.has("mon", "wmon") else numbers.pop(0)
    first, last = numbers[:2]
    if not (1 <= number <= 12 and 1 <= first < last <= month_end(date(2000, number, 1)).day):
        return None
    return dated(found, "span", lambda year: ((date(year, number, first), date(year, number, last)),))


def months(found: Found) -> Made:
    """3-5月, 三到五月: the months of one year."""
    first, last = found.numbers("n", "mon", "wmon")[:2]
    if not (1 <= first <= 12 and 1 <= last <= 12):
        return None
    return dated(found, "span", lambda year: (months_span(year, first, (last - first) % 12 + 1),))


def part_of_year(found: Found) -> Made:
    """Q1, the first quarter, 一季度, H2 2025."""
    unit = found.text_arg("unit")
    said = found.word("unit", "geyue", "ji")
    if said and said != unit:
        return None
    number = found.number("q", "h", "ord", "second", "n", "one", "halfyear")
    if found.has("last", "zuihou"):
        number = 12 // PARTS[unit]
    length = PARTS[unit]
    if not 1 <= number <= 12 // length:
        return None
    return dated(found, unit, lambda year: (months_span(year, (number - 1) * length + 1, length),), number)


def parts_of_year(found: Found) -> Made:
    """Q1-Q3, 一到三季度, in one year."""
    first, last = found.numbers("q", "h", "ord", "n", "second")[:2]
    if not 1 <= first < last <= 4:
        return None
    return dated(found, "span", lambda year: (months_span(year, 3 * first - 2, 3 * (last - first + 1)),))


def day_of_month(found: Found) -> Made:
    """The 5th, 5号: a day whose month isn't said."""
    number = found.number("ord", "n", "second")
    return Value(grain="dom", mark=number, doubt="which month") if 1 <= number <= 31 else None


def day_in_month(found: Found) -> Made:
    """The 5th of next month, 下月5号."""
    container, number = found.values()[0], found.number("ord", "n", "second", default=0)
    if not number:
        number = next((int(one.mark) for one in found.values() if one.grain == "dom"), 0)
        container = next(one for one in found.values() if one.grain != "dom")
    if not 1 <= number <= 31:
        return None

    def cut(span: Span) -> tuple[Span, ...]:
        start, end = span
        if start is None or end is None or start.day + number - 1 > month_end(start).day:
            return ()
        day = start + timedelta(days=number - 1)
        return ((day, day),)

    return mapped(container, cut, "day")


def fill(found: Found) -> Made:
    """A yearless period and a year: Q1 of last year, 去年三月."""
    values = found.values()
    known = next((one for one in values if one.grain in ("year", "span", "half", "quarter") and one.spans), None)
    open_one = next((one for one in values if one.at is not None and not one.spans), None)
    if known is None or open_one is None or open_one.at is None:
        return None
    spans = tuple(inner for span in known.spans for inner in _within(open_one, span))
    if not spans:
        return Value(grain=open_one.grain, doubt="impossible")
    return Value(
        grain=open_one.grain,
        spans=spans,
        doubt=known.doubt or open_one.doubt,
        sure=less_sure(known.sure, open_one.sure),
        assumptions=known.assumptions + open_one.assumptions,
        mark=open_one.mark,
    )


def _within(value: Value, container: Span) -> tuple[Span, ...]:
    """The readings of a yearless value that lie in a container; quarters and halves count from its start."""
    start, end = container
    if start is None or end is None or value.at is None:
        return ()
    if value.grain in PARTS and start.month != 1 and isinstance(value.mark, int):
        length = PARTS[value.grain]
        first = add_months(start, (value.mark - 1) * length)
        return ((first, month_end(add_months(first, length - 1))),)
    for year in range(start.year, end.year + 1):
        spans = value.at(year)
        if spans and spans[0][0] is not None and start <= spans[0][0] <= end:
            return spans
    return ()


def week_number(found: Found) -> Made:
    """ISO week 39 of 2023, 2025年第12周."""
    numbers = found.numbers("n", "ord", "second")
    years = found.numbers("y4", "y2") or [found.context.today.year + one for one in found.numbers("yearrel")]
    if not numbers or not 1 <= numbers[0] <= 53 or (found.has("unit") and found.word("unit") != "week"):
        return None
    number = numbers[0]
    if years:
        return Value(grain="week", spans=(iso_week(years[-1], number),))
    return Value(grain="week", at=lambda year: (iso_week(year, number),))


def week_of(found: Found) -> Made:
    """The week of May 5: the calendar week that the day lies in."""
    start = found.context.policy.week_start if not found.args.get("monday") else "monday"
    value = found.values()[0]

    def cut(span: Span) -> tuple[Span, ...]:
        if span[0] is None:
            return ()
        both = (week_span(span[0]), week_span(span[0], sunday=True))
        return both[:1] if start == "monday" else both[1:] if start == "sunday" else both

    return mapped(value, cut, "week", "" if start else "week start")


def range_of_years(found: Found) -> Made:
    """2023-2025, 2021~2024年."""
    first, last = found.numbers("y4", "n")[:2]
    last = century(last) if last > 99 or first < 100 else first // 100 * 100 + last
    first = century(first)
    if not first < last <= first + 100:
        return None
    return Value(grain="span", spans=((date(first, 1, 1), date(last, 12, 31)),))


def part_of(found: Found) -> Made:
    """The first half of … and the period itself."""
    part = found.held("Part")
    container = next((one for one in found.values()), None)
    if not isinstance(part, Part) or container is None:
        return None
    return mapped(container, part.cut, part.grain, part.doubt)


def half_of_year(found: Found) -> Made:
    """The first half, the second half of 2025, the first half of the year or of the month."""
    number = 2 if found.has("back", "latter") else found.number("ord", "second")
    if number not in (1, 2):
        return None
    unit = found.word("unit")
    if unit in ("month", "year"):
        part = half(found)
        today = found.context.today
        whole = Value(grain=unit, spans=(unit_span(unit, today),), sure=Sure.RELATIVE)
        return mapped(whole, part.cut, "span") if isinstance(part, Part) else None
    if unit:
        return None
    return dated(found, "half", lambda year: (months_span(year, 6 * number - 5, 6),), number)


def days_in_named_month(found: Found) -> Made:
    """上个月5号到15号: two days of one month that is named apart."""
    month_value = found.values()[0]
    numbers = [token.held for token in found.tokens if token.kind == "n"]
    numbers += [int(one.mark) for one in found.values() if one.grain == "dom"]
    first, last = (int(str(number)) for number in numbers[:2])

    def cut(span: Span) -> tuple[Span, ...]:
        start, end = span
        if start is None or end is None or not 1 <= first < last <= (end - start).days + 1:
            return ()
        return ((start + timedelta(days=first - 1), start + timedelta(days=last - 1)),)

    return mapped(month_value, cut, "span")
