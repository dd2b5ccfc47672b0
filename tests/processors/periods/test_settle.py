"""Dates of a call, settled by the user's words."""

from datetime import datetime, timedelta, timezone

import pytest

from processors.periods.reading import Policy
from processors.periods.settle import settle_periods

NOW = datetime(2026, 3, 18, 10, 30, tzinfo=timezone(timedelta(hours=8)))

DATE = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}
PAIR = {"type": "array", "items": DATE, "minItems": 2, "maxItems": 2}


def tool(required: str = "", **properties: object) -> dict:
    return {"type": "object", "properties": properties, "required": required.split()}


RANGE = tool("start_date end_date", start_date=DATE, end_date=DATE)
ARRAY = tool("date_range", date_range=PAIR, region={"type": "string"})
NESTED = tool("filter", filter=tool("period", period=tool("from to", **{"from": DATE, "to": DATE})))
DAY = tool("date", date=DATE)
EVENT = tool("title start_time", title={"type": "string"}, start_time=MOMENT)
SLOTS = tool("start end", start=MOMENT, end=MOMENT)
QUARTER = tool("year quarter", year={"type": "integer"}, quarter={"type": "integer", "minimum": 1, "maximum": 4})
MONTH = tool("month", month={"type": "string", "pattern": r"^\d{4}-\d{2}$"})
TEXT_QUARTER = tool("quarter", quarter={"type": "string", "description": "for example 2026-Q1"})
EPOCH = tool("since_ts", since_ts={"type": "integer", "description": "Unix time in seconds"})
COMPARE = tool("period baseline", period=PAIR, baseline=PAIR)
EXCLUSIVE = tool("start end", start=DATE, end={**DATE, "description": "last day, exclusive"})
CAMEL = tool("fromDate toDate", fromDate=DATE, toDate=DATE, createdAt=MOMENT)
NULLABLE = tool("start end", start=DATE, end={"anyOf": [DATE, {"type": "null"}]})
OPEN = tool("since", since=DATE, until=DATE)

