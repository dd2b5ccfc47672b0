"""Laws of the repair: idempotent, valid in is same out, a cut never changes what is accepted, nothing raises, linear."""

import html
import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.damage import rows
from processors.repair import Repaired, SchemaError, ToolSchema, check, compile_tool, repair
from processors.repair.placeholder import is_placeholder
from schemas.jsonvalue import Json
from tests.processors.repair_rows import FERRY, NOTE, OPEN

PIECES = ['"', "'", '", "', '": "', '"}', "}", "{", "[", "]", ":", ",", ", ", "\\", "\\n", "\n", "//", "/*", "#", "“", "”", "...x", "<b>", "`",
          "```", "route", '"route": "northern"', "heading", "null", "true", "12", "3.5", "a", "b ", "北京", "，", "：", "😀", "\ud83d", "\x00", "</s>"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
DAYS = st.dates().map(lambda day: day.isoformat())


def optional(**fields: st.SearchStrategy) -> st.SearchStrategy:
    return st.fixed_dictionaries({}, optional=fields)


FERRIES = st.tuples(
    st.fixed_dictionaries({"route": st.sampled_from(["northern", "southern", "express"]), "departure_day": DAYS}),
    optional(
        passengers=st.integers(1, 9), with_car=st.booleans(), remark=TEXTS, budget=st.floats(0, 1e9),
        cabins=st.lists(st.sampled_from(["inside", "outside", "suite"]), max_size=3),
        contact=st.fixed_dictionaries({"surname": TEXTS}, optional={"mobile": TEXTS}), wait_minutes=st.integers(0, 600),
    ),
).map(lambda both: both[0] | both[1])  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NOTES = st.tuples(
    st.fixed_dictionaries({"heading": TEXTS}),
    optional(lines=st.lists(TEXTS, max_size=3), weights=st.lists(st.integers(-5, 5) | st.floats(-1e6, 1e6), max_size=3),
             low_mark=st.none() | st.floats(-100, 100), extra=st.dictionaries(TEXTS, VALUES, max_size=3)),
).map(lambda both: both[0] | both[1])  # fmt: skip
CALLS = st.one_of(st.tuples(st.just(FERRY), FERRIES), st.tuples(st.just(NOTE), NOTES))


def has_placeholder(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(has_placeholder, value.values()))
    if isinstance(value, list):
        return any(map(has_placeholder, value))
    return isinstance(value, str) and (is_placeholder(value, NOTE.root) or value.strip(" .…") == "")


def writable(value: Json) -> bool:
    """Lone surrogates can't be written as UTF-8, so they come back as U+FFFD; all else comes back as it was."""
    return "\\ud83d" not in json.dumps(value).replace("\\ud83d\\ude00", "")


@settings(max_examples=300, deadline=None)
@given(CALLS, st.booleans(), st.sampled_from([None, 1]))
def test_valid_in_is_same_out(call: tuple[ToolSchema, dict], ascii_only: bool, indent: int | None) -> None:
    schema, arguments = call
    if has_placeholder(arguments) or not writable(arguments):
        return
    got = repair(json.dumps(arguments, ensure_ascii=ascii_only, indent=indent), schema)
    assert (got.status, got.arguments, got.repairs, got.confidence) == ("ok", arguments, (), 1.0)
    assert check(arguments, schema).arguments == arguments


def is_whole_or_less(got: Json, whole: Json, spec: dict) -> bool:
    """Equal, but for optional parameters that the schema names and the text had not begun."""
    if not isinstance(got, dict) or not isinstance(whole, dict) or not spec.get("properties"):
        return type(got) is type(whole) and got == whole
    left_out = whole.keys() - got.keys()
    is_optional = left_out <= spec["properties"].keys() - set(spec.get("required", ()))
    return is_optional and all(
        key in whole and is_whole_or_less(got[key], whole[key], spec["properties"].get(key, {})) for key in got
    )


@settings(max_examples=150, deadline=None)
@given(CALLS, st.booleans(), st.data())
def test_a_cut_never_changes_what_is_accepted(
    call: tuple[ToolSchema, dict], ascii_only: bool, data: st.DataObject
) -> None:
    schema, arguments = call
    if not writable(arguments):
        return
    raw = json.dumps(arguments, ensure_ascii=ascii_only).encode()
    for at in data.draw(st.lists(st.integers(1, len(raw) - 1), min_size=5, max_size=25)):
        got = repair(raw[:at].decode("utf-8", "replace"), schema)
        if got.arguments is not None:
            assert is_whole_or_less(got.arguments, arguments, schema.parameters), raw[:at]


DAMAGED = rows(11, 800)
SCHEMAS = {row["tool"]["function"]["name"]: compile_tool(row["tool"]) for row in DAMAGED}


def answer(row: dict) -> Repaired:
    return repair(row["raw"], SCHEMAS[row["tool"]["function"]["name"]])


def test_damaged_calls_come_back_right_or_are_refused_for_the_right_reason() -> None:
    right = wrong = reasons = refusals = 0
    for row in DAMAGED:
        got = answer(row)
        if row["expect"] is None:
            refusals += 1
            right += got.refusal is not None
            wrong += got.refusal is None
            reasons += got.refusal is not None and got.refusal.code == row["why"]
        else:
            right += got.arguments == row["expect"]
            wrong += got.refusal is None and got.arguments != row["expect"]
    assert right >= 0.96 * len(DAMAGED)
    assert wrong <= 0.007 * len(DAMAGED)
    assert reasons >= 0.95 * refusals


def test_repair_of_repaired_changes_nothing() -> None:
    for row in DAMAGED:
        got = answer(row)
        if got.arguments is not None:
            again = repair(json.dumps(got.arguments, ensure_ascii=False), SCHEMAS[row["tool"]["function"]["name"]])
            assert (again.status, again.arguments) == ("ok", got.arguments), row["raw"]


def test_each_value_stands_in_the_text_or_a_repair_says_why_not() -> None:
    whole = {"unescaped", "double_encoded", "decoded_nested", "quotes_undoubled", "backslash_kept", "backslash_dropped"}
    for row in DAMAGED:
        got = answer(row)
        changed = {one.path for one in got.repairs}
        codes = {one.code for one in got.repairs}
        for path, value in leaves(got.arguments or {}, ""):
            said = str(value).lower() if isinstance(value, bool) or value is None else str(value)
            written = {
                said,
                json.dumps(said)[1:-1],
                json.dumps(said, ensure_ascii=False)[1:-1],
                repr(said)[1:-1],
                said.title(),
            }
            is_there = any(form in text for form in written for text in (row["raw"], html.unescape(row["raw"])))
            assert is_there or codes & whole or any(path.startswith(one) for one in changed if one), (row["raw"], path)


def leaves(value: Json, path: str) -> list[tuple[str, Json]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, f"{path}/{key}")]
    if isinstance(value, list):
        return [leaf for place, inner in enumerate(value) for leaf in leaves(inner, f"{path}/{place}")]
    return [(path, value)]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([*PIECES, "(", ")", "f(", "<a ", "<x>", "=", "--x ", "\ud800", "\ufeff", "%", "9" * 30]),
        max_size=30,
    ).map("".join)
)
def test_nothing_raises_on_odd_text(raw: str) -> None:
    for schema in (FERRY, NOTE, OPEN, None):
        got = repair(raw, schema)
        assert (got.arguments is None) == (got.refusal is not None)
        assert got.refusal is None or got.refusal.message
        json.dumps(got.arguments).encode()


