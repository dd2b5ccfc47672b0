"""Operations for open ends and what lies beside a day: since, until, by, before, after, onwards, the day after."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from processors.periods.clocks import alone
from processors.periods.found import Found, Made, less_sure
from processors.periods.lexicon import has_cue
from processors.periods.ranges import day_part, edge_as_day
from processors.periods.reading import Context, Point, Span, Sure, Value
from processors.periods.spans import DAY
from processors.periods.weekdays import WHICH_WEEK

_COUNTDOWN = re.compile(
    r"(?:how (?:many|much|long)\b[a-z ]{0,40}|count(?:ing)? ?down |(?:days|weeks|months|time) (?:left )?)\Z"
)
COUNTDOWN_CHARS = 60
_ROLLING = "window: incl_today"
"""What a window that ends today says of itself."""


def since(found: Found) -> Made:
    """Since X, 自 X 以来: from its first day to today."""
    value, context = edge_as_day(found.values()[0]), found.context
    if value.grain == "clock":
        value = alone(value, context)
    if value.grain in ("vague", "edge", "dom"):
        return None
    if value.doubt == WHICH_WEEK:
        begun = tuple(one for one in value.spans if one[0] is not None and day_part(one[0]) < context.today)
        value = replace(value, spans=begun, doubt="" if value.mark != context.today.weekday() else WHICH_WEEK)
    if not value.spans:
        return _since_yearless(value, context)
    starts = [one[0] for one in value.spans if one[0] is not None]
    spans = tuple(dict.fromkeys(_until_now(start, context) for start in starts))
    if not spans:
        return None
    others = ((spans[0][0], None),) if spans[0][1] is not None and not value.doubt else ()
    return replace(value, grain="span", spans=spans, others=others, sure=less_sure(value.sure, Sure.RELATIVE), mark="")


def _until_now(start: Point, context: Context) -> Span:
    if isinstance(start, datetime):
        now = context.now.replace(microsecond=0)
        comparable = (start.tzinfo is None) == (now.tzinfo is None)
        return (start, now if comparable and start <= now else None)
    return (start, context.today if start <= context.today else None)


def _since_yearless(value: Value, context: Context) -> Made:
    """Since March: the latest one that has begun, but a plan may mean another."""
    if value.at is None:
        return None
    for year in (context.today.year, context.today.year - 1):
        spans = value.at(year)
        start = spans[0][0] if spans else None
        if start is not None and day_part(start) <= context.today:
            made = _until_now(start, context)
            return Value(grain="span", spans=(made, (start, None)), doubt="no year", sure=Sure.RELATIVE)
    return None


def until(found: Found) -> Made:
    """Until X, through X, 截至 X: open before, up to its last day; 改到 X moves it there, a countdown ends there."""
    start = found.tokens[0].start
    is_countdown = bool(_COUNTDOWN.search(found.context.text, max(0, start - COUNTDOWN_CHARS), start))
    if is_countdown or (found.has("to") and has_cue("move", found.context.text)):
        return found.values()[0]
    return _bound(found, lambda value: tuple((None, one[1]) for one in value.spans if one[1] is not None))


def deadline(found: Found) -> Made:
    """By Friday, 月底前: in a request the last day itself; about records, everything up to it."""
    value, context = found.values()[0], found.context
    is_duty = has_cue("must", context.text) and not has_cue("past", context.text)
    if value.doubt == WHICH_WEEK and is_duty:
        value = replace(
            value, spans=value.spans[:1], doubt="", sure=Sure.ASSUMED, assumptions=("weekday: the next one",)
        )
    was_edge = value.grain == "edge"
    value = edge_as_day(value)
    if value.grain in ("clock", "vague", "edge", "dom") or (not value.spans and value.at is None):
        return None
    if value.grain == "moment":
        return value
    if not (was_edge or is_duty or has_cue("future", context.text)) or value.grain != "day" or not value.spans:
        return until(found)
    last = value.end
    if last is None or value.doubt:
        return value
    others: tuple[Span, ...] = ((None, last), (context.today, last))
    return replace(value, grain="day", others=others)


def before(found: Found) -> Made:
    """Before X, X 之前: open before, up to the day before its first day."""
    value = found.values()[0]
    if value.grain == "edge":
        return deadline(found) if found.args.get("deadline") else until(found)

    def cut(value: Value) -> tuple[Span, ...]:
        return tuple((None, _step(one[0], -1)) for one in value.spans if one[0] is not None)

    made = _bound(found, cut)
    if isinstance(made, Value) and made.spans and not made.doubt and found.args.get("inclusive_too"):
        day = value.start
        return made if day is None else replace(made, others=(*made.others, (None, day)))
    return made


def after(found: Found) -> Made:
    """After X, X 之后: from the day after its last day, open."""
    context = found.context

    def cut(value: Value) -> tuple[Span, ...]:
        return tuple((_step(one[1], 1), None) for one in value.spans if one[1] is not None)

    made = _bound(found, cut)
    if isinstance(made, Value) and made.spans and not made.doubt and made.start is not None:
        others: tuple[Span, ...] = ((made.start, context.today),) if day_part(made.start) <= context.today else ()
        if found.args.get("inclusive_too"):
            others += ((edge_as_day(found.values()[0]).start, None),)
        return replace(made, others=others)
    return made


def between_bounds(found: Found) -> Made:
    """After A and before B: both open ends closed by each other."""
    first, last = found.values()
    if first.start is None:
        first, last = last, first
    spans = [(a[0], b[1]) for a in first.spans for b in last.spans]
    are_open = all(a[1] is None for a in first.spans) and all(b[0] is None for b in last.spans)
    if first.doubt or last.doubt or not spans or not are_open:
        return None
    start, end = spans[0]
    if start is None or end is None or type(start) is not type(end) or not start <= end:
        return None
    return replace(first, spans=((start, end),), others=(), sure=less_sure(first.sure, last.sure))


def onward(found: Found) -> Made:
    """From X onwards, 从 X 起: from its first day, open; 23:58开始导数: at that time to come."""
    value, last, text = found.values()[0], found.tokens[-1], found.context.text
    is_start = text[last.start : last.end] == "开始" and text[last.end : last.end + 1] not in ("", "的")
    if (
        is_start
        and value.grain == "moment"
        and value.start is not None
        and day_part(value.start) >= found.context.today
    ):
        return value
    return _bound(found, lambda value: tuple((one[0], None) for one in value.spans if one[0] is not None))


def _bound(found: Found, cut: Callable[[Value], tuple[Span, ...]]) -> Made:
    value = edge_as_day(found.values()[0])
    if value.grain == "clock":
        value = alone(value, found.context)
    if value.grain in ("vague", "edge", "dom"):
        return None
    if not value.spans:
        place = value.at
        if place is None:
            return None
        return replace(value, grain="span", at=lambda year: cut(Value(grain="span", spans=place(year))), mark="")
    spans = tuple(dict.fromkeys(cut(value)))
    return replace(value, grain="span", spans=spans, at=None, others=(), mark="") if spans else None


def _step(point: Point | None, days: int) -> Point | None:
    if point is None or isinstance(point, datetime):
        return point
    return point + days * DAY


def from_alone(found: Found) -> Made:
    """Invoices from March 2025: of March; from a day to come: open, or that day, which the word doesn't say."""
    value, today = found.values()[0], found.context.today
    value = edge_as_day(value)
    if value.grain == "clock":
        return onward(found)
    if value.grain == "span" and value.end is not None:
        return value
    if value.start is None or value.doubt or value.grain == "moment":
        return value if value.at is not None or value.doubt else None
    if value.grain == "day" and day_part(value.start) == today:
        return onward(found)
    if day_part(value.start) <= today:
        return replace(value, assumptions=(*value.assumptions, "from: of that period"))
    return replace(
        value, grain="span", spans=((value.start, None), value.spans[0]), doubt="open, or that period alone", others=()
    )


