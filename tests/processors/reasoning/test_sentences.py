"""Where sentences end, in two languages and in odd text."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.reasoning.sentences import STEPS_MAX, split_steps

CASES = [
    ("empty", "", []),
    ("blank", " \n\n ", []),
    ("english", "First call A. Then B! Is it done? Yes", ["First call A.", "Then B!", "Is it done?", "Yes"]),
    ("chinese", "先查时间。再查天气！对吗？好…", ["先查时间。", "再查天气！", "对吗？", "好…"]),
    ("mixed", "Call get_weather。然后 return 3.5. Done", ["Call get_weather。", "然后 return 3.5.", "Done"]),
    ("number", "It is 3.14 now.", ["It is 3.14 now."]),
    ("url", "See https://a.example/x.html?q=1&b=2 first. Then go.", ["See https://a.example/x.html?q=1&b=2 first.", "Then go."]),
    ("file", "Open main.py and read it.", ["Open main.py and read it."]),
    ("abbreviation", "Use a list, e.g. of ints. Dr. Wu agrees.", ["Use a list, e.g. of ints.", "Dr. Wu agrees."]),
    ("list", "1. search flights\n2. book\n- pay\n", ["1. search flights", "2. book", "- pay"]),
    ("ellipsis", "Hmm... maybe not.", ["Hmm...", "maybe not."]),
    ("quote after end", "他说：“好的。”然后走了。", ["他说：“好的。”", "然后走了。"]),
    ("emoji after end", "Done! 🎉 Next.", ["Done!", "🎉 Next."]),
    ("emoji joined", "好的！👩‍💻下一步。", ["好的！👩‍💻", "下一步。"]),
    ("code span", "Run `a. b? c` now. Ok.", ["Run `a. b? c` now.", "Ok."]),
    ("fence", "Look:\n```py\nx = 1. \ny?\n```\nGood.", ["Look:", "```py\nx = 1. \ny?\n```", "Good."]),
    ("open fence", "Look:\n```py\nx = 1. ", ["Look:", "```py\nx = 1."]),
    ("not an end", "a != b and x?.y are code", ["a != b and x?.y are code"]),
    ("full stop before Chinese", "ok.然后走", ["ok.", "然后走"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in split_steps(text)] == expected


@given(st.text(alphabet=st.sampled_from(list('ab 。.!?`~\n1)"”\ud800\x00👩‍💻，')), max_size=200))
def test_nothing_but_white_space_is_left_out(text: str) -> None:
    spans = split_steps(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)
    assert all(x[1] <= y[0] for x, y in itertools.pairwise(spans))


@pytest.mark.parametrize("unit", [".", "`", "! ", "```\n", "_", "!_", "\n", " ", "a. ", "👩‍💻", "1.", "`a"])
def test_cost_is_linear_and_bounded(unit: str) -> None:
    start = time.process_time()
    assert len(split_steps(unit * 300_000 + "a")) <= STEPS_MAX
    assert time.process_time() - start < 2
