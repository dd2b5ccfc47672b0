"""Numbers and dates as they are written → tokens with values: 2026-03-18, Q1 2026, 二十一, 5:45pm."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple

from processors.periods.reading import Context, Span, Sure, Value, read_lenient_moment
from processors.periods.spans import iso_week, month_end, months_span

_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_WEEKDAYS = "一二三四五六日1234567"


class Token(NamedTuple):
    """A stretch of the text with its class, what it holds, and the rules that made it."""

    kind: str
    start: int
    end: int
    held: object = 0
    rules: tuple[str, ...] = ()


def literal(name: str, text: str, start: int, context: Context) -> Token | None:
    """What the scanner's pattern `name` found; None if it is no time after all."""
    end = start + len(text)
    if name in {"number", "glued"}:
        if not text.isdigit() or len(text) > 4:
            return None
        kind = "y4" if len(text) == 4 and 1900 <= int(text) <= 2100 else "n"
        return Token(kind, start, end, int(text))
    if name == "numeral":
        if len(text) in (2, 3) and not set(text) & {"十", "百"} and not context.text.startswith("年", end):
            return None  # 两三个月: an estimate
        number = chinese_number(text)
        kind = "y4" if len(text) == 4 and number is not None and 1900 <= number <= 2100 else "n"
        return None if number is None else Token(kind, start, end, number)
    if name == "shortyear":
        return Token("y2", start, end, century(int(text[1:])))
    if name == "weekday":
        return (
            Token("wdn", start, end, _WEEKDAYS.index(text.replace("天", "日")) % 7)
            if text != "末"
            else Token("weekend", start, end)
        )
    if name == "eleven":
        return Token("vfest", start, end, "national")
    if name == "ordinal":
        return Token("ord", start, end, int(text[:-2]))
    if name == "qh" or (name == "nq" and len(text) == 2):
        letter, number = ("q" if "q" in text else "h"), int(re.sub(r"\D", "", text))
        return Token(letter, start, end, number) if letter == "q" or number <= 2 else None
    if name == "fy":
        years = [century(int(year)) for year in re.findall(r"\d+", text)]
        return Token("fy", start, end, years[-1])
    if name == "cy":
        return Token("y4", start, end, int(text[-4:]))
    value = _date(name, text, context)
    return None if value is None else Token(kind_of(value), start, end, value, (f"literal.{name}",))


def kind_of(value: Value) -> str:
    """The class of a token that holds the value."""
    if value.at is not None and not value.spans:
        return f"{value.grain}0"
    return value.grain.capitalize()


def century(number: int) -> int:
    """A two-digit year as one of 1970–2069; longer ones as they are."""
    if number >= 100:
        return number
    return number + (1900 if number >= 70 else 2000)


def chinese_number(text: str) -> int | None:
    """二〇二六 by digits, 二十一 and 一百二 by place; None if it is neither."""
    if not set(text) & {"十", "百"}:
        return int("".join(str(_DIGITS[letter]) for letter in text)) if len(text) <= 4 else None
    match = re.fullmatch(
        r"(?:([一二两三四五六七八九])百)?零?(?:([一二三四五六七八九])?(十))?([一二三四五六七八九])?", text
    )
    if match is None:
        return None
    hundreds, tens, ten, ones = match.groups()
    return (
        100 * _DIGITS.get(hundreds or "", 0)
        + (10 * _DIGITS.get(tens or "一", 0) if ten else 0)
        + _DIGITS.get(ones or "", 0)
    )


