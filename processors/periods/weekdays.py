"""Operations for weekdays and weekends: last Friday, 下周五, Thursday of next week, this weekend."""

from datetime import date

from processors.periods.found import Found, Made, less_sure
from processors.periods.lexicon import has_cue
from processors.periods.reading import Sure, Value
from processors.periods.relative import OFFSETS, place_of, settled, week_value
from processors.periods.spans import DAY, week_span

WHICH_WEEK = "which week"
"""Why a weekday alone is not settled."""


def weekday(found: Found) -> Made:
    """Last, this, next, coming or bare Friday: settled where the habits agree, or by the policy."""
    number, context = found.number("wd", "wwd", "wdn", default=0), found.context
    today, which = context.today, found.text_arg("which")
    week = {"last": -1, "this": 0, "next": 1}.get(which, 0)
    by_week = week_span(today, week)[0] + number * DAY
    ahead_day = today + ((number - today.weekday() - 1) % 7 + 1) * DAY
    back_day = today - ((today.weekday() - number - 1) % 7 + 1) * DAY
    if which == "coming":
        return settled("day", (ahead_day, ahead_day))
    if which == "past":
        return settled("day", (back_day, back_day))
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


def _bare_weekday(found: Found, number: int, days: tuple[date, date, date]) -> Value:
    """周五, on Friday: settled while it is still ahead this week, or by what the sentence asks for."""
    by_week, ahead_day, back_day = days
    context = found.context
    chinese = found.has("wdn")
    future = has_cue("future", context.text) or has_cue("move", context.text)
    past = has_cue("past", context.text)
    if (future and not past and not chinese) or (by_week > context.today and not past and (chinese or future)):
        day = by_week if by_week > context.today else ahead_day
        return Value(
            grain="day", spans=((day, day),), sure=Sure.ASSUMED, assumptions=("weekday: the next one",), mark=number
        )
    if past and not future and not chinese:
        return Value(
            grain="day",
            spans=((back_day, back_day),),
            sure=Sure.ASSUMED,
            assumptions=("weekday: the latest one",),
            mark=number,
        )
    return Value(
        grain="day",
        spans=((ahead_day, ahead_day), (back_day, back_day)),
        doubt=WHICH_WEEK,
        sure=Sure.RELATIVE,
        mark=number,
    )


def weekday_of_week(found: Found) -> Made:
    """Thursday of next week, 下周五."""
    week = next((one for one in found.values() if one.grain == "week"), None)
    number = found.number("wd", "wwd", "wdn", default=-1)
    if number < 0:
        number = next((one.mark for one in found.values() if one.grain == "day" and isinstance(one.mark, int)), -1)
    if week is None:
        name, offset = place_of(found)
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
    """Last, this, next weekend, 上周末."""
    today, which = found.context.today, found.text_arg("which")
    if not which:
        name, place = place_of(found)
        if name != "week":
            return None
        monday = week_span(today, place)[0]
        return settled("span", (monday + 5 * DAY, monday + 6 * DAY))
    offset = {"last": -1, "next": 1, "last2": -2, "next2": 2}.get(which, 0)
    monday = week_span(today, offset)[0]
    span = (monday + 5 * DAY, monday + 6 * DAY)
    if which in ("this", "coming", "last2"):
        return settled("span", span)
    is_weekend = today.weekday() >= 5
    this = (span[0] - 7 * offset * DAY, span[1] - 7 * offset * DAY)
    if which == "bare":
        cue = has_cue("future", found.context.text)
        return (
            settled("span", this)
            if cue and not is_weekend
            else Value(
                grain="span",
                spans=(this, (this[0] - 7 * DAY, this[1] - 7 * DAY)),
                doubt="which weekend",
                sure=Sure.RELATIVE,
            )
        )
    if (which == "last") == is_weekend:
        return Value(grain="span", spans=(span, this), doubt=f"{which} weekend", sure=Sure.RELATIVE)
    return settled("span", span)


def weekday_span(found: Found) -> Made:
    """下周一到周五, 上周一到五: weekdays of one week; without a week they are bare."""
    name, offset = place_of(found)
    if found.has(*OFFSETS) and name != "week":
        return None
    numbers = found.numbers("wdn")
    last = numbers[1] if len(numbers) > 1 else found.number("n") - 1
    monday = week_span(found.context.today, offset if found.has(*OFFSETS) else 0)[0]
    if not 0 <= numbers[0] < last <= 6:
        return None
    span = (monday + numbers[0] * DAY, monday + last * DAY)
    if found.has(*OFFSETS):
        return settled("span", span)
    other = (span[0] + 7 * DAY, span[1] + 7 * DAY)
    return Value(grain="span", spans=(span, other), doubt="which week", sure=Sure.RELATIVE)


def workdays_of_week(found: Found) -> Made:
    """下周工作日: Monday to Friday, unless a holiday lies in the week."""
    name, offset = place_of(found)
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
    if not isinstance(number, int) or (last.at is None and not last.spans) or isinstance(last.mark, int):
        return None
    if last.spans:
        day = last.start
        agrees = day is not None and day.weekday() == number
        return (
            last if agrees and not last.doubt else Value(grain="day", spans=last.spans, doubt="weekday and date differ")
        )
    place, this = last.at, found.context.today.year
    if place is None:
        return None
    spans = [
        span for year in (this - 1, this, this + 1) for span in place(year) if span[0] and span[0].weekday() == number
    ]
    doubt = "" if len(spans) == 1 else "no year"
    return Value(
        grain="day", spans=tuple(spans), doubt=doubt, sure=Sure.ASSUMED, assumptions=("year: from the weekday",)
    )
