"""Operations for windows that begin or end today: the last 3 months, the next 5 days, year to date."""

from datetime import timedelta

from processors.periods.found import Found, Made
from processors.periods.reading import Span, Sure, Value
from processors.periods.relative import count_of, settled, unit_of, week_value
from processors.periods.spans import DAY, DAYS, MONTHS, add_months, full_units, rolling, shift, unit_span


def roll(found: Found) -> Made:
    """The last 3 months, 近半年: a window that ends today."""
    count, name, context = count_of(found), unit_of(found), found.context
    if count is None:
        return None
    today = context.today
    start, end = rolling(today, name, count)
    windows: dict[str, Span] = {"incl_today": (start, end), "excl_today": (start - DAY, end - DAY)}
    whole: tuple[Span, ...] = ()
    if name not in {"day", "fortnight"}:
        whole = (full_units(today, name, count), full_units(today, name, count, sunday=True))
    if name in ("month", "quarter", "year"):
        whole += ((unit_span(name, today, 1 - count)[0], today),)
    windows["full_units"] = whole[0] if whole else windows["excl_today"]
    chosen = windows[context.policy.rolling]
    return settled(
        "span", chosen, windows["incl_today"], (start - DAY, end), windows["excl_today"], *whole,
        assumption=f"window: {context.policy.rolling}",
    )  # fmt: skip


def past_unit(found: Found) -> Made:
    """The past week, the past year: a window; the past quarter is as often the quarter before."""
    made = roll(found)
    if isinstance(made, Value) and found.word("unit") == "quarter":
        last = unit_span("quarter", found.context.today, -1)
        return Value(grain="span", spans=(*made.spans, last), doubt="window, or the quarter before", sure=Sure.RELATIVE)
    return made


def roll_half(found: Found) -> Made:
    """近半个月: 15 days; 近一年半: 18 months."""
    today = found.context.today
    count = found.number("n", default=0)
    name = found.text_arg("unit")
    if name == "day":
        days = 15
        return settled(
            "span", (today - (days - 1) * DAY, today), (today - days * DAY, today), assumption="half a month: 15 days"
        )
    start = add_months(today, -(12 * count + 6)) + DAY
    return settled(
        "span", (start, today), (start - DAY, today), (start - DAY, today - DAY), assumption="window: incl_today"
    )


def ahead_half_month(found: Found) -> Made:
    """未来半个月: 15 days."""
    today = found.context.today
    return settled(
        "span", (today + DAY, today + 15 * DAY), (today, today + 14 * DAY), assumption="half a month: 15 days"
    )


def ahead(found: Found) -> Made:
    """The next 5 days, 未来三周: a window from tomorrow on."""
    count, name, today = count_of(found), unit_of(found), found.context.today
    if count is None:
        return None
    end = shift(today, name, count)
    window = "window: from tomorrow"
    return settled("span", (today + DAY, end), (today, end - DAY), (today, end), assumption=window)


def full(found: Found) -> Made:
    """The last 3 full months, 过去两个自然周: whole calendar units before the current one."""
    count, name, context = count_of(found), unit_of(found), found.context
    if count is None or name in ("day", "fortnight"):
        return roll(found)
    if found.int_arg("direction", -1) > 0:
        if name in DAYS:
            return None
        return settled("span", (unit_span(name, context.today, 1)[0], unit_span(name, context.today, count)[1]))
    if name == "week" and not (context.policy.week_start or found.args.get("monday")):
        spans = (full_units(context.today, name, count), full_units(context.today, name, count, sunday=True))
        return Value(grain="span", spans=spans, doubt="week start", sure=Sure.RELATIVE)
    return settled("span", full_units(context.today, name, count, sunday=context.policy.week_start == "sunday"))


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
        return settled("span", (start, context.today), (start, None))
    if name == "week":
        week = week_value(context, 0, chinese=bool(found.args.get("monday")))
        spans = tuple((span[0], context.today) for span in week.spans)
        return Value(grain="span", spans=spans, doubt=week.doubt, sure=Sure.RELATIVE)
    if name not in MONTHS:
        return None
    return settled("span", (unit_span(name, context.today)[0], context.today))


def rest(found: Found) -> Made:
    """The rest of the year, 本月剩下的时间: from today to the end."""
    value, today = found.values()[0], found.context.today
    spans = tuple((today, span[1]) for span in value.spans if span[1] is not None and span[1] >= today)
    if not spans:
        return None
    others: tuple[Span, ...] = ((today + timedelta(days=1), spans[0][1]),)
    return Value(grain="span", spans=spans, doubt=value.doubt, sure=Sure.RELATIVE, others=() if value.doubt else others)


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
    return settled("span", (today, end), (today + DAY, end))
