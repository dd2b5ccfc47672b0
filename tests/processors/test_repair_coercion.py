"""Values of the wrong shape → what the schema wants, or a refusal with its code."""

import json

import pytest

from processors.repair import check, coerce_params, compile_tool, repair
from schemas.jsonvalue import Json
from schemas.segment import Param
from tests.processors.repair_rows import FERRY, MOVE, NOTE, OPEN, REPORT

DAY = {"route": "express", "departure_day": "2031-05-04"}
MENDED = [
    ("passengers", "3", 3), ("passengers", " 3 ", 3), ("passengers", 3.0, 3), ("passengers", [3], 3), ("passengers", "drei", 3),
    ("passengers", "三", 3), ("passengers", "2 + 1", 3), ("passengers", "3 passengers", 3),
    ("with_car", "yes", True), ("with_car", "Nein", False), ("with_car", "是", True), ("with_car", 1, True), ("with_car", "off", False),
    ("budget", "12,5", 12.5), ("budget", "1.234,50", 1234.5), ("budget", "12,340", 12340), ("budget", "1 234", 1234),
    ("budget", "2k", 2000), ("budget", "300 €", 300), ("budget", "€300", 300), ("budget", "250 euros", 250),
    ("wait_minutes", "2h", 120), ("wait_minutes", "90m", 90), ("wait_minutes", "1h 30m", 90), ("wait_minutes", "半", None),
    ("departure_day", "4 May 2031", "2031-05-04"), ("departure_day", "2031年5月4日", "2031-05-04"),
    ("departure_day", "May 4th, 2031", "2031-05-04"), ("departure_day", "20310504", "2031-05-04"),
    ("departure_day", "2031-5-4", "2031-05-04"), ("departure_day", "24/05/2031", "2031-05-24"),
    ("departure_day", "2031-05-04T00:00:00Z", "2031-05-04"), ("departure_day", "04.05.2031", "2031-05-04"),
    ("route", "Express", "express"), ("route", " express.", "express"), ("route", "exprss", "express"),
    ("route", "route: northern", "northern"), ("route", "`southern`", "southern"),
    ("cabins", "suite", ["suite"]), ("cabins", "inside, suite", ["inside", "suite"]), ("cabins", '["suite"]', ["suite"]),
    ("cabins", {"0": "inside", "1": "suite"}, ["inside", "suite"]), ("cabins", "Suite; Inside", ["suite", "inside"]),
    ("contact", '{"surname": "Li"}', {"surname": "Li"}), ("contact", "{'surname': 'Li'}", {"surname": "Li"}),
    ("remark", 12, "12"), ("remark", True, "true"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "written", "meant"), [row for row in MENDED if row[2] is not None], ids=str)
def test_value_is_mended(key: str, written: Json, meant: Json) -> None:
    got = check(DAY | {key: written}, FERRY)
    assert got.arguments == DAY | {key: meant}, got
    assert type(got.arguments[key]) is type(meant)
    assert [change.path.split("/")[1] for change in got.repairs] == [key] * len(got.repairs)
    assert got.repairs


REFUSED = [
    ("passengers", "2.5", "fraction_for_integer"), ("passengers", 12, "out_of_range"), ("passengers", "several", "not_a_number"),
    ("passengers", "3 to 4", "unit_incompatible"), ("passengers", "3-4", "unit_incompatible"), ("passengers", [1, 2], "many_for_one"),
    ("passengers", "Infinity", "not_a_number"), ("passengers", "<passengers>", "placeholder"),
    ("with_car", "maybe", "boolean_unclear"), ("with_car", 7, "boolean_unclear"), ("with_car", "视情况", "boolean_unclear"),
    ("budget", "3 kg", "unit_incompatible"), ("budget", "300 USD", "unit_incompatible"), ("budget", "about ten", "unit_incompatible"),
    ("wait_minutes", "3 apples", "unit_incompatible"), ("wait_minutes", "半小时左右吧", "unit_incompatible"),
    ("departure_day", "04/05/2031", "date_day_month_unclear"), ("departure_day", "next Friday", "date_unresolved"),
    ("departure_day", "2031-02-30", "date_unresolved"), ("departure_day", "下周五", "date_unresolved"),
    ("departure_day", None, "null_required"),
    ("route", "purple", "enum_no_match"), ("route", "<route>", "placeholder"), ("route", ["express", "northern"], "many_for_one"),
    ("cabins", ["suite", "..."], "elided_items"), ("remark", "{{remark}}", "placeholder"), ("remark", "YOUR_REMARK_HERE", "placeholder"),
    ("remark", "[insert remark]", "placeholder"), ("remark", "…", "placeholder"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "written", "code"), REFUSED, ids=str)
