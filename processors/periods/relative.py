"""Operations for periods that are said from `now`: last month, yesterday, 5 days ago, in 2 weeks."""

from processors.periods.found import Found, Made
from processors.periods.lexicon import has_cue
from processors.periods.reading import Context, Span, Sure, Value
from processors.periods.spans import (
    DAY,
    add_months,
    month_end,
    rolling,
    shift,
    unit_span,
    week_span,
)

OFFSETS = {
    "last3unit": -3, "last2unit": -2, "lastunit": -1, "thisunit": 0, "nextunit": 1, "next2unit": 2, "next3unit": 3,
}  # fmt: skip
COUNT_MAX = 1000
"""Largest number of units in a relative period: beyond it a number is rather a count of something."""


def settled(grain: str, span: Span, *others: Span, assumption: str = "") -> Value:
    different = tuple(dict.fromkeys(one for one in others if one != span))
    return Value(
        grain=grain,
        spans=(span,),
        sure=Sure.RELATIVE,
        others=different,
        assumptions=(assumption,) if assumption else (),
    )


def week_value(context: Context, offset: int, *, chinese: bool) -> Value:
    """A week by its place from this one; which day it starts on is for the policy, but Monday in Chinese."""
    start = context.policy.week_start or ("monday" if chinese else None)
    both = (week_span(context.today, offset), week_span(context.today, offset, sunday=True))
    if start is None:
        return Value(grain="week", spans=both, doubt="week start", sure=Sure.RELATIVE)
    span = both[0] if start == "monday" else both[1]
    return settled("week", span, *(((span[0], context.today),) if offset == 0 else ()))


def unit(found: Found) -> Made:
    """Last month, this quarter, 上上周: a calendar unit by its place from the current one."""
    context = found.context
    name, offset = place_of(found)
    if name == "week":
        return week_value(context, offset, chinese="offset" not in found.args)
    if name == "day":
        return Value(grain="vague", doubt="which days", sure=Sure.RELATIVE)
    if name == "fortnight":
        window = rolling(context.today, "fortnight", 1)
        return settled("span", window, assumption="window: incl_today") if offset == -1 else None
    span = unit_span(name, context.today, offset)
    is_loose = found.has("the") and found.has("last", "next") and not found.has("whole", "yearword", "before", "after")
    if is_loose and name in ("month", "year"):
        window = rolling(context.today, name, 1) if offset < 0 else (context.today + DAY, shift(context.today, name, 1))
        return Value(grain=name, spans=(span, window), doubt="calendar unit or window", sure=Sure.RELATIVE)
    if name == "decade":
        return Value(
            grain="span", spans=(rolling(context.today, "decade", 1), span), doubt="last decade", sure=Sure.RELATIVE
        )
    if offset == 0:
        to_date = (span[0], context.today)
        if context.policy.current_unit == "to_date":
            return settled(name, to_date, span, assumption="a current period ends today")
        return settled(name, span, to_date)
    return settled(name, span)


def place_of(found: Found) -> tuple[str, int]:
    """The unit and how far from the current one it lies."""
    for kind, offset in OFFSETS.items():
        if found.has(kind):
            return found.word(kind), offset
    return found.word("unit") or "year", found.int_arg("offset")


def year(found: Found) -> Made:
    """去年, 明年."""
    this = found.context.today
    span = unit_span("year", this, found.number("yearrel"))
    return settled("year", span, *(((span[0], this),) if span[0].year == this.year else ()))


def day(found: Found) -> Made:
    """Yesterday, 后天."""
    found_day = found.context.today + found.number("rel", "dayrel") * DAY
    return settled("day", (found_day, found_day))


def count_of(found: Found) -> int | None:
    count = found.number("n", "one", "a", "second", default=1)
    return count if 1 <= count <= COUNT_MAX else None


def unit_of(found: Found) -> str:
    name = found.word("unit", "geyue", "tian", "zhou", "nian", "ri", "ji", "bannian", "banyue", "fullunit")
    return found.text_arg("unit") or name


def distant(found: Found) -> Made:
    """5 days ago, in 2 weeks, 三个月前的今天; with longer units only the words or a plan settle the day."""
    count, name, context = count_of(found), unit_of(found), found.context
    if count is None:
        return None
    direction = found.int_arg("direction", -1)
    origin = next((one.start for one in found.values() if one.grain == "day"), None)
    is_settled = bool(found.args.get("exact")) or origin is not None or name in ("day", "fortnight")
    point = shift(origin or context.today, name, direction * count)
    if not is_settled and direction > 0:
        is_settled = name == "week" or has_cue("future", context.text)
    if is_settled:
        return settled("day", (point, point))
    spans: tuple[Span, ...] = ((point, point),)
    spans += (week_span(point) if name == "week" else unit_span(name, point),)
    return Value(grain="day", spans=spans, doubt="that day, or the whole unit", sure=Sure.RELATIVE)


def from_day(found: Found) -> Made:
    """Two days before Christmas 2025, a week after March 3, 2025, 国庆前三天 is a span and not for here."""
    count, name, anchor = count_of(found), unit_of(found), found.values()[0]
    if count is None or anchor.start is None or anchor.doubt or anchor.grain != "day":
        return None
    point = shift(anchor.start, name, found.int_arg("direction") * count)
    return Value(grain="day", spans=((point, point),), sure=anchor.sure, assumptions=anchor.assumptions)


def this_day(found: Found) -> Made:
    """去年今天, the same day last year: today in another unit."""
    today = found.context.today
    if found.has("samepu") and found.word("samepu") != "day":
        return None
    if found.has("yearrel"):
        point = add_months(today, 12 * found.number("yearrel"))
    elif found.has("lastunit", "last2unit"):
        name, offset = place_of(found)
        point = shift(today, name, offset)
    else:
        units = [token.held for token in found.tokens if token.kind in ("unit", "samepu")]
        if units[0] != "day" or len(units) < 2:
            return None
        point = shift(today, str(units[-1]), -1)
    return settled("day", (point, point))


def month_end_day(found: Found) -> Made:
    """EOM, end of year as a deadline."""
    name, today = found.word("eod"), found.context.today
    if name == "day":
        return None
    if name == "week":
        return Value(
            grain="day",
            spans=((week_span(today)[0] + 4 * DAY,) * 2, (week_span(today)[1],) * 2),
            doubt="last day of a week",
            sure=Sure.RELATIVE,
        )
    last = month_end(unit_span(name, today)[1])
    return settled("day", (last, last), (today, last), (None, last))


def vague(found: Found) -> Made:
    """Recently, 近期, a few days ago: no bounds, and none are invented."""
    return Value(grain="vague", doubt=found.text_arg("why") or "no bounds", sure=Sure.RELATIVE)


def business_days(_: Found) -> Made:
    """In 3 business days: a calendar of holidays would be needed."""
    return Value(grain="vague", doubt="holiday calendar", sure=Sure.RELATIVE)


def units_from_relative(found: Found) -> Made:
    """A week from tomorrow, two days after today."""
    count, name, today = count_of(found), unit_of(found), found.context.today
    if count is None:
        return None
    origin = today + found.number("rel", "dayrel", default=0) * DAY
    if found.has("wd"):
        number = found.number("wd")
        origin = today + ((number - today.weekday() - 1) % 7 + 1) * DAY
    point = shift(origin, name, found.int_arg("direction") * count)
    return settled("day", (point, point))


def vague_if_whole_word(found: Found) -> Made:
    """最近 by itself; 近 or 这 alone are parts of other words."""
    token = found.tokens[0]
    return vague(found) if token.end - token.start > 1 else None
