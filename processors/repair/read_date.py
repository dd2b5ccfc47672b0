"""Text → ISO date or date-time, if exactly one reading exists."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from processors.repair.moment import is_moment
from processors.repair.words import WORDS, fold

TEXT_MAX = 60
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")
_YEAR_FIRST = re.compile(r"(\d{4})[-./年 ]\s?(\d{1,2})[-./月 ]\s?(\d{1,2})\s?日?号?(?:[T\s](.*))?\Z", re.DOTALL)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})\Z")
_YEAR_LAST = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4})\Z")
_DAY_MONTH = re.compile(
    r"(?:[^\W\d]+\.?,?\s+)?(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s*(?:of |de |\s|-|/)?"
    r"\s*([^\W\d_]+)\.?,?\s*(?:de |-|/)?\s*(\d{4})\Z",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(r"(?:[^\W\d]+,\s+)?([^\W\d_]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\Z", re.IGNORECASE)
_YEAR_MONTH_DAY = re.compile(r"(\d{4})[-\s]([^\W\d_]+)[-\s](\d{1,2})\Z")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?\Z", re.IGNORECASE)
_MIDNIGHT = re.compile(r"0?0:00(?::00(?:\.0+)?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DateReading:
    """An ISO text, or the refusal code that says why there is none."""

    text: str = ""
    problem: str = ""


_UNRESOLVED = DateReading(problem="date_unresolved")


def read_date(text: str, order: str = "") -> DateReading:
    """The one day that a text names; `order` (`day_first`, `month_first`) settles what numbers alone leave open."""
    text = unicodedata.normalize("NFKC", text[: TEXT_MAX + 1]).strip().strip("\"'`")
    if len(text) > TEXT_MAX:
        return _UNRESOLVED
    if found := _YEAR_FIRST.match(text):
        if found[4] and not _MIDNIGHT.match(found[4].strip()):
            return _UNRESOLVED
        return _day(found[1], found[2], found[3])
    if found := _COMPACT.match(text):
        return _day(*found.groups())
    if found := _YEAR_LAST.match(text):
        return _day_or_month((int(found[1]), int(found[3])), int(found[4]), found[2], order)
    return _named(text)


def _day_or_month(pair: tuple[int, int], year: int, separator: str, order: str) -> DateReading:
    one, two = pair
    if one == two or separator == "." or order == "day_first":
        return _day(year, two, one)
    if order == "month_first":
        return _day(year, one, two)
    if one <= 12 and two <= 12:
        return DateReading(problem="date_day_month_unclear")
    return _day(year, two, one) if one > 12 else _day(year, one, two)


def _named(text: str) -> DateReading:
    for shape, year, month, day in ((_DAY_MONTH, 3, 2, 1), (_MONTH_DAY, 3, 1, 2), (_YEAR_MONTH_DAY, 1, 2, 3)):
        found = shape.match(text)
        number = WORDS.months.get(fold(found[month])) if found else None
        if found and number:
            return _day(found[year], number, found[day])
    return _UNRESOLVED


def _day(year: str | int, month: str | int, day: str | int) -> DateReading:
    try:
        return DateReading(date(int(year), int(month), int(day)).isoformat())
    except ValueError:  # a day that no calendar has
        return _UNRESOLVED


def read_moment(text: str) -> DateReading:
    """The one moment that a text names, with its offset if it has one; a day alone is left unresolved."""
    text = unicodedata.normalize("NFKC", text[: TEXT_MAX + 1]).strip().strip("\"'`")
    found = _YEAR_FIRST.match(text)
    clock = _CLOCK.match(found[4].strip()) if found and found[4] else None
    if not found or not clock:
        return _UNRESOLVED
    zone = (clock[5] or "").upper().replace("UTC", "Z")
    zone = zone if not zone or zone == "Z" or ":" in zone else f"{zone[:3]}:{zone[3:]}"
    day = _day(found[1], found[2], found[3])
    moment = f"{day.text}T{int(clock[1]):02d}:{clock[2]}:{clock[3] or '00'}{'.' + clock[4] if clock[4] else ''}{zone}"
    return DateReading(moment) if is_moment(moment) else _UNRESOLVED


def is_full_date(text: str) -> bool:
    """Whether a text is a whole ISO day: it can't go on and be another day."""
    return bool(_ISO.match(text)) and not _day(text[:4], text[5:7], text[8:]).problem