def day_beside(found: Found) -> Made:
    """The day after Christmas Day 2025, the week before is not for here."""
    value = found.values()[0]
    if found.word("unit") != "day" or value.grain != "day":
        return None
    days = 1 if found.has("after") else -1
    spans = tuple((_step(one[0], days), _step(one[1], days)) for one in value.spans)
    return replace(value, spans=spans, others=(), mark="") if spans else None


def days_beside(found: Found) -> Made:
    """国庆前三天, 5月1日后三天: days right before or after a day, without it."""
    value, count = found.values()[0], found.number("n")
    is_days = found.word("tian") == "day" or found.context.text[found.tokens[-1].start :].startswith("一天")
    if not 1 <= count <= 400 or not is_days or not value.spans:
        return None
    if found.has("qian"):
        spans = tuple((_step(one[0], -count), _step(one[0], -1)) for one in value.spans)
    else:
        spans = tuple((_step(one[1], 1), _step(one[1], count)) for one in value.spans)
    return replace(value, grain="span", spans=spans, others=(), mark="")


def all_but(found: Found) -> Made:
    """All of 2025 except December; the last 7 days, not including today: what is left, if it is in one piece."""
    one, other = found.values()
    whole, part = (other, one) if found.tokens[0].kind == "except" else (one, other)
    if whole.doubt or len(whole.spans) != 1 or whole.start is None or whole.end is None:
        return None
    start, end = whole.spans[0]
    spans = part.spans or (part.at(whole.start.year) if part.at else ())
    if len(spans) != 1 or None in (start, end, *spans[0]) or isinstance(start, datetime):
        return None
    left, right = spans[0]
    if part.grain == "day" and left == end == found.context.today and _ROLLING in whole.assumptions:
        kept: Span = (_step(start, -1), _step(end, -1))
    elif left == start and right != end:
        kept = (_step(right, 1), end)
    elif right == end and left != start:
        kept = (start, _step(left, -1))
    else:
        return replace(whole, doubt="a hole in it")
    return replace(whole, grain="span", spans=(kept,), at=None, others=(), mark="")
