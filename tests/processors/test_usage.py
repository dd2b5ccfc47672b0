"""What a model is told before it calls a tool, and after it called one wrongly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.dispatching.errors import ErrorClass, Fault, class_of, read_rules, rule_for
from processors.dispatching.usage import usage_of, usage_of_unknown
from processors.tools.guidance import FIELD_CHARS_MAX, guidance, has_side_effects

RULE = """
[[rule]]
id = "order-number"
error = "param_error"
tools = ["order_status"]
words = ["no such order"]
usage = "An order number is A- and six digits."
positives = [{ kind = "http", code = 404, text = "No such order: 17" }]
negatives = [{ kind = "http", code = 404, text = "no such page" }]
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}), ("Look it up.", {}), ("When to use: now", {"when_to_use": "now"}),
        (
            "Look.\n\nWhen to use: the user asks\n  where it is.\nWhen not to use: before\nSide effects: none\n\nArgs:\n  x: y",
            {"when_to_use": "the user asks where it is.", "when_not_to_use": "before", "side_effects": "none"},
        ),
        ("何时使用：查天气\n何时不用：预报\n副作用：无", {"when_to_use": "查天气", "when_not_to_use": "预报", "side_effects": "无"}),
        ("Side effects: money moves\nReturns:\n  a number", {"side_effects": "money moves"}),
        ("Side effects: none\nSide effects: mail", {"side_effects": "none"}),
        ("It has no when to use: part", {}),
    ],
)  # fmt: skip
def test_guidance_is_read_from_a_description(text, found) -> None:
    assert guidance(text) == found


@given(st.text(alphabet="When to use:\n无副作用 ", max_size=300))
def test_guidance_is_bounded_and_never_raises(text) -> None:
    assert all(len(said) <= FIELD_CHARS_MAX for said in guidance(text).values())
    assert isinstance(has_side_effects(text), bool)


def test_usage_names_each_argument_and_shows_a_call_that_would_be_taken() -> None:
    definition = {
        "name": "weather", "description": "", "when_to_use": "the user asks about weather now.",
        "parameters": {
            "properties": {
                "unit": {"type": "string", "enum": ["c", "f"]}, "city": {"type": "string", "description": "its\n name"},
                "days": {"type": ["integer", "null"], "minimum": 2},
            },
            "required": ["city", "days"],
        },
    }  # fmt: skip
    assert usage_of(definition, lambda _: None, "Ask for one city.") == (
        'Ask for one city. weather takes city (string, required): its name; days (integer or null, required); unit (one of "c", "f", '
        'optional). Use it when: the user asks about weather now. For example: {"city": "…", "days": 2}'
    )
    assert "For example" not in usage_of(definition, lambda _: "city: too short")
    assert usage_of({"name": "now", "parameters": {}}, lambda _: None) == "now takes no arguments. For example: {}"
    assert usage_of_unknown(["b", "a"]) == "There are these tools: a, b."


def test_a_rule_may_be_about_some_tools_and_say_how_they_are_used() -> None:
    own = read_rules(RULE)
    fault = Fault(kind="http", code=404, text="no such order: 17")
    assert class_of(fault, own, "order_status") == (ErrorClass.PARAM, "order-number")
    assert class_of(fault, own, "refund") == (ErrorClass.BUSINESS, "http-business")
    assert rule_for(fault, own, "order_status").usage == "An order number is A- and six digits."


@pytest.mark.parametrize("left_out", ["positives", "negatives"])
def test_a_rule_without_examples_of_both_kinds_is_refused(left_out) -> None:
    text = "\n".join(f"{left_out} = []" if line.startswith(left_out) else line for line in RULE.splitlines())
    with pytest.raises(ValueError, match="no examples of both kinds"):
        read_rules(text)
