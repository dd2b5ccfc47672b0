"""Operations for times of day: 5 pm, 下午三点半, noon tomorrow, from 6 to 7, in 3 hours."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from processors.periods.found import Found, Made, less_sure
from processors.periods.lexicon import has_cue
from processors.periods.reading import Context, Span, Sure, Value

HOUR = 3600
DAY_SECONDS = 24 * HOUR
UNITS = {"hour": HOUR, "minute": 60, "second": 1}
COUNT_MAX = 10_000
DAYPARTS = {
    "dawn": (0, 6), "morning": (6, 12), "noonish": (11, 13), "afternoon": (12, 18), "evening": (18, 24),
    "night": (20, 24), "lunch": (12, 13), "midnight": (0, 1),
}  # fmt: skip
"""Usual hours of a part of the day: candidates only, since no bounds are agreed on."""
AM_OR_PM = "am or pm"


def clock(found: Found) -> Made:
    """五点, at 5, 下午三点半, 9点15分: a time of day; which half of the day may stay open."""
    numbers = found.numbers("n", "one")
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    minute = found.number("dian", default=0) or minute
    if found.has("pasthalf"):
        minute = found.number("pasthalf")
        hour -= minute == 45
    if not (0 <= hour <= 24 and 0 <= minute < 60):
        return None
    part = found.word("daypart", "eveningrel", "morningrel", "tonight", "lastnight")
    settled = hour > 12 or hour == 0
    if found.has("eveningrel", "tonight", "lastnight"):
        part = "evening"
    elif found.has("morningrel"):
        part = "morning"
    if part and hour <= 12:
        placed = hour_in(part, hour)
        if placed is None:
            return Value(grain="clock", mark=hour * HOUR + minute * 60, doubt="midnight: start or end of day")
        hour, settled = placed, True
    value = Value(grain="clock", mark=hour * HOUR + minute * 60, doubt="" if settled else AM_OR_PM)
    return _on(found, value) if found.values() else value


def minutes_past(found: Found) -> Made:
    """20 past 3 pm, a quarter to noon."""
    value = found.values()[0]
    minutes = found.number("pasthalf", "n", default=60)
    if not 0 < minutes < 60 or not isinstance(value.mark, int) or value.mark % HOUR:
        return None
    before_hour = HOUR if found.has("pasthalf") and minutes == 45 else 0
    return replace(value, mark=value.mark + 60 * minutes - before_hour)


def noon_clock(_: Found) -> Made:
    """Noon, 正午."""
    return Value(grain="clock", mark=12 * HOUR)


def hour_in(part: str, hour: int) -> int | None:
    """A twelve-hour clock's hour within a part of the day; None if that is disputed."""
    if part in ("dawn", "morning"):
        return 0 if hour == 12 and part == "dawn" else hour
    if part == "noonish":
        return hour if hour >= 10 else hour + 12
    if part in ("afternoon", "lunch"):
        return hour if hour == 12 else hour + 12
    if hour == 12:
        return None
    if part == "midnight" or (part == "night" and hour < 6):
        return hour if hour < 6 else None
    return hour + 12 if hour >= 5 else None


def part_of_clock(found: Found) -> Made:
    """8 in the morning, tomorrow morning at 9: a time of day with its part said apart."""
    value = next((one for one in found.values() if one.grain == "clock"), None)
    part = "evening" if found.has("tonight", "lastnight", "eveningrel") else found.word("daypart")
    part = "morning" if found.has("morningrel") else part
    if value is None or not isinstance(value.mark, int):
        return None
    hour, rest = divmod(value.mark, HOUR)
    if value.doubt == AM_OR_PM or (hour <= 12 and value.doubt == ""):
        part = {"noonish": "afternoon"}.get(part, part) if found.args.get("english") else part
        placed = hour_in(part, hour)
        if value.doubt and placed is None:
            return None
        if value.doubt:
            value = Value(grain="clock", mark=(placed or 0) * HOUR + rest)
    if found.has("tonight", "lastnight", "eveningrel", "morningrel"):
        offset = found.number("tonight", "lastnight", "eveningrel", "morningrel", default=0)
        day = found.context.today + timedelta(days=offset)
        return at_time(Value(grain="day", spans=((day, day),), sure=Sure.RELATIVE), value, found.context)
    return _on(found, value)


def _on(found: Found, value: Value) -> Value:
    day = next((one for one in found.values() if one.grain == "day"), None)
    return value if day is None else at_time(day, value, found.context)


def relative_evening(found: Found) -> Made:
    """今晚八点, 明早9点半: a day and a part of it in one word, with a time."""
    value = clock(found)
    if not isinstance(value, Value):
        return None
    day = found.context.today + timedelta(days=found.number("eveningrel", "morningrel", default=0))
    return at_time(Value(grain="day", spans=((day, day),), sure=Sure.RELATIVE), value, found.context)


def on_day(found: Found) -> Made:
    """Tomorrow at 8, 09:00 UTC on May 5: a day and a time."""
    values = found.values()
    day = next((one for one in values if one.grain == "day"), None)
    value = next((one for one in values if one.grain == "clock"), None)
    zone = UTC if found.has("utc") else None
    if value is None:
        value = named_time(found)
    if day is None or value is None or (not day.spans and day.at is None):
        return None
    return at_time(day, value, found.context, zone)


