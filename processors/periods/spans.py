"""Calendar arithmetic: years, halves, quarters, months, weeks and days as inclusive spans of dates.

All functions are total between the years 1 and 9999; beyond them they raise OverflowError or ValueError, which the
reader turns into "impossible".
"""

from calendar import monthrange
from datetime import date, timedelta

from processors.periods.reading import Span

DAY = timedelta(days=1)
MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120}
DAYS = {"day": 1, "week": 7, "fortnight": 14}


def month_end(day: date) -> date:
    """Last day of the day's month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def add_months(day: date, months: int) -> date:
    """The same day of another month, or that month's last day if it has no such day."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def months_span(year: int, first: int, count: int) -> tuple[date, date]:
    """`count` whole months from month `first` of a year on."""
    start = date(year, first, 1)
    return start, month_end(add_months(start, count - 1))


def unit_span(unit: str, day: date, offset: int = 0) -> tuple[date, date]:
    """The calendar month, quarter, half, year or decade `offset` units from the one the day lies in."""
    length = MONTHS[unit]
    place = (day.year * 12 + day.month - 1) // length * length + offset * length
    return months_span(place // 12, place % 12 + 1, length)


def week_span(day: date, offset: int = 0, *, sunday: bool = False) -> tuple[date, date]:
    """The week `offset` weeks from the one the day lies in, from Monday or Sunday on."""
    start = day - timedelta(days=(day.weekday() + sunday) % 7) + timedelta(days=7 * offset)
    return start, start + 6 * DAY


def iso_week(year: int, week: int) -> tuple[date, date]:
    """Week of ISO 8601, from Monday on."""
    start = date.fromisocalendar(year, week, 1)
    return start, start + 6 * DAY


def shift(day: date, unit: str, count: int) -> date:
    """The day `count` units later, or earlier if negative."""
    if unit in DAYS:
        return day + timedelta(days=DAYS[unit] * count)
    return add_months(day, MONTHS[unit] * count)


def rolling(day: date, unit: str, count: int) -> tuple[date, date]:
    """`count` units that end with the day."""
    return shift(day, unit, -count) + DAY, day


def full_units(day: date, unit: str, count: int, *, sunday: bool = False) -> tuple[date, date]:
    """The last `count` whole calendar units before the one the day lies in."""
    if unit in DAYS:
        weeks = count * DAYS[unit] // 7
        return week_span(day, -weeks, sunday=sunday)[0], week_span(day, -1, sunday=sunday)[1]
    return unit_span(unit, day, -count)[0], unit_span(unit, day, -1)[1]


def nth_weekday(span: tuple[date, date], weekday: int, count: int) -> date | None:
    """The `count`-th such weekday of a span, counted from its end if negative; None if there is none."""
    first, last = span
    if count > 0:
        day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (count - 1))
    else:
        day = last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-count - 1))
    return day if first <= day <= last else None


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus, Astronomical Algorithms, chapter 8)."""
    a, (b, c) = year % 19, divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    last = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * last) // 451
    month, day = divmod(h + last - 7 * m + 114, 31)
    return date(year, month, day + 1)


def same_span_earlier(span: Span, years: int) -> Span:
    """The span so many years earlier; a span that ends with its month still does."""
    start, end = span
    if start is None or end is None:
        return span
    moved = add_months(end, -12 * years)
    whole = end == month_end(end) and start.day == 1
    return add_months(start, -12 * years), month_end(moved) if whole else moved