def test_nothing_raises_on_damaged_damage() -> None:
    rng = random.Random(5)
    for row in DAMAGED:
        text = list(row["raw"][:300])
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randint(0, 3)] = rng.choice(PIECES)
        got = repair("".join(text), SCHEMAS[row["tool"]["function"]["name"]])
        assert (got.arguments is None) == (got.refusal is not None)


HEAD = '{"heading": '
LONG = {
    "quotes": (HEAD + '"', '"'), "quote and comma": (HEAD + '"', '", '), "quote, comma, key": (HEAD + '"', '", "x'),
    "braces": ("", "{"), "brackets": (HEAD, "["), "objects": ("", '{"a":'), "closers": (HEAD + '"a', "}"), "closing quotes": (HEAD + '"', '"}'),
    "backslashes": (HEAD + '"', "\\"), "escaped quotes": (HEAD + '"', '\\"'), "blanks": (HEAD, " "), "quotes and blanks": (HEAD + '"', '"' + " " * 50),
    "comments": ("{", "/**/"), "open comments": (HEAD, "/*"), "comments in text": (HEAD + '"', '" // '), "commas": ("{", ","), "colons": ("{", ":"),
    "keys": ("{", '"a":1,'), "half keys": ("{", '"a: '), "bare text": (HEAD, "a b "), "bare items": (HEAD, "a,"), "digits": (HEAD, "9"),
    "attributes": ("<a ", 'b="c" '), "tags": ("", "<a>"), "parameters": ("", "<parameter=a>"), "call": ("f(", "a=1,"), "calls": ("", "f(a=1) "),
    "flags": ("t ", "--a b "), "lines": ("", "heading: x\n"), "fences": ("", "```\n"), "prose": ("", "word { "), "objects in a row": ("", '{"a":1}'),
    "apostrophes": ("{'heading': '", "it's "), "curly": ("{“heading”: “", "“a” "), "ellipses": ('{"lines": [', "..."), "list in text": ('{"heading":"a","weights":"', "1,"),
    "sum in text": ('{"heading":"a","low_mark":"', "1+"), "paths": (HEAD + '"C:', '\\t"'), "NUL": ("", "\0"), "lone surrogates": ("", "\ud800"),
    "emoji": ("", "👩‍👩‍👧"), "tokens": ('{"heading": "a"}', "</s>"), "text": (HEAD + '"', "好的, "), "unknown keys": ("{", '"k%d": 1, '),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_a_long_text_is_read_in_linear_time(name: str) -> None:
    head, piece = LONG[name]
    times = []
    for size in (30_000, 240_000):
        count = size // len(piece.encode("utf-8", "surrogatepass"))
        raw = head + ("".join(piece % number for number in range(count)) if "%d" in piece else piece * count)
        start = time.process_time()
        got = repair(raw, NOTE)
        times.append(time.process_time() - start)
        assert (got.arguments is None) == (got.refusal is not None)
    assert times[1] < max(1.2, 24 * times[0])


def test_depth_is_bounded() -> None:
    deep: Json = {}
    for _ in range(5_000):
        deep = {"a": deep}
    assert check(deep, NOTE).refusal.code == "too_deep"
    assert repair('{"heading": "x", "extra": ' + '{"a": ' * 300 + "1" + "}" * 301, NOTE).refusal.code == "too_deep"
    assert repair("{'heading': 'x', 'extra': " + "{'a': " * 100 + "1" + "}" * 101, NOTE).status == "repaired"


@pytest.mark.parametrize("raw", ["{}", '{"a": "x", "when": "2026-03-04"}', '{"p1": 3}'])
def test_many_missing_parameters_are_looked_at_once_each(raw: str) -> None:
    times = []
    for count in (1_000, 8_000):
        properties = {f"p{number}": {"type": "string", "format": "date"} for number in range(count)}
        schema = compile_tool({"name": "f", "parameters": {"properties": properties, "required": list(properties)}})
        start = time.process_time()
        assert repair(raw, schema).status == "refused"
        times.append(time.process_time() - start)
    assert times[1] < max(1.2, 24 * times[0])


@pytest.mark.parametrize("ways", [["n", "n"], ["n", "m"], ["n"] * 40])
@pytest.mark.parametrize("depth", [10, 60, 150])
def test_alternatives_inside_of_one_another_are_bounded(ways: list[str], depth: int) -> None:
    choices = [{"$ref": f"#/$defs/{way}"} for way in ways]
    part = {"type": "object", "properties": {"b": {"anyOf": [*choices, {"type": "null"}]}}}
    schema = compile_tool(
        {
            "name": "f",
            "parameters": {
                "$defs": {"n": part, "m": {"anyOf": [part, {"type": "array", "items": part}]}},
                "properties": {"r": {"$ref": "#/$defs/n"}},
            },
        }
    )
    start = time.process_time()
    found = repair('{"r":' + '{"b":' * depth + "'1'" + "}" * depth + "}", schema)
    assert found.status == "refused"
    assert time.process_time() - start < 5


def test_many_alternatives_for_many_pairs_are_bounded() -> None:
    choices = [{"type": "object", "properties": {f"k{n}": {"type": "integer"}}} for n in range(2_000)]
    schema = compile_tool({"name": "f", "parameters": {"properties": {"a": {"anyOf": choices}}}})
    start = time.process_time()
    found = repair('{"a":{' + ",".join(f"'x{n}':'{n}'" for n in range(2_000)) + "}}", schema)
    assert found.refusal is not None
    assert found.refusal.code == "too_large"
    assert time.process_time() - start < 2


WORDS = compile_tool(
    {"name": "tag", "parameters": {"properties": {
        "word": {"enum": [f"word_{number}_end" for number in range(20_000)]},
        "words": {"type": "array", "items": {"enum": [f"word_{number}_end" for number in range(20_000)]}},
    }}}
)  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        ("{" + ",".join(['"word": "word_19999_end"'] * 20_000) + "}", "repaired"),
        ("{" + ",".join(['"word": "WORD_19999_END"'] * 20_000) + "}", "repaired"),
        ("{" + ",".join(f'"word": "WORD_{number}_END"' for number in range(20_000)) + "}", "refused"),
        ('{"words": [' + ",".join(f'"word_{number}_end"' for number in range(20_000)) + ",]}", "repaired"),
        ('{"words": [' + ",".join(f'"zz{number}"' for number in range(20_000)) + "]}", "refused"),
    ],
)
def test_a_large_enum_is_indexed_once(raw: str, status: str) -> None:
    start = time.process_time()
    assert repair(raw, WORDS).status == status
    assert time.process_time() - start < 3


def test_a_schema_nested_too_deep_is_refused_with_its_place() -> None:
    inner: dict[str, Json] = {"type": "string"}
    for _ in range(120):
        inner = {"type": "object", "properties": {"below": inner}}
    with pytest.raises(SchemaError, match=r"^dig: .* deeper than 200 levels, in /properties/below/properties/below/"):
        compile_tool({"name": "dig", "parameters": inner})
