"""A marked call whose body had to be mended is `repaired`, and says by which codes; one as its grammar has it is `ok`."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from processors.repair import compile_tool, repair
from schemas.token import Meta
from schemas.toolcall import CallStatus

PROPERTIES = {
    "title": {"type": "string"}, "days": {"type": "integer"}, "is_open": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}}, "at": {"type": "object", "properties": {"room": {"type": "string"}}},
}  # fmt: skip
TOOL = {"type": "function", "function": {"name": "plan", "parameters": {"type": "object", "properties": PROPERTIES}}}
SCHEMA = compile_tool(TOOL)


def json_body(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


def literal_body(body: str) -> str:
    return f"<|tool_call>call:plan{body}<tool_call|>"


def elements(body: str) -> str:
    mark = "]<]minimax[>["
    inner = body.replace("<", f"{mark}<")
    return f'{mark}<tool_call>\n{mark}<invoke name="plan">{inner}{mark}</invoke>\n{mark}</tool_call>'


def tagged(body: str) -> str:
    return f"<tool_call>\n<function=plan>\n{body}</function>\n</tool_call>"


def call_of(text: str, *, has_tools: bool = True):
    tools = (TOOL,) if has_tools else ()
    calls = run("s", [text], Meta(tools=tools), shipped_knowledge()).tool_calls
    return calls[0] if calls else None


AS_THEY_ARE = [
    json_body('{"name": "plan", "arguments": {"title": "a: b", "days": 2}}'),
    json_body('{"name": "plan", "arguments": "{\\"title\\": \\"x\\"}"}'),
    json_body('{"name": "plan"}'),
    literal_body('{title:<|"|>x<|"|>,days:2,is_open:true}'),
    elements("<title>x</title><at><room>a</room></at><tags><item>p</item><item>q</item></tags>"),
    tagged("<parameter=title>\nx\n</parameter>\n<parameter=days>\n2\n</parameter>\n"),
    "[plan(title='x', days=2)]",
    "[plan(title='x', is_open=true)]",
]
MENDED = [
    (json_body("{'name': 'plan', 'arguments': {'title': 'x'}}"), "quotes_replaced"),
    (json_body('{"name": "plan", "arguments": {"title": "x",}}'), "trailing_comma"),
    (json_body('{"name": "plan", "arguments": {"title": "x"},}'), "trailing_comma"),
    (json_body('{"name": "plan", "arguments": {"title": "x", "is_open": True}}'), "python_literal"),
    (json_body('{"name": "plan", "arguments": {"title": "x\ny"}}'), "control_characters_kept"),
    (json_body('{"name": "plan", "arguments": {"title": "x"} # done\n}'), "comment_stripped"),
    (json_body('{"name": "plan", "arguments": {"tags": ("x", "y")}}'), "python_literal"),
    (json_body('{"name": "plan", "arguments": {"days": 0x10}}'), "python_literal"),
    (json_body('{"name": "plan" "arguments": {"title": "x"}}'), "call_mended"),
    (json_body('{"name": "plan", "arguments": {"title": "x"}'), "call_mended"),
    (json_body('{"name": "plan", "arguments": "{\'title\': \'x\'}"}'), "quotes_replaced"),
    (json_body('{"name": "plan", "title": "x"}'), "arguments_gathered"),
    (json_body('{"name": "plan", "arguments": {"title": "it\\\'s"}}'), "backslash_dropped"),
    (literal_body('{title:<|"|>x<|"|>,}'), "trailing_comma"),
    (literal_body("{title:x}"), "auto_quoted_values"),
    (literal_body('{"title":<|"|>x<|"|>}'), "quotes_replaced"),
    (literal_body('{title:<|"|>x<|"|>,is_open:True}'), "python_literal"),
    (tagged("<parameter=title>\nx\n"), "closers_added"),
    ("[plan(title='x', is_open=TRUE)]", "python_literal"),
]
REFUSED = [
    json_body("{'name': 'plan', 'arguments': {'title': 'x', 'title': 'y'}}"),
    json_body('{"name": "plan", "arguments": {"title": "x", "title": "y"}}'),
    json_body('{"name": "plan", "arguments": {"title": "x"}, "arguments": {"title": "y"}}'),
    json_body('{"name": "plan", "name": "drop", "arguments": {"title": "x"}}'),
    literal_body('{title:<|"|>x<|"|>,title:<|"|>y<|"|>}'),
    elements("<title>x</title><title>y</title>"),
    elements("<at>text<room>a</room></at>"),
    tagged("<parameter=title>\nx\n</parameter>\n<parameter=title>\ny\n</parameter>\n"),
]


@pytest.mark.parametrize("has_tools", [True, False])
@pytest.mark.parametrize("text", AS_THEY_ARE)
def test_a_call_as_its_grammar_has_it_is_ok(text: str, has_tools: bool) -> None:
    call = call_of(text, has_tools=has_tools)
    assert (call.status, call.repairs, call.confidence) == (CallStatus.OK, (), 1.0)


@pytest.mark.parametrize("has_tools", [True, False])
@pytest.mark.parametrize(("text", "code"), MENDED)
def test_a_mended_call_says_what_was_mended(text: str, code: str, has_tools: bool) -> None:
    call = call_of(text, has_tools=has_tools)
    assert call.status is CallStatus.REPAIRED
    assert code in {repair.code for repair in call.repairs}
    assert call.confidence < 1


@pytest.mark.parametrize("has_tools", [True, False])
@pytest.mark.parametrize("text", REFUSED)
def test_a_key_with_two_values_is_not_executed(text: str, has_tools: bool) -> None:
    call = call_of(text, has_tools=has_tools)
    assert call.status in {CallStatus.REFUSED, CallStatus.UNPARSEABLE}


def test_a_call_read_again_for_its_numbers_is_not_called_unwrapped() -> None:
    call = call_of(json_body('{"name": "plan", "arguments": {"days": 2.0}}'))
    assert [repair.code for repair in call.repairs] == ["int_from_float"]


BASES = [
    '{"title": "It is x", "days": 12, "is_open": true}',
    '{"tags": ["p", "q r"], "at": {"room": "v"}}',
    '{"title": "say \\"hi\\" now", "days": -3}',
]
SCARS = [
    '"',
    "'",
    ",",
    "\\",
    "{",
    "}",
    "[",
    "]",
    " ",
    "\n",
    ":",
    "\t",
    "\\'",
    "\\b",
    "(",
    "“",
    ";",
    "，",
    "\u200b",
    "0",
    "=",
    "",
]
EDITS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 2), st.sampled_from(SCARS)), max_size=3)


def damaged(base: str, edits) -> str:
    for place, cut, scar in edits:
        base = base[:place] + scar + base[place + cut :]
    return base


@given(st.sampled_from(BASES), EDITS, st.booleans())
def test_what_is_not_json_is_never_ok_without_a_code(base: str, edits, is_known: bool) -> None:
    raw = damaged(base, edits)
    repaired = repair(raw, SCHEMA if is_known else None)
    if repaired.status == "ok":
        assert orjson.loads(raw) == repaired.arguments


@given(st.sampled_from(BASES), EDITS, st.booleans())
def test_a_marked_call_that_is_not_json_is_never_ok_without_a_code(base: str, edits, has_tools: bool) -> None:
    body = damaged(f'{{"name": "plan", "arguments": {base}}}', edits)
    call = call_of(json_body(body), has_tools=has_tools)
    if call is not None and call.status is CallStatus.OK:
        written = call.raw[call.raw.find("{") : call.raw.rfind("}") + 1]
        assert json.loads(written)["arguments"] == call.arguments