def test_value_is_refused(key: str, written: Json, code: str) -> None:
    got = check(DAY | {key: written}, FERRY)
    assert got.refusal is not None, got
    assert (got.refusal.code, got.refusal.path.split("/")[1]) == (code, key)


NAMES = [
    (FERRY, {"Route": "express", "departureDay": "2031-05-04"}, DAY),
    (FERRY, {"route": "express", "departure-day": "2031-05-04"}, DAY),
    (FERRY, {"route": "express", "departur_day": "2031-05-04"}, DAY),
    (FERRY, {'route" type="string': "express", "departure_day": "2031-05-04"}, DAY),
    (FERRY, {**DAY, "reasoning": "the user wants it"}, DAY),
    (FERRY, {**DAY, "remark": None}, DAY),
    (FERRY, {**DAY, "surname": "Li"}, DAY | {"contact": {"surname": "Li"}}),
    (
        FERRY,
        {**DAY, "contact.surname": "Li", "contact.mobile": "1"},
        DAY | {"contact": {"surname": "Li", "mobile": "1"}},
    ),
    (OPEN, {"line": "a", "source_host": 3}, {"line": "a", "source_host": 3}),
    (NOTE, {"heading": "a", "low_mark": None}, {"heading": "a", "low_mark": None}),
]


@pytest.mark.parametrize(("schema", "written", "meant"), NAMES)
def test_names_are_assigned(schema, written: dict, meant: dict) -> None:
    assert check(written, schema).arguments == meant


NOT_ASSIGNED = [
    (MOVE, {"store_a": "x", "store_b": "y"}, "ambiguous_names"),
    (REPORT, {"branch": "x", "day": "2031-05-04"}, "range_from_single_date"),
    (REPORT, {"period": {"first": "2031-05-04", "last": "2031-05-05"}}, "missing_required"),
    (FERRY, {"route": "express", "reasoning": "2031-05-04"}, "missing_required"),
    (NOTE, {"title": "a", "series": [1], "kind": "line", "y_min": 2}, "ambiguous_names"),
    (FERRY, {"Route": "express", "route": "northern", "departure_day": "2031-05-04"}, "duplicate_conflict"),
]


@pytest.mark.parametrize(("schema", "written", "code"), NOT_ASSIGNED)
def test_names_are_not_guessed(schema, written: dict, code: str) -> None:
    got = check(written, schema)
    assert got.refusal is not None, got
    assert got.refusal.code == code


def test_percent_is_a_share_only_where_one_is_wanted() -> None:
    days = {"first": "2031-05-04", "last": "2031-05-05"}
    assert check({"branch": "x", "period": days, "share": "40%"}, REPORT).arguments["share"] == 0.4
    assert check(DAY | {"budget": "40%"}, FERRY).refusal.code == "unit_incompatible"


def test_clean_arguments_come_back_as_they_are() -> None:
    got = repair(json.dumps(DAY), FERRY)
    assert (got.status, got.arguments, got.repairs, got.confidence) == ("ok", DAY, (), 1.0)


TYPES = compile_tool({
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "maybe": {"type": ["integer", "null"]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "shape": {"$ref": "#/$defs/shape"},
        "flag": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "any": {},
    },
    "$defs": {"shape": {"type": "object", "properties": {"side": {"type": "number"}, "inner": {"$ref": "#/$defs/shape"}}}},
})  # fmt: skip
PARAMS = [
    ("text", "3", "3"), ("text", " two  blanks ", " two  blanks "), ("text", "true", "true"), ("text", '{"a": 1}', '{"a": 1}'),
    ("count", "3", 3), ("maybe", "null", None), ("maybe", "7", 7), ("either", "7", 7), ("either", "seven", "seven"),
    ("flag", "true", True), ("flag", "False", False), ("names", '["a", "b"]', ["a", "b"]), ("names", "['a', 'b']", ["a", "b"]),
    ("shape", '{"side": 2, "inner": {"side": 1}}', {"side": 2, "inner": {"side": 1}}), ("shape", "{'side': 2}", {"side": 2}),
    ("any", "3", 3), ("any", "three", "three"), ("any", "[1, 2]", [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("key", "written", "meant"), PARAMS)
def test_untyped_parameter_gets_the_type_of_its_schema(key: str, written: str, meant: Json) -> None:
    got = coerce_params((Param(key=key, value=written),), TYPES)
    assert got.arguments == {key: meant}, got
    assert type(got.arguments[key]) is type(meant)


def test_without_a_schema_values_are_read_as_they_are_written() -> None:
    assert repair('{"a": 1, "b": [true, "x"]}', None).arguments == {"a": 1, "b": [True, "x"]}
    assert repair("{'a': 1, 'b': None, 'c': x}", None).arguments == {"a": 1, "b": None, "c": "x"}
    assert check({"a": {"b": 1}}, None).status == "ok"


REMINDER = compile_tool({
    "type": "object",
    "properties": {"start_time": {"type": "string", "format": "date-time"}, "at": {"type": "string", "format": "time"}},
})  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-09-24T21:30:00", "2026-09-24T21:30:00"),
        ("2026-09-24T21:30", "2026-09-24T21:30"),
        ("2026-09-24 21:30", "2026-09-24T21:30:00"),
        ("2026/9/24 7:05 UTC", "2026-09-24T07:05:00Z"),
        ("2026-09-31T21:30:00", None),
        ("2026-09-24", None),
        ("2026-09-24T25:30:00", None),
    ],
)
def test_a_moment_needs_no_offset_but_a_calendar_day(written: str, meant: str | None) -> None:
    got = check({"start_time": written}, REMINDER)
    assert (got.arguments or {}).get("start_time") == meant
    assert meant or got.refusal.code == "format_mismatch"


