"""Each scalar of the arguments has a place in the raw text, which says it, or a code that says why not."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.damage import rows
from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from processors.repair import compile_tool, repair, spans_of
from processors.repair.nodes import pointer_step
from processors.repair.written import says
from schemas.jsonvalue import Json
from schemas.token import Meta
from tests.processors.repair_rows import NOTE

SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=12)
KEYS = st.text('abcnrt_/~"北:', min_size=1, max_size=4)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


def written(value: Json, path: str, at: int, places: dict[str, tuple[int, int]]) -> str:
    """JSON text that begins at an offset, and the place of each scalar: the test's own reading."""
    if isinstance(value, dict | list):
        opener, closer = ("{", "}") if isinstance(value, dict) else ("[", "]")
        text = opener
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for number, (key, inner) in enumerate(named):
            text += ", " if number else ""
            text += json.dumps(key) + ": " if isinstance(value, dict) else ""
            text += written(inner, f"{path}/{pointer_step(str(key))}", at + len(text), places)
        return text + closer
    text = json.dumps(value, ensure_ascii=len(path) % 2 == 0)
    inset = isinstance(value, str)
    places[path] = (at + inset, at + len(text) - inset)
    return text


def at_path(arguments: Json, path: str) -> Json:
    for step in path.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        arguments = arguments[int(key)] if isinstance(arguments, list) else arguments[key]
    return arguments


def scalars_of(value: Json, path: str = "") -> set[str]:
    if not isinstance(value, dict | list):
        return {path}
    named = value.items() if isinstance(value, dict) else enumerate(value)
    return {one for key, inner in named for one in scalars_of(inner, f"{path}/{pointer_step(str(key))}")}


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_in_json_each_span_says_its_value_or_its_place_is_unclear(arguments: dict[str, Json]) -> None:
    places: dict[str, tuple[int, int]] = {}
    raw = written(arguments, "", 0, places)
    spans = spans_of(arguments, raw)
    assert spans.keys() == places.keys()
    for path, span in spans.items():
        if isinstance(span, tuple):
            assert says(raw[slice(*span)], at_path(arguments, path))
        else:
            assert span == "place_unclear"


WORDS = st.text("abcdefgh", min_size=3, max_size=9)
PLAIN = st.recursive(
    WORDS | st.integers(-99, 99) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
)


@given(st.dictionaries(WORDS, PLAIN, max_size=4))
def test_in_json_of_words_and_numbers_each_value_is_found_where_it_was_written(arguments: dict[str, Json]) -> None:
    places: dict[str, tuple[int, int]] = {}
    raw = written(arguments, "", 0, places)
    assert spans_of(arguments, raw) == places


def test_damaged_calls_have_a_place_or_a_code_for_each_scalar() -> None:
    found = codes = 0
    for row in rows(seed=77, count=400):
        read = repair(row["raw"], compile_tool(row["tool"]))
        if read.arguments is None:
            continue
        spans = spans_of(read.arguments, row["raw"], read.repairs)
        assert spans.keys() == scalars_of(read.arguments) - {""}
        named = {one.code for one in read.repairs}
        for path, span in spans.items():
            if isinstance(span, tuple):
                found += 1
                assert says(row["raw"][slice(*span)], at_path(read.arguments, path)), (row["raw"], path, span)
            else:
                codes += 1
                assert span in named, (row["raw"], path, span)
    assert found > 10 * codes > 0


ROWS = [
    ('{"heading": "a b", "low_mark": 3}', {"/heading": "a b", "/low_mark": "3"}),
    ("heading: a b\nlow_mark: 3", {"/heading": "a b", "/low_mark": "3"}),
    ('{\\"heading\\": \\"a \\\\"b\\\\"\\"}', {"/heading": 'a \\\\"b\\\\"'}),
    ('{"heading": "x &amp; y"}', {"/heading": "x &amp; y"}),
    ("<heading>x &amp; y</heading>", {"/heading": "x &amp; y"}),
    ('{"headng": "a", "low_mark": "4"}', {"/heading": "a", "/low_mark": "4"}),
    ('{"low_mark": "four", "heading": "four"}', {"/heading": "four", "/low_mark": "number_word"}),
    ('{"heading": ""}', {"/heading": ""}),
]


@pytest.mark.parametrize(("raw", "expected"), ROWS)
def test_a_value_is_found_behind_its_key(raw: str, expected: dict[str, str]) -> None:
    read = repair(raw, NOTE)
    spans = spans_of(read.arguments or {}, raw, read.repairs)
    assert {path: span if isinstance(span, str) else raw[slice(*span)] for path, span in spans.items()} == expected


CALLS = [
    '<tool_call>\n{"name": "plan", "arguments": {"title": "x y", "days": 2}}\n</tool_call>',
    "<tool_call>\n<function=plan>\n<parameter=title>\nx y\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
    '<|tool_call>call:plan{title:<|"|>x y<|"|>,days:2}<tool_call|>',
    "[plan(title='x y', days=2)]",
]


@pytest.mark.parametrize("text", CALLS)
def test_a_call_of_any_grammar_tells_where_its_values_stand(text: str) -> None:
    tool = {"name": "plan", "parameters": {"properties": {"title": {"type": "string"}, "days": {"type": "integer"}}}}
    (call,) = run("s", [text], Meta(tools=({"type": "function", "function": tool},)), shipped_knowledge()).tool_calls
    spans = spans_of(call.arguments, call.raw, call.repairs)
    assert {path: call.raw[slice(*span)] for path, span in spans.items()} == {"/title": "x y", "/days": "2"}


@pytest.mark.parametrize("piece", ['"k%d": "v%d", ', '"k": "v%d", ', '"k%d": 1, ', '"k%d": "\\\\n%d", '])
def test_spans_of_a_long_text_cost_linear_time(piece: str) -> None:
    times = []
    for count in (3_000, 24_000):
        raw = "{" + "".join(piece.replace("%d", str(number)) for number in range(count)) + '"z": 1}'
        arguments = {f"k{number}": f"w{number}" for number in range(count)}
        for given_ in (json.loads(raw), arguments):
            start = time.process_time()
            assert len(spans_of(given_, raw)) == len(given_)
            times.append(time.process_time() - start)
    assert max(times[2:]) < max(2.0, 24 * max(times[:2]))
