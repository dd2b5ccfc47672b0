"""Operations for stretches of hours: from 6 to 7 pm, 明天下午两点到四点, the last 24 hours."""

from datetime import datetime, timedelta

from processors.periods.clocks import AM_OR_PM, COUNT_MAX, HOUR, UNITS, at_time, hour_in, named_time
from processors.periods.found import Found, Made, less_sure
from processors.periods.lexicon import has_cue
from processors.periods.reading import Context, Sure, Value


def clock_span(found: Found) -> Made:
    """From 6pm to 7pm tomorrow, 明天下午两点到四点: the later time is in the same half of the day where it can be."""
    values = found.values()
    if not found.has("from", "between") and (found.has("and") or has_cue("move", found.context.text)):
        return None
    clocks = [one for one in values if one.grain == "clock"]
    day = next((one for one in values if one.grain == "day"), None)
    moment = next((one for one in values if one.grain == "moment"), None)
    context = found.context
    if len(clocks) < 2 and found.has("n", "one"):
        number = named_time(found)
        if number is None:
            return None
        clocks = [number, *clocks] if found.args.get("number_first") else [*clocks, number]
    if moment is not None and clocks:
        return _from_moment(moment, clocks[-1], context)
    if len(clocks) != 2:
        return None
    first, last = _settled_pair(clocks[0], clocks[1])
    base = day or Value(grain="day", spans=((context.today, context.today),), sure=Sure.RELATIVE)
    starts, ends = at_time(base, first, context), at_time(base, last, context)
    spans = tuple((a[0], b[1]) for a, b in zip(starts.spans, ends.spans, strict=False) if a[0] and b[1] and a[0] < b[1])
    doubt = starts.doubt or ends.doubt
    if not spans:
        return None
    return Value(grain="span", spans=spans, doubt=doubt, sure=less_sure(starts.sure, ends.sure))


def hours_in_daypart(found: Found) -> Made:
    """3 to 5 this afternoon, 8–10 tonight: both hours lie in the part of the day that is said."""
    part = (
        "evening"
        if found.has("tonight")
        else {"noonish": "afternoon"}.get(found.word("daypart"), found.word("daypart"))
    )
    hours = [hour_in(part, number) for number in found.numbers("n")]
    day = next((one for one in found.values() if one.grain == "day"), None)
    first, last = hours[:2]
    if (
        first is None
        or last is None
        or not 0 <= first < last <= 24
        or not all(1 <= n <= 12 for n in found.numbers("n"))
    ):
        return None
    today = found.context.today
    base = day or Value(grain="day", spans=((today, today),), sure=Sure.RELATIVE)
    start, end = (at_time(base, Value(grain="clock", mark=hour * HOUR), found.context) for hour in (first, last))
    spans = tuple((a[0], b[1]) for a, b in zip(start.spans, end.spans, strict=True))
    return Value(grain="span", spans=spans, doubt=start.doubt, sure=start.sure)


def _settled_pair(first: Value, last: Value) -> tuple[Value, Value]:
    """2 to 4pm, 下午两点到四点: one that is settled settles the other, if the order then fits."""
    a, b = first.mark, last.mark
    if not isinstance(a, int) or not isinstance(b, int):
        return first, last
    half = 12 * HOUR
    if first.doubt == AM_OR_PM and not last.doubt:
        for start in (a % half + half, a % half) if b > half else (a % half,):
            if start < b:
                return Value(grain="clock", mark=start), last
    if last.doubt == AM_OR_PM and not first.doubt:
        for end in (b % half, b % half + half):
            if end > a:
                return first, Value(grain="clock", mark=end)
    return first, last


def _from_moment(moment: Value, last: Value, context: Context) -> Made:
    start = moment.start
    if moment.doubt or not isinstance(start, datetime):
        spans = moment.spans
        return Value(grain="span", spans=spans, doubt=moment.doubt or "when", sure=moment.sure) if spans else None
    seconds = start.hour * HOUR + start.minute * 60
    _, last = _settled_pair(Value(grain="clock", mark=seconds), last)
    day = Value(grain="day", spans=((start.date(), start.date()),))
    end = at_time(day, last, context, start.tzinfo)
    if end.doubt or end.start is None or end.start <= start:
        return None
    return Value(grain="span", spans=((start, end.start),), sure=moment.sure, assumptions=moment.assumptions)


def roll(found: Found) -> Made:
    """The last 24 hours, 最近6小时: a window that ends now; the next ones begin now."""
    count = found.number("n", "one", "a")
    if not 1 <= count <= COUNT_MAX:
        return None
    unit = UNITS[found.word("hunit")]
    seconds = count * unit
    if found.has("ban", "half"):
        seconds = seconds + unit // 2 if found.has("ge") else unit // 2
    now = found.context.now.replace(microsecond=0)
    length = timedelta(seconds=seconds)
    span = (now - length, now) if found.int_arg("direction", -1) < 0 else (now, now + length)
    return Value(grain="span", spans=(span,), sure=Sure.RELATIVE)