CHANGED = [
    ("missing range", RANGE, "sales in Q1 2026", {}, {"start_date": "2026-01-01", "end_date": "2026-03-31"}),
    ("wrong year", RANGE, "2026年一季度的销售额", {"start_date": "2025-01-01", "end_date": "2025-03-31"}, {"start_date": "2026-01-01", "end_date": "2026-03-31"}),
    ("exclusive end", RANGE, "sales in February 2026", {"start_date": "2026-02-01", "end_date": "2026-03-01"}, {"start_date": "2026-02-01", "end_date": "2026-02-28"}),
    ("swapped", RANGE, "上个月的账单", {"start_date": "2026-02-28", "end_date": "2026-02-01"}, {"start_date": "2026-02-01", "end_date": "2026-02-28"}),
    ("user's words", RANGE, "last month please", {"start_date": "last month", "end_date": "last month"}, {"start_date": "2026-02-01", "end_date": "2026-02-28"}),
    ("slashes", DAY, "昨天的日志", {"date": "2026/03/17"}, {"date": "2026-03-17"}),
    ("impossible day", DAY, "yesterday's log", {"date": "2026-02-30"}, {"date": "2026-03-17"}),
    ("midnight for a day", DAY, "yesterday's log", {"date": "2026-03-17T00:00:00Z"}, {"date": "2026-03-17"}),
    ("one value for two", ARRAY, "过去7天的订单", {"date_range": "2026-03-12", "region": "华东"}, {"date_range": ["2026-03-12", "2026-03-18"], "region": "华东"}),
    ("JSON in a string", ARRAY, "orders in May 2025", {"date_range": '["2025-05-01", "2025-05-31"]'}, {"date_range": ["2025-05-01", "2025-05-31"]}),
    ("other key", ARRAY, "orders in May 2025", {"date": "2025-05-01"}, {"date_range": ["2025-05-01", "2025-05-31"]}),
    ("object for a pair", ARRAY, "orders in May 2025", {"date_range": {"start": "2024-05-01", "end": "2024-05-31"}}, {"date_range": ["2025-05-01", "2025-05-31"]}),
    ("nested", NESTED, "去年全年", {}, {"filter": {"period": {"from": "2025-01-01", "to": "2025-12-31"}}}),
    ("hour", EVENT, "明天下午三点开会", {"title": "会", "start_time": "2026-03-19T03:00:00+08:00"}, {"title": "会", "start_time": "2026-03-19T15:00:00+08:00"}),
    ("same moment elsewhere", EVENT, "meet tomorrow at 3pm", {"title": "m", "start_time": "2026-03-19T07:00:00Z"}, {"title": "m", "start_time": "2026-03-19T15:00:00+08:00"}),
    ("hours", SLOTS, "logs of the last 6 hours", {}, {"start": "2026-03-18T04:30:00+08:00", "end": "2026-03-18T10:30:00+08:00"}),
    ("days as moments", SLOTS, "logs of yesterday", {}, {"start": "2026-03-17T00:00:00+08:00", "end": "2026-03-17T23:59:59+08:00"}),
    ("quarter", QUARTER, "上季度的报表", {"year": 2026, "quarter": "Q4"}, {"year": 2025, "quarter": 4}),
    ("month", MONTH, "the bill of last month", {"month": "2026/02"}, {"month": "2026-02"}),
    ("quarter as text", TEXT_QUARTER, "25年三季度", {}, {"quarter": "2025-Q3"}),
    ("two periods", COMPARE, "compare Q1 2026 with Q1 2025", {}, {"period": ["2026-01-01", "2026-03-31"], "baseline": ["2025-01-01", "2025-03-31"]}),
    ("same period", COMPARE, "对比上个月和去年同期", {"period": ["2026-01-01", "2026-01-31"]}, {"period": ["2026-02-01", "2026-02-28"], "baseline": ["2025-02-01", "2025-02-28"]}),
    ("schema's end is exclusive", EXCLUSIVE, "sales in May 2025", {}, {"start": "2025-05-01", "end": "2025-06-01"}),
    ("only the pair takes a range", CAMEL, "sales in May 2025", {}, {"fromDate": "2025-05-01", "toDate": "2025-05-31"}),
    ("nullable", NULLABLE, "sales in May 2025", {"start": "2025-05-01", "end": None}, {"start": "2025-05-01", "end": "2025-05-31"}),
    ("a plan's next occurrence", DAY, "book a table on May 5", {"date": "2025-05-05"}, {"date": "2026-05-05"}),
]  # fmt: skip

KEPT = [
    ("right already", RANGE, "sales in Q1 2026", {"start_date": "2026-01-01", "end_date": "2026-03-31"}),
    ("another defensible window", RANGE, "the last 3 months", {"start_date": "2025-12-01", "end_date": "2026-02-28"}),
    ("current month to date", RANGE, "本月的销售额", {"start_date": "2026-03-01", "end_date": "2026-03-18"}),
    ("week start unknown", RANGE, "sales last week", {"start_date": "2026-03-08", "end_date": "2026-03-14"}),
    ("no year", RANGE, "三季度的销售额", {"start_date": "2020-07-01", "end_date": "2020-09-30"}),
    ("open end into a closed pair", RANGE, "everything before May 5, 2025", {"start_date": "2025-01-01", "end_date": "2025-01-31"}),
    ("a period for one day", DAY, "sales in Q1 2026", {"date": "2026-01-15"}),
    ("a day for a moment", EVENT, "meet tomorrow", {"title": "m", "start_time": "2026-03-19T09:00:00+08:00"}),
    ("two periods, one place", RANGE, "compare yesterday and today", {"start_date": "2026-03-01", "end_date": "2026-03-02"}),
    ("no period", RANGE, "hello there", {"start_date": "2026-03-01", "end_date": "2026-03-02"}),
    ("no place", tool("name", name={"type": "string"}), "sales in Q1 2026", {"name": "x"}),
    ("a birthday is no period", tool("", date_of_birth=DATE, note={"type": "string"}), "sales in Q1 2026", {"note": "x"}),
    ("unread words", RANGE, "the fortnight after next year's audit", {"start_date": "2026-03-01", "end_date": "2026-03-02"}),
    ("quarter right as numbers", QUARTER, "Q4 2025", {"year": 2025, "quarter": 4}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "user", "before", "after"), [row[1:] for row in CHANGED], ids=[row[0] for row in CHANGED]
)
def test_words_that_settle_a_date_change_it(schema: dict, user: str, before: dict, after: dict) -> None:
    settled = settle_periods(before, schema, user, NOW)
    assert settled.arguments == after
    assert settled.repairs
    assert settled.refusal is None
    assert 0.9 <= settled.confidence < 1
    assert len(settled.records) == len(settled.repairs)
    for record in settled.records:
        start, end = record.span
        assert user[start:end] == record.text
        assert record.rules
        assert record.now == NOW.isoformat()