def test_a_clock_time_needs_no_offset() -> None:
    assert check({"at": "09:30"}, REMINDER).status == "ok"
    assert check({"at": "9 o'clock"}, REMINDER).refusal.code == "format_mismatch"


SALES = compile_tool({
    "type": "object",
    "properties": {
        "date_range": {"type": "array", "items": {"type": "string", "format": "date"}, "minItems": 2, "maxItems": 2},
        "metrics": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["date_range", "metrics"],
    "additionalProperties": False,
})  # fmt: skip


@pytest.mark.parametrize("key", ["date", "date_range", "day"])
def test_one_day_is_no_period(key: str) -> None:
    got = check({key: "2025-01-01", "metrics": "revenue"}, SALES)
    assert got.refusal.code == "range_from_single_date"
    assert got.refusal.candidate["metrics"] == ["revenue"]


RAW = [
    ('{"heading": 3.20}', {"heading": 3.2}, {"heading": "3.20"}),
    ('{"heading": "a", "file_path": "C:\\temp\\new.txt"}', {"heading": "a", "file_path": "C:\temp\new.txt"}, {"heading": "a", "file_path": "C:\\temp\\new.txt"}),
    ('{"heading": 12345678901234567890123}', {"heading": 1.2345678901234568e22}, {"heading": "12345678901234567890123"}),
    ('{"name": "keep_note", "arguments": {"heading": 7.10}}', {"heading": 7.1}, {"heading": "7.10"}),
    ('{"heading": "a", "lines": ["x"]}', {"heading": "a", "lines": ["x"]}, {"heading": "a", "lines": ["x"]}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "value", "meant"), RAW)
def test_the_raw_text_says_what_a_value_has_lost(raw: str, value: dict, meant: dict) -> None:
    assert check(value, NOTE, raw=raw).arguments == meant


def test_a_key_that_stood_twice_is_seen_in_the_raw_text() -> None:
    raw = '{"name": "keep_note", "arguments": {"heading": "a", "heading": "b"}}'
    assert check({"heading": "b"}, NOTE, raw=raw).refusal.code == "duplicate_conflict"


def test_two_objects_are_both_offered() -> None:
    got = repair('{"heading": "a"}{"heading": "b"}', NOTE)
    assert got.refusal.candidate == [{"heading": "a"}, {"heading": "b"}]


def test_an_open_schema_keeps_a_key_that_might_be_a_synonym() -> None:
    schema = compile_tool(
        {
            "type": "object",
            "properties": {"event": {"type": "string"}, "text": {"type": "string"}},
            "required": ["event"],
        }
    )
    assert check({"event": "a", "message": "b"}, schema).arguments == {"event": "a", "message": "b"}
    assert check({"event_name": "a", "message": "b"}, schema).arguments == {"event": "a", "message": "b"}


@pytest.mark.parametrize("written", [1, True])
def test_one_and_true_are_two_members_of_an_enum(written: Json) -> None:
    properties = {"mode": {"enum": [1, True, "auto"]}}
    schema = compile_tool(
        {"function": {"name": "set_mode", "parameters": {"type": "object", "properties": properties}}}
    )
    got = check({"mode": written}, schema).arguments
    assert got is not None
    assert got["mode"] is written
