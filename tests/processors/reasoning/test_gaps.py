"""Where a trace breaks, and that intact traces, odd steps and long lists are read calmly."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.reasoning.gaps import find_gaps

WEATHER = [
    "The user wants the weather in Oslo for Saturday.",
    "Call the weather tool with city Oslo and the Saturday date.",
    "The forecast for Oslo says 12 degrees and rain on Saturday.",
    "Rain on Saturday in Oslo is plausible, the forecast gives 80 percent.",
    "So tell the user that Oslo gets rain with 12 degrees.",
]
INVOICE = [
    "Invoice 4711 lists three freight positions and a customs fee.",
    "The customs fee on invoice 4711 was charged twice by the freight company.",
    "Subtract the second customs fee from the freight invoice total.",
    "The freight company has to correct the invoice and the customs fee.",
    "Send the freight company a note about invoice 4711.",
]
CHINESE = [
    "用户想知道北京周六的天气。", "调用天气工具查询北京周六的天气预报。", "天气预报说北京周六有雨。", "北京周六有雨，建议带伞。",
    "发票上的运费重复计算了。", "运费应该从发票总额里减去一次。", "请物流公司更正发票上的运费。", "更正后的发票总额少了一笔运费。",
]  # fmt: skip


@pytest.mark.parametrize(("steps", "gap"), [(WEATHER + INVOICE, 4), (INVOICE + WEATHER, 4), (CHINESE, 3)])
def test_break_of_topic_is_the_one_gap(steps: list[str], gap: int) -> None:
    found = find_gaps(steps)
    assert found.gaps == (gap,)
    assert found.similarity[gap] == min(found.similarity)
    assert len(found.similarity) == len(steps) - 1


@pytest.mark.parametrize("steps", [WEATHER, INVOICE, CHINESE[:4], CHINESE[4:], ["a", "b", "c", "d"], [""] * 9])
def test_intact_trace_has_no_gap(steps: list[str]) -> None:
    assert find_gaps(steps).gaps == ()


@pytest.mark.parametrize("steps", [[], ["one"], ["one", "two"], WEATHER[:1] + INVOICE[:2]])
def test_short_lists_are_not_judged(steps: list[str]) -> None:
    assert find_gaps(steps).gaps == ()
    assert len(find_gaps(steps).similarity) == max(0, len(steps) - 1)


def test_break_is_found_far_inside_a_long_trace() -> None:
    assert {99} <= set(find_gaps(WEATHER * 20 + INVOICE * 20).gaps) <= {98, 99, 100}


@given(st.lists(st.text(alphabet=st.sampled_from(list("ab 1.\ud800北京\x00")), max_size=12), max_size=40))
def test_any_steps_get_a_similarity_for_each_joint(steps: list[str]) -> None:
    found = find_gaps(steps)
    assert len(found.similarity) == max(0, len(steps) - 1)
    assert all(0 <= value < 1 for value in found.similarity)


def test_cost_is_linear_in_the_number_of_steps() -> None:
    start = time.process_time()
    find_gaps([f"step {number} of alpha{number} beta" for number in range(20_000)])
    find_gaps(["word " * 1_000_000] * 20)
    assert time.process_time() - start < 8
