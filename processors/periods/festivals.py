"""Operations for festivals: fixed days, days by rule, and those that move, from the shipped table."""

import tomllib
from collections.abc import Callable
from datetime import date
from functools import cache

from processors.periods.absolute import dated
from processors.periods.found import Found, Made
from processors.periods.lexicon import FOLDER
from processors.periods.reading import Span, Value
from processors.periods.spans import DAY, easter, months_span, nth_weekday

FIXED = {
    "new_year_day": (1, 1), "new_year": (1, 1), "valentine": (2, 14), "groundhog": (2, 2), "women": (3, 8),
    "pi_day": (3, 14), "arbor": (3, 12), "consumer": (3, 15), "patrick": (3, 17), "april_fools": (4, 1),
    "earth_day": (4, 22), "may_day": (5, 1), "labour": (5, 1), "youth": (5, 4), "cinco": (5, 5), "children": (6, 1),
    "six_eighteen": (6, 18), "juneteenth": (6, 19), "party": (7, 1), "us_independence": (7, 4), "bastille": (7, 14),
    "army": (8, 1), "teachers": (9, 10), "national": (10, 1), "halloween": (10, 31), "guy_fawkes": (11, 5),
    "singles": (11, 11), "veterans": (11, 11), "double_twelve": (12, 12), "christmas_eve": (12, 24),
    "christmas_day": (12, 25), "boxing_day": (12, 26), "new_year_eve": (12, 31),
}  # fmt: skip
NTH = {
    "thanksgiving": (11, 3, 4), "mother": (5, 6, 2), "father": (6, 6, 3), "memorial": (5, 0, -1), "us_labor": (9, 0, 1),
    "mlk": (1, 0, 3), "presidents": (2, 0, 3), "columbus": (10, 0, 2),
}  # fmt: skip
"""Festival → month, weekday from Monday on, which one."""
FROM_OTHERS: dict[str, Callable[[int], date]] = {
    "black_friday": lambda year: _nth("thanksgiving", year) + DAY,
    "cyber_monday": lambda year: _nth("thanksgiving", year) + 4 * DAY,
    "easter": easter,
    "good_friday": lambda year: easter(year) - 2 * DAY,
    "easter_monday": lambda year: easter(year) + DAY,
    "lunar_eve": lambda year: _moving("spring", year) - DAY,
    "spring_day": lambda year: _moving("spring", year),
}


@cache
def _table() -> tuple[int, dict[str, list[str]], dict[str, dict[int, tuple[date, date]]]]:
    table = tomllib.loads((FOLDER / "festivals.toml").read_text(encoding="utf-8"))
    spans: dict[str, dict[int, tuple[date, date]]] = {}
    for name, rows in table["spans"].items():
        for row in rows.strip().splitlines():
            first, last = (date.fromisoformat(day) for day in row.split())
            spans.setdefault(name, {})[last.year] = (first, last)
    return table["first_year"], {name: days.split() for name, days in table["lunar"].items()}, spans


def _nth(name: str, year: int) -> date:
    month, weekday, count = NTH[name]
    day = nth_weekday(months_span(year, month, 1), weekday, count)
    assert day is not None, "every month has four of each weekday"
    return day


def _moving(name: str, year: int) -> date:
    first_year, lunar, _ = _table()
    days = lunar.get(name, [])
    if not 0 <= year - first_year < len(days):
        raise ValueError(f"no date of {name} for {year}")
    month_day = days[year - first_year]
    return date(year, int(month_day[:2]), int(month_day[2:]))


def day_of(name: str, year: int) -> date | None:
    """The festival's day in a year; None outside the table."""
    if name in FIXED:
        return date(year, *FIXED[name])
    if name in NTH:
        return _nth(name, year)
    try:
        return FROM_OTHERS[name](year) if name in FROM_OTHERS else _moving(name, year)
    except ValueError:  # a moving festival beyond the table
        return None


def _days(name: str, year: int) -> tuple[Span, ...]:
    day = day_of(name, year)
    return () if day is None else ((day, day),)


def festival(found: Found) -> Made:
    """Halloween 2024, 2025年双十一: one day."""
    name = found.word("fest", "vfest")
    return dated(found, "day", lambda year: _days(name, year))


def day_or_holiday(found: Found) -> Made:
    """2026年春节, Chinese New Year: the day or the holiday, which the word alone doesn't say."""
    name = found.word("vfest")

    def at(year: int) -> tuple[Span, ...]:
        holiday = _table()[2].get(name, {}).get(year)
        days = _days(name, year) if name in FIXED or name in _table()[1] else ()
        return days + ((holiday,) if holiday else ())

    value = dated(found, "day", at)
    return Value(grain="day", spans=value.spans, at=value.at, doubt="festival day or public holiday")


def holiday(found: Found) -> Made:
    """2025年国庆假期: the announced days off; a year that isn't announced has none."""
    name = found.word("vfest")
    spans = _table()[2].get(name, {})

    def at(year: int) -> tuple[Span, ...]:
        return (spans[year],) if year in spans else ()

    value = dated(found, "span", at)
    if value.at is None and not value.spans:
        return Value(grain="span", doubt="not announced")
    return value


def around(found: Found) -> Made:
    """Over Christmas, 双十一期间: a stretch around a day, without bounds."""
    value = found.values()[0]
    return Value(grain="vague", spans=value.spans, doubt="around a festival", sure=value.sure)


def around_day(found: Found) -> Made:
    """双十一期间, 春节前后: a stretch around a day; a holiday or month 期间 is that period itself."""
    value = found.values()[0]
    if found.has("nei") and value.grain != "day":
        return value
    return around(found)
