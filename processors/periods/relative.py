"""Operations for periods that are said from `now`: last month, the past 3 weeks, 5 days ago, next Friday, year to date."""

from datetime import timedelta

from processors.periods.found import Found, Made, less_sure
from processors.periods.lexicon import has_cue
from processors.periods.reading import Context, Span, Sure, Value
from processors.periods.spans import (
    DAY,
    DAYS,
    add_months,
    full_units,
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


def _settled(grain: str, span: Span, *others: Span, assumption: str = "") -> Value:
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
    return _settled("week", span, *(((span[0], context.today),) if offset == 0 else ()))


def unit(found: Found) -> Made:
    """Last month, this quarter, 上上周: a calendar unit by its place from the current one."""
    context = found.context
    name, offset = _place(found)
    if name == "week":
        return week_value(context, offset, chinese="offset" not in found.args)
    if name == "day":
        day = context.today + offset * DAY
        return _settled("day", (day, day))
    if name == "fortnight":
        return roll(found) if offset == -1 else None
    span = unit_span(name, context.today, offset)
    if name == "decade":
        window = rolling(context.today, "decade", 1)
        return Value(grain="span", spans=(window, span), doubt="last decade", sure=Sure.RELATIVE)
    if offset == 0:
        to_date = (span[0], context.today)
        if context.policy.current_unit == "to_date":
            return _settled(name, to_date, span, assumption="a current period ends today")
        return _settled(name, span, to_date)
    return _settled(name, span)


def _place(found: Found) -> tuple[str, int]:
    """The unit and how far from the current one it lies."""
    for kind, offset in OFFSETS.items():
        if found.has(kind):
            return found.word(kind), offset
    return found.word("unit") or "year", found.int_arg("offset")


def year(found: Found) -> Made:
    """去年, 明年."""
    this = found.context.today
    span = unit_span("year", this, found.number("yearrel"))
    return _settled("year", span, *(((span[0], this),) if span[0].year == this.year else ()))


def day(found: Found) -> Made:
    """Yesterday, 后天."""
    found_day = found.context.today + found.number("rel", "dayrel") * DAY
    return _settled("day", (found_day, found_day))


def _count(found: Found) -> int | None:
    count = found.number("n", "one", "a", "second", default=1)
    return count if 1 <= count <= COUNT_MAX else None


def _unit_of(found: Found) -> str:
    name = found.word("unit", "geyue", "tian", "zhou", "nian", "ri", "ji", "bannian", "banyue", "yue")
    return found.text_arg("unit") or name


def roll(found: Found) -> Made:
    """The last 3 months, 近半年: a window that ends today."""
    count, name, context = _count(found), _unit_of(found), found.context
    if count is None:
        return None
    today = context.today
    start, end = rolling(today, name, count)
    windows = {"incl_today": (start, end), "excl_today": (start - DAY, end - DAY)}
    full: tuple[Span, ...] = ()
    if name != "day" and name != "fortnight":
        full = (full_units(today, name, count), full_units(today, name, count, sunday=True))
    if name in ("month", "quarter", "year"):
        full += ((unit_span(name, today, 1 - count)[0], today),)
    windows["full_units"] = full[0] if full else windows["excl_today"]
    chosen = windows[context.policy.rolling]
    return _settled(
        "span", chosen, windows["incl_today"], (start - DAY, end), windows["excl_today"], *full,
        assumption=f"window: {context.policy.rolling}",
    )  # fmt: skip


def roll_half(found: Found) -> Made:
    """近半个月: 15 days; 近一年半: 18 months."""
    today = found.context.today
    count = found.number("n", default=0)
    name = found.text_arg("unit")
    if name == "day":
        days = 15
        return _settled("span", (today - (days - 1) * DAY, today), (today - days * DAY, today), assumption="half a month: 15 days")
    start = add_months(today, -(12 * count + 6)) + DAY
    return _settled("span", (start, today), (start - DAY, today), (start - DAY, today - DAY), assumption="window: incl_today")


def ahead(found: Found) -> Made:
    """The next 5 days, 未来三周: a window from tomorrow on."""
    count, name, today = _count(found), _unit_of(found), found.context.today
    if count is None:
        return None
    end = shift(today, name, count)
    window = "window: from tomorrow"
    return _settled("span", (today + DAY, end), (today, end - DAY), (today, end), assumption=window)


def full(found: Found) -> Made:
    """The last 3 full months, 过去两个自然周: whole calendar units before the current one."""
    count, name, context = _count(found), _unit_of(found), found.context
    if count is None or name in ("day", "fortnight"):
        return roll(found)
    if found.int_arg("direction", -1) > 0:
        if name in DAYS:
            return None
        return _settled("span", (unit_span(name, context.today, 1)[0], unit_span(name, context.today, count)[1]))
    if name == "week" and not (context.policy.week_start or found.args.get("monday")):
        spans = (full_units(context.today, name, count), full_units(context.today, name, count, sunday=True))
        return Value(grain="span", spans=spans, doubt="week start", sure=Sure.RELATIVE)
    return _settled("span", full_units(context.today, name, count, sunday=context.policy.week_start == "sunday"))


def distant(found: Found) -> Made:
    """5 days ago, in 2 weeks, 三个月前的今天; with longer units only the words or a plan settle the day."""
    count, name, context = _count(found), _unit_of(found), found.context
    if count is None:
        return None
    direction = found.int_arg("direction", -1)
    origin = next((one.start for one in found.values() if one.grain == "day"), None)
    settled = bool(found.args.get("exact")) or origin is not None or name in ("day", "fortnight")
    point = shift(origin or context.today, name, direction * count)
    if not settled and direction > 0:
        settled = name == "week" or has_cue("future", context.text)
    if settled:
        return _settled("day", (point, point))
    spans: tuple[Span, ...] = ((point, point),)
    spans += (week_span(point) if name == "week" else unit_span(name, point),)
    return Value(grain="day", spans=spans, doubt="that day, or the whole unit", sure=Sure.RELATIVE)


def from_day(found: Found) -> Made:
    """Two days before Christmas 2025, a week after March 3, 2025, 国庆前三天 is a span and not for here."""
    count, name, anchor = _count(found), _unit_of(found), found.values()[0]
    if count is None or anchor.start is None or anchor.doubt or anchor.grain not in ("day",):
        return None
    point = shift(anchor.start, name, found.int_arg("direction") * count)
    return Value(grain="day", spans=((point, point),), sure=anchor.sure, assumptions=anchor.assumptions)


def weekday(found: Found) -> Made:
    """Last, this, next, coming or bare Friday: settled where the habits agree, or by the policy."""
    number, context = found.number("wd", "wwd", "wdn", default=0), found.context
    today, which = context.today, found.text_arg("which")
    week = {"last": -1, "this": 0, "next": 1}.get(which, 0)
    by_week = week_span(today, week)[0] + number * DAY
    ahead_day = today + ((number - today.weekday() - 1) % 7 + 1) * DAY
    back_day = today - ((today.weekday() - number - 1) % 7 + 1) * DAY
    if which == "coming":
        return _settled("day", (ahead_day, ahead_day))
    if which == "past":
        return _settled("day", (back_day, back_day))
    if which == "this":
        nearest = by_week if by_week >= today else None
        candidates = (by_week,) if nearest else (ahead_day, back_day)
    elif which == "bare":
        return _bare_weekday(found, number, (by_week, ahead_day, back_day))
    else:
        nearest = back_day if which == "last" else ahead_day
        rule = context.policy.weekday_rule
        candidates = (nearest,) if rule == "nearest" else (by_week,) if rule == "week" else (nearest, by_week)
    days = tuple(dict.fromkeys(candidates))
    spans = tuple((one, one) for one in days)
    return Value(grain="day", spans=spans, doubt="" if len(days) == 1 else f"{which} weekday", sure=Sure.RELATIVE)


def _bare_weekday(found: Found, number: int, days: tuple) -> Value:  # type: ignore[type-arg]
    """周五, on Friday: settled while it is still ahead this week, or by what the sentence asks for."""
    by_week, ahead_day, back_day = days
    context = found.context
    chinese = found.has("wdn")
    future, past = has_cue("future", context.text), has_cue("past", context.text)
    if (future and not past and not chinese) or (by_week > context.today and not past and (chinese or future)):
        day = by_week if by_week > context.today else ahead_day
        return Value(grain="day", spans=((day, day),), sure=Sure.ASSUMED, assumptions=("weekday: the next one",), mark=number)
    if past and not future and not chinese:
        return Value(grain="day", spans=((back_day, back_day),), sure=Sure.ASSUMED, assumptions=("weekday: the latest one",), mark=number)
    return Value(
        grain="day", spans=((ahead_day, ahead_day), (back_day, back_day)), doubt="which week", sure=Sure.RELATIVE, mark=number
    )


def weekday_of_week(found: Found) -> Made:
    """Thursday of next week, 下周五."""
    week = next((one for one in found.values() if one.grain == "week"), None)
    number = found.number("wd", "wwd", "wdn", default=-1)
    if number < 0:
        number = next((one.mark for one in found.values() if one.grain == "day" and isinstance(one.mark, int)), -1)
    if week is None:
        name, offset = _place(found)
        week = week_value(found.context, offset, chinese=True) if name == "week" else None
    if week is None or number < 0:
        return None
    days = tuple(
        dict.fromkeys(span[0] + ((number - span[0].weekday()) % 7) * DAY for span in week.spans if span[0] is not None)
    )
    return Value(
        grain="day",
        spans=tuple((one, one) for one in days),
        doubt="" if len(days) == 1 else "week start",
        sure=less_sure(week.sure, Sure.RELATIVE) if week.sure != Sure.LITERAL else week.sure,
    )


def weekend(found: Found) -> Made:
    """This, last, next weekend, 上周末."""
    today, which = found.context.today, found.text_arg("which")
    if not which:
        name, place = _place(found)
        if name != "week":
            return None
        monday = week_span(today, place)[0]
        return _settled("span", (monday + 5 * DAY, monday + 6 * DAY))
    offset = {"last": -1, "next": 1, "last2": -2, "next2": 2}.get(which, 0)
    monday = week_span(today, offset)[0]
    span = (monday + 5 * DAY, monday + 6 * DAY)
    if which in ("this", "coming", "last2"):
        return _settled("span", span)
    is_weekend = today.weekday() >= 5
    this = (span[0] - 7 * offset * DAY, span[1] - 7 * offset * DAY)
    if which == "bare":
        cue = has_cue("future", found.context.text)
        return _settled("span", this) if cue and not is_weekend else Value(grain="span", spans=(this, (this[0] - 7 * DAY, this[1] - 7 * DAY)), doubt="which weekend", sure=Sure.RELATIVE)
    if (which == "last") == is_weekend:
        return Value(grain="span", spans=(span, this), doubt=f"{which} weekend", sure=Sure.RELATIVE)
    return _settled("span", span)


def to_date(found: Found) -> Made:
    """Year to date, so far this quarter, 年初至今, 本月以来."""
    context = found.context
    name = found.word("ytd", "unit") or found.text_arg("unit")
    values = found.values()
    if values:
        start = values[0].start
        if start is None or start > context.today or values[0].grain == "day":
            return None
        if values[0].doubt:
            spans = tuple((span[0], context.today) for span in values[0].spans)
            return Value(grain="span", spans=spans, doubt=values[0].doubt, sure=Sure.RELATIVE)
        return _settled("span", (start, context.today), (start, None))
    if name == "week":
        week = week_value(context, 0, chinese=bool(found.args.get("monday")))
        spans = tuple((span[0], context.today) for span in week.spans)
        return Value(grain="span", spans=spans, doubt=week.doubt, sure=Sure.RELATIVE)
    return _settled("span", (unit_span(name, context.today)[0], context.today))


def rest(found: Found) -> Made:
    """The rest of the year, 本月剩下的时间: from today to the end."""
    value, today = found.values()[0], found.context.today
    spans = tuple((today, span[1]) for span in value.spans if span[1] is not None and span[1] >= today)
    if not spans:
        return None
    others: tuple[Span, ...] = ((today + timedelta(days=1), spans[0][1]),)
    return Value(grain="span", spans=spans, doubt=value.doubt, sure=Sure.RELATIVE, others=() if value.doubt else others)


def this_day(found: Found) -> Made:
    """去年今天, this day last year: today in another unit."""
    today = found.context.today
    if found.has("yearrel"):
        point = add_months(today, 12 * found.number("yearrel"))
    elif found.has("lastunit", "last2unit"):
        name, offset = _place(found)
        point = shift(today, name, offset)
    else:
        units = [token.held for token in found.tokens if token.kind in ("unit", "samepu")]
        if units[0] != "day" or len(units) < 2:
            return None
        point = shift(today, str(units[-1]), -1)
    return _settled("day", (point, point))


def month_end_day(found: Found) -> Made:
    """EOM, end of year as a deadline."""
    name, today = found.word("eod"), found.context.today
    if name == "day":
        return None
    if name == "week":
        return Value(grain="day", spans=((week_span(today)[0] + 4 * DAY,) * 2, (week_span(today)[1],) * 2), doubt="last day of a week", sure=Sure.RELATIVE)
    last = month_end(unit_span(name, today)[1])
    return _settled("day", (last, last), (today, last), (None, last))


def vague(found: Found) -> Made:
    """Recently, 近期, a few days ago: no bounds, and none are invented."""
    return Value(grain="vague", doubt=found.text_arg("why") or "no bounds", sure=Sure.RELATIVE)


def business_days(found: Found) -> Made:
    """In 3 business days: a calendar of holidays would be needed."""
    return Value(grain="vague", doubt="holiday calendar", sure=Sure.RELATIVE)


def units_from_relative(found: Found) -> Made:
    """A week from tomorrow, two days after today."""
    count, name, today = _count(found), _unit_of(found), found.context.today
    if count is None:
        return None
    origin = today + found.number("rel", "dayrel", default=0) * DAY
    if found.has("wd"):
        number = found.number("wd")
        origin = today + ((number - today.weekday() - 1) % 7 + 1) * DAY
    point = shift(origin, name, found.int_arg("direction") * count)
    return _settled("day", (point, point))


def weekday_span(found: Found) -> Made:
    """下周一到周五, 上周一到五: weekdays of one week; without a week they are bare."""
    name, offset = _place(found)
    if found.has(*OFFSETS) and name != "week":
        return None
    numbers = found.numbers("wdn")
    last = numbers[1] if len(numbers) > 1 else found.number("n") - 1
    monday = week_span(found.context.today, offset if found.has(*OFFSETS) else 0)[0]
    if not 0 <= numbers[0] < last <= 6:
        return None
    span = (monday + numbers[0] * DAY, monday + last * DAY)
    if found.has(*OFFSETS):
        return _settled("span", span)
    other = (span[0] + 7 * DAY, span[1] + 7 * DAY)
    return Value(grain="span", spans=(span, other), doubt="which week", sure=Sure.RELATIVE)


def workdays_of_week(found: Found) -> Made:
    """下周工作日: Monday to Friday, unless a holiday lies in the week."""
    name, offset = _place(found)
    if name != "week":
        return None
    monday = week_span(found.context.today, offset)[0]
    return Value(grain="span", spans=((monday, monday + 4 * DAY),), doubt="holiday calendar", sure=Sure.RELATIVE)


def weekday_and_date(found: Found) -> Made:
    """Friday, March 20, 2026; 3月20日（周五）: both must agree; without a year the weekday may settle it."""
    first, last = found.values()
    if not isinstance(first.mark, int) or first.grain != "day":
        first, last = last, first
    number = first.mark
    if not isinstance(number, int) or last.at is None and not last.spans or isinstance(last.mark, int):
        return None
    if last.spans:
        day = last.start
        agrees = day is not None and day.weekday() == number
        return last if agrees and not last.doubt else Value(grain="day", spans=last.spans, doubt="weekday and date differ")
    place, this = last.at, found.context.today.year
    if place is None:
        return None
    spans = [
        span for year in (this - 1, this, this + 1) for span in place(year) if span[0] and span[0].weekday() == number
    ]
    doubt = "" if len(spans) == 1 else "no year"
    return Value(grain="day", spans=tuple(spans), doubt=doubt, sure=Sure.ASSUMED, assumptions=("year: from the weekday",))


def rest_of_unit(found: Found) -> Made:
    """The rest of the year."""
    name, today = found.word("unit"), found.context.today
    if name == "week":
        value = week_value(found.context, 0, chinese=False)
        spans = tuple((today, span[1]) for span in value.spans)
        return Value(grain="span", spans=spans, doubt=value.doubt, sure=Sure.RELATIVE)
    if name not in ("month", "quarter", "year"):
        return None
    end = unit_span(name, today)[1]
    return _settled("span", (today, end), (today + DAY, end))


def vague_if_whole_word(found: Found) -> Made:
    """最近 by itself; 近 or 这 alone are parts of other words."""
    token = found.tokens[0]
    return vague(found) if token.end - token.start > 1 else None


def season_if_said(found: Found) -> Made:
    """2025年夏天, 暑假; a single 春 is mostly part of another word."""
    token = found.tokens[-1]
    if len(found.tokens) == 1 and token.end - token.start < 2:
        return None
    return Value(grain="vague", doubt="season: hemisphere and definition", sure=Sure.RELATIVE)