def named_time(found: Found) -> Value | None:
    """Noon, midnight, at 5."""
    if found.has("noon"):
        return Value(grain="clock", mark=12 * HOUR)
    if found.has("midnight"):
        return Value(grain="clock", mark=0, doubt="midnight: start or end of day")
    hour = found.number("n", "one", default=-1)
    if not 0 <= hour <= 24:
        return None
    return Value(grain="clock", mark=hour * HOUR, doubt="" if hour > 12 or hour == 0 else AM_OR_PM)


def at_time(day: Value, value: Value, context: Context, zone: tzinfo | None = None) -> Value:
    """The moments that a day and a time may mean."""
    zone = zone or context.now.tzinfo
    seconds = value.mark if isinstance(value.mark, int) else 0
    choices, doubt = _choices(seconds, value.doubt, context)
    place = day.at

    def moments(spans: tuple[Span, ...]) -> tuple[Span, ...]:
        found = [moment_of(span[0], choice, zone) for span in spans if span[0] is not None for choice in choices]
        return tuple((one, one) for one in found)

    return Value(
        grain="moment",
        spans=moments(day.spans),
        at=(lambda year: moments(place(year))) if place and not day.spans else None,
        doubt=day.doubt or doubt,
        sure=less_sure(day.sure, value.sure if doubt or not value.doubt else Sure.ASSUMED),
        assumptions=day.assumptions + (() if doubt or not value.doubt else ("hour: working hours",)),
    )


def _choices(seconds: int, doubt: str, context: Context) -> tuple[tuple[int, ...], str]:
    """The seconds of the day that a time may mean, and the doubt that is left."""
    if doubt == AM_OR_PM:
        later = (seconds + 12 * HOUR) % DAY_SECONDS
        if context.policy.ampm == "working_hours":
            return ((later if seconds < 8 * HOUR else seconds),), ""
        return (seconds, later), doubt
    if doubt:
        return (seconds % (12 * HOUR), DAY_SECONDS), doubt
    return (seconds,), ""


def moment_of(day: date, seconds: int, zone: tzinfo | None) -> datetime:
    """A day and a second of it as a moment; second 86,400 is the next midnight."""
    return datetime.combine(day, time(), zone) + timedelta(seconds=seconds)


def day_and_clock(found: Found) -> Made:
    """明天晚上 8:30, 2024年8月22日 07:30."""
    return part_of_clock(found) if found.has("daypart") else on_day(found)


def hour_in_daypart(found: Found) -> Made:
    """Tomorrow morning at 9, tonight at 8, at 9 in the evening."""
    value = next((one for one in found.values() if one.grain == "clock"), None) or named_time(found)
    part = "evening" if found.has("tonight", "lastnight") else found.word("daypart")
    if value is None or not isinstance(value.mark, int):
        return None
    if value.doubt == AM_OR_PM:
        part = {"noonish": "afternoon"}.get(part, part)
        hour = hour_in(part, value.mark // HOUR)
        if hour is None:
            return Value(grain="vague", doubt=AM_OR_PM, sure=Sure.RELATIVE)
        value = Value(grain="clock", mark=hour * HOUR + value.mark % HOUR)
    day = next((one for one in found.values() if one.grain == "day"), None)
    if day is None:
        today = found.context.today + timedelta(days=found.number("tonight", "lastnight", default=0))
        day = Value(grain="day", spans=((today, today),), sure=Sure.RELATIVE)
    return at_time(day, value, found.context)


def distant(found: Found) -> Made:
    """In 3 hours, 10 minutes ago, 半小时后."""
    count = found.number("n", "one", "a")
    seconds = count * UNITS[found.word("hunit")]
    if found.has("half", "ban"):
        half = UNITS[found.word("hunit")] // 2
        seconds = seconds + half if found.has("and", "ge") else half
    if not 1 <= count <= COUNT_MAX:
        return None
    if found.has("a") and found.word("hunit") != "hour" and found.int_arg("direction", -1) > 0:
        return Value(grain="vague", doubt="an idiom for soon", sure=Sure.RELATIVE)
    moment = found.context.now.replace(microsecond=0) + timedelta(seconds=found.int_arg("direction", -1) * seconds)
    return Value(grain="moment", spans=((moment, moment),), sure=Sure.RELATIVE)


def part_of_day(found: Found) -> Made:
    """Yesterday evening, 明天下午, tonight: a stretch without agreed bounds."""
    context = found.context
    part = "evening" if found.has("tonight", "lastnight", "eveningrel") else found.word("daypart")
    part = "morning" if found.has("morningrel") else part
    first, last = DAYPARTS.get(part, (0, 24))
    offset = found.number("lastnight", "eveningrel", "morningrel", "tonight", default=0)
    today = context.today + timedelta(days=offset)
    day = next((one for one in found.values() if one.grain == "day"), None)
    days = day.spans if day is not None else ((today, today),)
    zone = context.now.tzinfo
    spans = tuple(
        (moment_of(span[0], first * HOUR, zone), moment_of(span[0], last * HOUR, zone)) for span in days if span[0]
    )
    return Value(grain="vague", spans=spans, doubt="part of day", sure=Sure.RELATIVE)


def alone(value: Value, context: Context) -> Value:
    """A time without a day is today's; one that is over, in a plan, may mean tomorrow's."""
    today = Value(grain="day", spans=((context.today, context.today),), sure=Sure.RELATIVE)
    found = at_time(today, value, context)
    is_over = not found.doubt and isinstance(found.start, datetime) and found.start < context.now
    if is_over and has_cue("future", context.text):
        return Value(grain="moment", spans=found.spans, doubt="today's is over", sure=Sure.RELATIVE)
    return found
