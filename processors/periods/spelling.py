"""A day, moment, year or quarter ↔ how an argument spells it: ISO text, epoch numbers, Q3, 2026-Q1, odd separators."""

import re
from datetime import UTC, date, datetime, timedelta

from processors.periods.forms import Slot
from processors.periods.reading import Point, Span, iso, read_lenient_moment
from processors.periods.spans import month_end, months_span
from schemas.jsonvalue import Json

TEXT_MAX = 64
"""Longest text that may be one date."""
_DAY = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?:[T ]0{1,2}:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")
_YEAR_MONTH = re.compile(r"(\d{4})[-/.年]?(\d{1,2})月?")


def point_of(value: Json, slot: Slot) -> Point | None:
    """The day or moment that an argument's value names; None if it names none."""
    if isinstance(value, bool):
        return None
    if slot.form == "epoch" and isinstance(value, int | float):
        return _epoch(value, slot)
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        return None
    text = value.strip()
    if slot.form == "moment":
        return read_lenient_moment(text.replace("/", "-")) if len(text) > 10 else None
    return day_of(text)


def day_of(text: str) -> date | None:
    """The day that a text spells, at midnight or without a time."""
    match = _DAY.fullmatch(text) or _COMPACT.fullmatch(text)
    if match is None:
        return None
    try:
        return date(*(int(part) for part in match.groups()))
    except ValueError:  # 30 February
        return None


def _epoch(value: float, slot: Slot) -> datetime | None:
    try:
        return datetime.fromtimestamp(value / 1000 if slot.milliseconds else value, UTC)
    except (OverflowError, ValueError, OSError):  # beyond what the calendar holds
        return None


def number_of(value: Json, slot: Slot) -> int | None:
    """A year, quarter or month number, also as text: "Q3", "2025"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        match = re.fullmatch(r"[Qq]?(\d{1,4})", value.strip())
        if match and (slot.form != "year" or len(match[1]) == 4):
            return int(match[1])
    return None


def months_of(value: Json, slot: Slot) -> Span | None:
    """The months that "2026-03" or "2026-Q1" spells."""
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        return None
    text = value.strip()
    if slot.form == "year_quarter":
        match = re.fullmatch(r"(\d{4})[-/ ]?[Qq]([1-4])|[Qq]([1-4])[-/ ]?(\d{4})", text)
        if match:
            year, quarter = int(match[1] or match[4]), int(match[2] or match[3])
            return months_span(year, 3 * quarter - 2, 3)
    elif (match := _YEAR_MONTH.fullmatch(text)) and 1 <= int(match[2]) <= 12:
        return months_span(int(match[1]), int(match[2]), 1)
    return None


def spelled(point: Point | None, slot: Slot) -> Json:
    """A day or moment as the slot takes it; None where it can't."""
    if point is None:
        return None
    if slot.form == "date":
        return iso(point.date() if isinstance(point, datetime) else point)
    if not isinstance(point, datetime):
        return None
    if slot.form == "epoch":
        seconds = (point if point.tzinfo else point.replace(tzinfo=UTC)).timestamp()
        return int(seconds * 1000) if slot.milliseconds else int(seconds)
    return iso(point)


def whole_months(span: Span) -> tuple[int, int, int] | None:
    """Year, first month and number of months, if a span is made of whole months of one year."""
    start, end = span
    if start is None or end is None or isinstance(start, datetime) or isinstance(end, datetime):
        return None
    if start.year != end.year or start.day != 1 or end != month_end(end):
        return None
    return start.year, start.month, end.month - start.month + 1


def part_of_span(span: Span, slot: Slot) -> Json:
    """A period as a year, month or quarter slot takes it; None if it is no such unit."""
    months = whole_months(span)
    if months is None:
        return None
    year, first, count = months
    lengths = {"year": 12, "quarter": 3, "year_quarter": 3, "month_number": 1, "year_month": 1}
    if count != lengths.get(slot.form) or (count > 1 and first % count != 1):
        return None
    values: dict[str, Json] = {
        "year": year if not slot.is_text else f"{year:04d}",
        "quarter": (first + 2) // 3,
        "month_number": first,
        "year_month": f"{year:04d}-{first:02d}",
        "year_quarter": _quarter_text(year, (first + 2) // 3, slot.pattern),
    }
    return values[slot.form]


def _quarter_text(year: int, quarter: int, shown: str) -> str:
    """As the schema's pattern or example shows it, else 2026-Q1."""
    if re.match(r"\^?\(?Q", shown):
        return f"Q{quarter}{'-' if '-' in shown[3:] else ' '}{year:04d}"
    if re.search(r"\d\}?Q|\)Q", shown) and "-" not in shown.replace("1-4", ""):
        return f"{year:04d}Q{quarter}"
    return f"{year:04d}-Q{quarter}"


def ends_of_day(span: Span, now: datetime) -> Span:
    """A period of days as moments, from its first midnight to its last second, in the offset of `now`."""
    start, end = span
    if start is None or end is None:
        return (None, None)
    first = datetime(start.year, start.month, start.day, tzinfo=now.tzinfo)
    last = datetime(end.year, end.month, end.day, tzinfo=now.tzinfo) + timedelta(days=1, seconds=-1)
    return first, last
