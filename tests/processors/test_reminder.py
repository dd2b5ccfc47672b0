"""What a prompt is reminded of: goal and steps always, the rest as far as there is room, never more than the bound."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.reasoning.reminder import TOKENS_MIN, Done, Remembered, Similar, cut, plain, reminder, tokens_of

STEPS = [Done(what=f'look_up {{"page":{n}}}', status="ok" if n % 3 else "system_error") for n in range(400)]
TEXT = st.text(max_size=300)


def test_all_of_it_is_said_where_there_is_room() -> None:
    found = reminder(
        Remembered(
            goal="Refund order 7\nfor the customer", now="and tell her",
            done=[Done(what='order_status {"id":7}', note='{"state":"sent"}'), Done(what="refund", status="business_failure")],
            strategies=['refund, when tier is "vip": goes to a person first.'],
            similar=[Similar(goal="Refund order 3", score=0.815, tools=("order_status", "refund"), thoughts="First\nthe state.")],
        )
    )  # fmt: skip
    assert found.text == (
        "Original goal: Refund order 7 for the customer\nNow: and tell her\nDone so far:\n"
        '- order_status {"id":7} → ok ({"state":"sent"})\n- refund → business_failure\n'
        'What was learned about these tools:\n- refund, when tier is "vip": goes to a person first.\n'
        "How similar goals were reached:\n- (0.81) Refund order 3; tools: order_status → refund: First the state."
    )
    assert (found.strategies_left_out, found.similar_left_out) == (0, 0)


def test_a_chinese_goal_is_restated_in_chinese() -> None:
    assert reminder(Remembered(goal="给订单 7 退款")).text == "最初目标：给订单 7 退款\n已完成的步骤： 尚无"


@pytest.mark.parametrize("tokens_max", [100, 200, 800])
def test_the_goal_and_the_newest_steps_stand_whatever_the_bound(tokens_max) -> None:
    many = Remembered(
        goal="Find the page that names the price. " * 500, now="go on " * 500, done=STEPS,
        strategies=["look_up: is not made. " * 30] * 50, similar=[Similar(goal="g " * 100, score=0.5, thoughts="t " * 900)] * 50,
    )  # fmt: skip
    found = reminder(many, tokens_max)
    assert found.tokens == tokens_of(found.text) <= tokens_max
    assert found.text.startswith("Original goal: Find the page that names the price.")
    lines = found.text.splitlines()
    assert '- look_up {"page":399} → system_error' in lines
    place = lines.index("Done so far:")
    assert "earlier steps:" in lines[place + 1]
    assert found.similar_left_out > 0


def test_older_steps_are_counted_by_tool_and_status() -> None:
    found = reminder(Remembered(goal="g", done=STEPS), 300)
    (line,) = (line for line in found.text.splitlines() if "earlier steps" in line)
    shown = found.text.count('"page"')
    assert line.startswith(f"- {400 - shown} earlier steps: ")
    assert "× look_up ok, " in line
    assert "× look_up system_error" in line


@given(
    goal=TEXT, now=TEXT, steps=st.lists(TEXT, max_size=30), lines=st.lists(TEXT, max_size=20), bound=st.integers(0, 400)
)
def test_it_is_bounded_one_line_a_thing_and_never_raises(goal, now, steps, lines, bound) -> None:
    done = [Done(what=text, status=text[:9], note=text) for text in steps]
    similar = [Similar(goal=text, score=0.5, tools=(text,), thoughts=text) for text in lines]
    found = reminder(Remembered(goal=goal, now=now, done=done, strategies=lines, similar=similar), bound)
    assert found.tokens <= max(bound, TOKENS_MIN)
    assert len(found.text.split("\n")) <= 6 + len(steps) + 2 * len(lines)
    found.text.encode()


@given(TEXT, st.integers(1, 60))
def test_a_cut_text_is_a_beginning_and_fits(text, tokens_max) -> None:
    short = cut(text, tokens_max)
    assert tokens_of(short) <= tokens_max
    assert text.startswith(short.removesuffix("…")) or short == text


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("hello", 2), ("订单", 2), ("1234", 4), ("a b\n", 3), ("😀", 3), ("да", 2)]
)
def test_tokens_are_estimated_on_the_high_side(text, tokens) -> None:
    assert tokens_of(text) == tokens


def test_what_hides_or_turns_text_is_taken_out() -> None:
    assert plain("a\x00b\u202ec\nGoal: d\ud800") == "a b c Goal: d"


def test_a_hundred_megabytes_are_read_in_linear_time() -> None:
    began = time.process_time()
    found = reminder(Remembered(goal="x" * 20_000_000, done=[Done(what="y" * 10_000_000)] * 2))
    assert found.tokens <= 800
    assert time.process_time() - began < 20