def _date(name: str, text: str, context: Context) -> Value | None:
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if name == "moment":
        moment = read_lenient_moment(text.upper())
        return _impossible() if moment is None else _moment(moment, context)
    if name in ("ymd", "ymd8"):
        parts = numbers if name == "ymd" else [int(text[:4]), int(text[4:6]), int(text[6:])]
        return _day(*parts)
    if name == "dmy":
        return _day_in_some_order(text, numbers, context)
    if name == "isoweek":
        return _span("week", numbers, iso_week)
    if name == "clock":
        return _clock(text, numbers)
    if name in ("ym", "my"):
        year, month = numbers if name == "ym" else reversed(numbers)
        return Value(grain="month", spans=(months_span(year, month, 1),))
    if name == "md":
        return _month_day(numbers)
    if name == "splityear":
        first, last = numbers
        spans: tuple[Span, ...] = (months_span(first, 7, 12), (date(first, 1, 1), date(first + 1, 12, 31)))
        return Value(grain="vague", spans=spans, doubt="split year") if last == (first + 1) % 100 else None
    if name == "decade":
        first = numbers[0] if numbers[0] >= 100 else 1900 + numbers[0]
        sure = "" if numbers[0] >= 100 or numbers[0] >= 30 else "which century"
        return Value(grain="span", spans=((date(first, 1, 1), date(first + 9, 12, 31)),), doubt=sure)
    return _part_of_year(text)


_PART_FIRST = re.compile(r"([qh])[ -]?([1-4])\D*(\d\d(?:\d\d)?)|([1-4])([qh])\D*(\d\d(?:\d\d)?)")
_YEAR_FIRST = re.compile(r"(\d\d(?:\d\d)?)\D?([qh])([1-4])")


def _part_of_year(text: str) -> Value | None:
    """Q1 2026, 2026-Q1, 1Q26, 24H2."""
    if match := _YEAR_FIRST.fullmatch(text):
        year, letter, part = match.groups()
    elif match := _PART_FIRST.fullmatch(text):
        letter, part, year = match[1] or match[5], match[2] or match[4], match[3] or match[6]
    else:
        return None
    if letter == "h" and int(part) > 2:
        return None
    length = 3 if letter == "q" else 6
    span = months_span(century(int(year)), (int(part) - 1) * length + 1, length)
    return Value(grain="quarter" if letter == "q" else "half", spans=(span,), mark=int(part))


def _moment(moment: datetime, context: Context) -> Value:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=context.now.tzinfo)
    return Value(grain="moment", spans=((aware, aware),))


def _month_day(numbers: list[int]) -> Value | None:
    """The 03.15 of 2026.03.01~03.15: a day whose year stands before it."""
    month, day = numbers
    if not (1 <= month <= 12 and 1 <= day <= month_end(date(2001, month, 1)).day):
        return None
    return Value(grain="day", at=lambda year: ((date(year, month, day), date(year, month, day)),))


def _day(year: int, month: int, day: int) -> Value:
    try:
        found = date(year, month, day)
    except ValueError:  # 30 February: a date in form only
        return _impossible()
    return Value(grain="day", spans=((found, found),))


def _impossible() -> Value:
    return Value(grain="day", doubt="impossible")


def _span(grain: str, numbers: list[int], make: Callable[..., Span]) -> Value:
    try:
        return Value(grain=grain, spans=(make(*numbers),))
    except ValueError:  # week 60
        return Value(grain=grain, doubt="impossible")


def _day_in_some_order(text: str, numbers: list[int], context: Context) -> Value:
    first, second, year = numbers[0], numbers[1], century(numbers[2])
    month_first, day_first = _day(year, first, second), _day(year, second, first)
    if month_first.doubt or day_first.doubt or first == second:
        order = "" if first == second else "dmy" if month_first.doubt else "mdy"
        return replace(day_first if month_first.doubt else month_first, mark=order)
    if context.policy.date_order:
        return day_first if context.policy.date_order == "dmy" else month_first
    if "." in text:
        return replace(day_first, sure=Sure.ASSUMED, assumptions=("dots: the day first",))
    return Value(grain="day", spans=month_first.spans + day_first.spans, doubt="day/month order")


def _clock(text: str, numbers: list[int]) -> Value | None:
    """A time of day on day 1; `mark` says whether morning or afternoon is settled."""
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    second = numbers[2] if len(numbers) > 2 else 0
    half = re.search(r"[ap]", text)
    if half and not 1 <= hour <= 12:
        half = None
    if half:
        hour = hour % 12 + (12 if half.group() == "p" else 0)
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and minute):
        return None
    settled = half or hour > 12 or hour == 0 or text[:2].isdigit()
    seconds = hour * 3600 + minute * 60 + second
    return Value(grain="clock", mark=seconds, doubt="" if settled else "am or pm")
