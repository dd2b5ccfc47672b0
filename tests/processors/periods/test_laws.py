"""Laws of reading periods: nothing raises, offsets hold, noise around a period changes nothing, cost is linear."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.periods.answer import answer_periods
from processors.periods.read import read_periods
from processors.periods.reading import Policy, read_policy
from processors.periods.settle import settle_periods

NOW = datetime(2026, 3, 18, 10, 30, tzinfo=timezone(timedelta(hours=8)))
WORDS = [
    "last",
    "this",
    "next",
    "previous",
    "past",
    "first",
    "second",
    "third",
    "final",
    "half",
    "quarter",
    "month",
    "week",
    "year",
    "day",
    "days",
    "hours",
    "Q1",
    "H2",
    "2025",
    "2026",
    "3",
    "15",
    "31",
    "of",
    "the",
    "in",
    "on",
    "at",
    "from",
    "to",
    "until",
    "since",
    "before",
    "after",
    "between",
    "and",
    "May",
    "March",
    "Monday",
    "Friday",
    "tomorrow",
    "yesterday",
    "ago",
    "5pm",
    "10:30",
    "fiscal",
    "FY25",
    "Christmas",
    "spring",
    "end",
    "beginning",
    "every",
    "上",
    "下",
    "周",
    "月",
    "年",
    "季度",
    "今天",
    "明天",
    "去年",
    "前",
    "后",
    "至",
    "到",
    "从",
    "近",
    "三",
    "二十",
    "半",
    "上半年",
    "双十一",
    "春节",
    "假期",
    "点",
    "下午",
    ",",
    "-",
    "/",
    "(",
    ")",
    "'",
    '"',
    "“",
    "”",
    "。",
    "30",
    "2",
    "99999",
    "00",
    "T",
    "Z",
    "+08:00",
]
PERIODS = [
    ("Q1 2026", "2026-01-01", "2026-03-31"),
    ("2025年三季度", "2025-07-01", "2025-09-30"),
    ("last month", "2026-02-01", "2026-02-28"),
    ("上个月", "2026-02-01", "2026-02-28"),
    ("the last 3 months", "2025-12-19", "2026-03-18"),
    ("2025-05-01 to 2025-05-09", "2025-05-01", "2025-05-09"),
    ("昨天下午三点", "2026-03-17T15:00:00+08:00", "2026-03-17T15:00:00+08:00"),
]
NOISE = [
    "",
    "show me revenue ",
    "帮我看看",
    "please chart the gateway errors, ",
    "导出华东区的订单，",
    "hello! ",
    "（工单A8812-33）",
]
TAILS = [
    "",
    " by region",
    "的销售额",
    " for account 88123456",
    "，用4.17.21版本的报表",
    " under $87",
    "？",
    " (room 2031)",
]


@given(st.lists(st.sampled_from(WORDS), max_size=14), st.sampled_from(["", " "]))
@settings(max_examples=400, deadline=None)
def test_no_words_raise_and_spans_are_where_they_say(words: list[str], joint: str) -> None:
    text = joint.join(words)
    reading = read_periods(text, NOW)
    assert reading.is_settled == (reading.kind in ("date", "range", "datetime"))
    for item in reading.items:
        start, end = item.span
        assert text[start:end] == item.text
        if item.start and item.end and len(item.start) == len(item.end) and item.start[19:] == item.end[19:]:
            assert item.start <= item.end
    if reading.is_settled:
        assert (reading.start, reading.end) != (None, None)


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_text_raises(text: str) -> None:
    read_periods(text, NOW)
    answer_periods({"id": 1, "user": text, "now": "2026-03-18T10:30:00"})


@given(st.sampled_from(PERIODS), st.sampled_from(NOISE), st.sampled_from(TAILS))
@settings(max_examples=200, deadline=None)
def test_words_around_a_period_change_nothing(period: tuple[str, str, str], noise: str, tail: str) -> None:
    text, start, end = period
    reading = read_periods(f"{noise}{text}{tail}", NOW)
    assert (reading.start, reading.end) == (start, end)


@given(st.integers(-400, 400))
@settings(max_examples=60, deadline=None)
def test_a_week_later_relative_weeks_are_a_week_later(days: int) -> None:
    now = NOW + timedelta(days=days)
    first = read_periods("上周三到本周五", now)
    later = read_periods("上周三到本周五", now + timedelta(days=7))
    assert first.start is not None
    assert later.start is not None
    assert datetime.fromisoformat(later.start) - datetime.fromisoformat(first.start) == timedelta(days=7)


def test_wide_letters_read_like_narrow_ones() -> None:
    assert read_periods("２０２３年Ｑ３", NOW).start == read_periods("2023年Q3", NOW).start == "2023-07-01"


def test_today_is_the_date_in_the_offset_of_now() -> None:
    late = datetime(2026, 3, 18, 23, 59, tzinfo=timezone(timedelta(hours=8)))
    assert read_periods("today", late).start == "2026-03-18"
    assert read_periods("today", late.astimezone(UTC)).start == "2026-03-18"
    early = datetime(2026, 3, 18, 3, 0, tzinfo=timezone(timedelta(hours=8)))
    assert read_periods("today", early.astimezone(UTC)).start == "2026-03-17"


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "last ",
        "the last 3 months of ",
        "上",
        "年",
        "2026-",
        "1-",
        "“",
        "`",
        "( ",
        "a.",
        "every ",
        "十",
        "至",
        "Q1 ",
        "\ud83d",
        "\x00",
        "周一",
    ],
)
def test_hostile_texts_cost_time_in_line_with_their_length(piece: str) -> None:
    def cost(count: int) -> float:
        text = piece * (count // len(piece))
        times = []
        for _ in range(3):
            begin = time.process_time()
            read_periods(text, NOW)
            times.append(time.process_time() - begin)
        return min(times)

    cost(100)
    short, long = cost(2_000), cost(16_000)
    assert long < max(30 * short, 0.05)
    assert long < 2


def test_a_text_over_the_limit_is_not_read_in_part() -> None:
    assert read_periods("last month " + "x" * 20_000, NOW).kind == "unread"


@given(
    st.dictionaries(
        st.sampled_from(["start", "end", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=12),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
            max_leaves=6,
        ),
    )
)
@settings(max_examples=200, deadline=None)
def test_no_arguments_raise(arguments: dict) -> None:
    schema = {
        "properties": {"start": {"type": "string", "format": "date"}, "end": {"type": "string", "format": "date"}}
    }
    settled = settle_periods(arguments, schema, "sales in Q1 2026", NOW)
    assert settled.arguments["start"] == "2026-01-01"
    assert settled.arguments["end"] == "2026-03-31"


POLICIES = [
    ("sales last week", Policy(week_start="monday"), "2026-03-09", "2026-03-15"),
    ("sales last week", Policy(week_start="sunday"), "2026-03-08", "2026-03-14"),
    ("03/04/2026", Policy(date_order="dmy"), "2026-04-03", "2026-04-03"),
    ("03/04/2026", Policy(date_order="mdy"), "2026-03-04", "2026-03-04"),
    ("FY2025", Policy(fiscal_start_month=4), "2024-04-01", "2025-03-31"),
    ("FY2025", Policy(fiscal_start_month=4, fiscal_label="start_year"), "2025-04-01", "2026-03-31"),
    ("2025财年", Policy(fiscal_start_month=7), "2024-07-01", "2025-06-30"),
    ("sales in Q3", Policy(bare_year="latest_past"), "2025-07-01", "2025-09-30"),
    ("sales in Q3", Policy(bare_year="current"), "2026-07-01", "2026-09-30"),
    ("三月的收入", Policy(bare_year="next"), "2027-03-01", "2027-03-31"),
    ("the last 3 months", Policy(rolling="full_units"), "2025-12-01", "2026-02-28"),
    ("the last 7 days", Policy(rolling="excl_today"), "2026-03-11", "2026-03-17"),
    ("sales this month", Policy(current_unit="to_date"), "2026-03-01", "2026-03-18"),
    ("last Monday", Policy(weekday_rule="nearest"), "2026-03-16", "2026-03-16"),
    ("last Monday", Policy(weekday_rule="week"), "2026-03-09", "2026-03-09"),
    ("second week of May 2025", Policy(nth_week="days"), "2025-05-08", "2025-05-14"),
    ("tomorrow at 5", Policy(ampm="working_hours"), "2026-03-19T17:00:00+08:00", "2026-03-19T17:00:00+08:00"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "policy", "start", "end"), POLICIES)
def test_a_policy_settles_what_is_a_habit(text: str, policy: Policy, start: str, end: str) -> None:
    assert not read_periods(text, NOW).is_settled or policy.rolling != "incl_today" or policy.current_unit == "to_date"
    reading = read_periods(text, NOW, policy=policy)
    assert (reading.start, reading.end) == (start, end)


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {"week": 1},
        {"week_start": "friday"},
        {"fiscal_start_month": 13},
        {"fiscal_start_month": True},
        {"strict": 1},
        {"date_order": []},
    ],
)
def test_a_policy_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        read_policy(wrong)


@pytest.mark.parametrize(
    "text", ["last month", "in March", "Q1", "early 2025", "since 2025", "next Friday", "in 3 hours", "上个月", "周末"]
)
def test_without_now_nothing_is_invented(text: str) -> None:
    reading = read_periods(text, None)
    assert (reading.kind, reading.candidates) == ("unread", ())
    assert not any(item.readings for item in reading.items)


@pytest.mark.parametrize("text", ["March 2025", "2025年3月", "03/04/2026", "Christmas 2025", "end of 2025", "hello"])
def test_what_needs_no_now_is_read_without_one(text: str) -> None:
    assert read_periods(text, None) == read_periods(text, NOW)