@pytest.mark.parametrize(("schema", "user", "before"), [row[1:] for row in KEPT], ids=[row[0] for row in KEPT])
def test_words_that_settle_nothing_change_nothing(schema: dict, user: str, before: dict) -> None:
    settled = settle_periods(before, schema, user, NOW)
    assert settled.arguments == before
    assert not settled.repairs
    assert settled.confidence == 1.0


@pytest.mark.parametrize(
    ("schema", "user", "before", "after"), [row[1:] for row in CHANGED], ids=[row[0] for row in CHANGED]
)
def test_settling_twice_is_settling_once(schema: dict, user: str, before: dict, after: dict) -> None:
    once = settle_periods(before, schema, user, NOW)
    assert not settle_periods(once.arguments, schema, user, NOW).repairs


def test_arguments_that_were_given_stay_as_they_were() -> None:
    before = {"filter": {"period": {"from": "2020-01-01"}}}
    settle_periods(before, NESTED, "去年全年", NOW)
    assert before == {"filter": {"period": {"from": "2020-01-01"}}}


def test_a_missing_date_with_unclear_words_asks_for_it() -> None:
    settled = settle_periods({}, RANGE, "sales last week", NOW)
    assert settled.refusal is not None
    assert settled.refusal.code == "period_unclear"
    assert settled.refusal.path == "/start_date"
    assert ["2026-03-09", "2026-03-15"] in settled.refusal.candidate
    assert settle_periods({}, RANGE, "sales last week", NOW, Policy(week_start="monday")).refusal is None


def test_a_strict_host_keeps_its_value_over_an_assumption() -> None:
    assert not settle_periods({"date": "2025-03-20"}, DAY, "安排周五的评审会", NOW, Policy(strict=True)).repairs
    assert settle_periods({}, DAY, "安排周五的评审会", NOW, Policy(strict=True)).arguments == {"date": "2026-03-20"}


def test_without_now_only_full_dates_settle() -> None:
    assert settle_periods({}, RANGE, "sales in Q1 2026", None).arguments == {
        "start_date": "2026-01-01",
        "end_date": "2026-03-31",
    }
    assert not settle_periods({}, RANGE, "sales last month", None).repairs


def test_a_tool_in_any_wrapping_is_read() -> None:
    for wrapped in (
        {"type": "function", "function": {"name": "f", "parameters": DAY}},
        {"name": "f", "input_schema": DAY},
        DAY,
    ):
        assert settle_periods({}, wrapped, "yesterday", NOW).arguments == {"date": "2026-03-17"}


def test_an_epoch_number_is_written_for_a_moment() -> None:
    assert settle_periods({}, EPOCH, "errors at 2026-03-17T22:00:00Z", NOW).arguments == {"since_ts": 1773784800}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": 7},
        {"properties": {"date": None}},
        {"properties": {"d": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/x"}}},
        {"function": []},
    ],
)
def test_a_broken_schema_changes_nothing(schema: dict) -> None:
    assert settle_periods({"date": "x"}, schema, "yesterday", NOW).arguments == {"date": "x"}
