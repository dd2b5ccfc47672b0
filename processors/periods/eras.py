"""Operations for periods that people bound differently: fiscal years, seasons, decades, centuries."""

from dataclasses import replace
from datetime import date

from processors.periods.absolute import dated
from processors.periods.found import Found, Made
from processors.periods.literals import century
from processors.periods.reading import Span, Sure, Value
from processors.periods.spans import add_months, month_end, months_span

SEASONS = ((3, 3), (6, 3), (9, 3), (12, 3))
"""First month and number of months, as the northern half of the world counts them."""
FISCAL_STARTS = (1, 4, 7, 10)


def decade(found: Found) -> Made:
    """上世纪九十年代, 90年代."""
    hundreds, number = found.number("century", default=0), found.number("n")
    if number % 10 or not 10 <= number <= 90:
        return None
    first = (hundreds or 1900) + number
    doubt = "" if hundreds or number >= 50 else "which century"
    return Value(grain="span", spans=((date(first, 1, 1), date(first + 9, 12, 31)),), doubt=doubt)


def decade_by_name(found: Found) -> Made:
    """The nineties."""
    first = found.number("decadename")
    return Value(grain="span", spans=((date(first, 1, 1), date(first + 9, 12, 31)),))


def century_span(found: Found) -> Made:
    """二十世纪: as a whole, without a first day that all agree on."""
    first = found.number("century")
    spans = ((date(first, 1, 1), date(first + 99, 12, 31)), (date(first + 1, 1, 1), date(first + 100, 12, 31)))
    return Value(grain="span", spans=spans, doubt="first year of a century")


def season(found: Found) -> Made:
    """Summer 2024, 暑假: a season has no bounds that all agree on."""
    if any(token.kind == "season" and token.end - token.start < 2 for token in found.tokens):
        return None
    first, length = SEASONS[found.number("season")]

    def at(year: int) -> tuple[Span, ...]:
        start = date(year, first, 1)
        return ((start, month_end(add_months(start, length - 1))),)

    value = dated(found, "span", at)
    spans = value.spans or at(found.context.today.year)
    return Value(grain="vague", spans=spans, doubt="season: hemisphere and definition")


MONTHS_OF = {"quarter": 3, "half": 6}


def fiscal_year(found: Found) -> Made:
    """FY2025, 2025财年: settled only by the host's fiscal year."""
    policy = found.context.policy
    number = found.number("fy", "y4", "y2", "n", default=0)
    offsets = [one for one in found.values() if one.grain == "year"]
    relative = found.has("this", "last", "next", "previous", "yearrel", "coming", "fiscalrel") or bool(
        offsets and offsets[0].sure != Sure.LITERAL
    )
    if offsets:
        number = int(str(offsets[0].start)[:4])
    starts = (policy.fiscal_start_month,) if policy.fiscal_start_month else FISCAL_STARTS
    if relative:
        offset = found.number("this", "last", "next", "previous", "coming", "yearrel", "fiscalrel", default=0)
        if offsets:
            offset = number - found.context.today.year
        spans = tuple(_fiscal_around(found.context.today, start, offset) for start in starts)
    elif not number:
        return None
    else:
        number = century(number)
        back = policy.fiscal_label == "end_year"
        spans = tuple(months_span(number - (start > 1 and back), start, 12) for start in starts)
    sure = Sure.RELATIVE if relative else Sure.ASSUMED
    return Value(grain="year", spans=spans, doubt="" if len(spans) == 1 else "fiscal year start", sure=sure)


def fiscal_part(found: Found) -> Made:
    """Fiscal Q2 2025: settled only by the host's fiscal year."""
    value, policy = found.values()[0], found.context.policy
    if value.start is None or value.grain not in MONTHS_OF:
        return Value(grain="vague", doubt="fiscal year start")
    length, first = MONTHS_OF[value.grain], policy.fiscal_start_month
    if not first:
        return replace(value, doubt="fiscal year start")
    year = value.start.year - (first > 1 and policy.fiscal_label == "end_year")
    month = first + value.start.month - 1
    return replace(
        value, spans=(months_span(year + (month - 1) // 12, (month - 1) % 12 + 1, length),), sure=Sure.ASSUMED
    )


def _fiscal_around(today: date, start: int, offset: int) -> tuple[date, date]:
    return months_span(today.year - (today.month < start) + offset, start, 12)


def season_if_said(found: Found) -> Made:
    """2025年夏天, 暑假; a single 春 is mostly part of another word."""
    token = found.tokens[-1]
    if len(found.tokens) == 1 and token.end - token.start < 2:
        return None
    return Value(grain="vague", doubt="season: hemisphere and definition", sure=Sure.RELATIVE)
