"""Bare numbers that JSON can't hold, in formats with grammars of their own: text as written, and nothing raises."""

from dataclasses import replace

import pytest

from processors.catalog import catalog_of, load_formats
from processors.knowledge import shipped_knowledge
from processors.learning.entry import definition_of
from processors.learning.frames import Frame
from processors.learning.induce import Induced
from processors.learning.shape import Reader, Shape
from processors.pipeline import run
from processors.segmenting.format import Format
from schemas.token import Meta
from schemas.wire import encode

SHAPE = Shape(open="⟦do ", reader=Reader.PAIRS, first=": ", key_end="=", next="; ", close=" ⟧")
LEARNED = Format.model_validate(
    definition_of(
        Induced(
            shape=SHAPE, thought=None, frame=Frame(), valid=frozenset(), invalid=frozenset(), runner_up=None, trace=()
        ),
        "learned_pairs",
    )
)
KNOWLEDGE = replace(shipped_knowledge(), catalog=catalog_of([*load_formats(), LEARNED]))
BODIES = {
    "learned": lambda number: f'⟦do plan: code={number}; title="x" ⟧',
    "shipped": lambda number: f'<|tool_call>call:plan{{code:{number},title:<|"|>x<|"|>}}<tool_call|>',
}
ODD = ["007", "-007", "00.5", "1e999", "-1e999", "12345678901234567890123", "1" * 5000]
PLAIN = {"0": 0, "-3": -3, "2.50": 2.5, "1e3": 1000.0, "1234567890123456789": 1234567890123456789}


def call_of(text: str, kind: str | None):
    properties = {"title": {"type": "string"}, "code": {"type": kind} if kind else {}}
    tool = {
        "type": "function",
        "function": {"name": "plan", "parameters": {"type": "object", "properties": properties}},
    }
    output = run("s", [text], Meta(tools=(tool,)), KNOWLEDGE)
    assert encode(output)
    return output.tool_calls[0]


@pytest.mark.parametrize("number", ODD)
@pytest.mark.parametrize("notation", BODIES)
def test_odd_numbers_stay_text_where_no_schema_asks_for_a_number(notation, number):
    for kind in ("string", None):
        assert call_of(BODIES[notation](number), kind).arguments == {"code": number, "title": "x"}


@pytest.mark.parametrize("notation", BODIES)
def test_a_schema_that_asks_for_a_number_gets_it_with_a_code(notation):
    call = call_of(BODIES[notation]("007"), "integer")
    assert call.arguments == {"code": 7, "title": "x"}
    assert call.repairs


@pytest.mark.parametrize("number", PLAIN)
@pytest.mark.parametrize("notation", BODIES)
def test_plain_numbers_are_numbers(notation, number):
    assert call_of(BODIES[notation](number), None).arguments == {"code": PLAIN[number], "title": "x"}
