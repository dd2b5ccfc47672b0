"""A supplement becomes a marked node between the ends of its gap, or nothing."""

import pytest

from processors.reason import ReasonStage
from processors.reasoning.fill import fill_gap, supplement_request
from processors.reasoning.link import Linked, link
from schemas.reasoning import Node
from schemas.segment import Segment, SegmentKind

TEXTS = (
    "The weather in Beijing will be sunny tomorrow. Call get_weather for Beijing.",
    "Search flights from Boston to Oslo. Then reserve the cheapest seat near the window.",
)


@pytest.fixture
def broken() -> Linked:
    stage = ReasonStage()
    segments = [
        Segment(
            stream_id="s",
            order=order,
            kind=SegmentKind.REASONING,
            text=text,
            span=(order * 100, order * 100 + len(text)),
        )
        for order, text in enumerate(TEXTS)
    ]
    return link([event for one in segments for event in stage.feed(one) if isinstance(event, Node)], [])


def test_request_shows_both_sides_as_data(broken: Linked) -> None:
    asked = supplement_request(broken, broken.gaps[0])
    assert "<before>\nThe weather in Beijing" in asked
    assert "<after>\nSearch flights" in asked
    assert "nothing_in_common" in asked


def test_supplement_stands_between_marked_and_less_sure(broken: Linked) -> None:
    filled = fill_gap(broken, broken.gaps[0], " After the weather, the user asked for a trip. ")
    assert [node.id for node in filled.nodes] == ["rn_0", "rn_auto_0", "rn_1"]
    assert filled.edges == (("rn_0", "rn_auto_0"), ("rn_auto_0", "rn_1"))
    node = filled.nodes[1]
    assert (node.auto_filled, node.based_on) == (True, ("rn_0",))
    assert node.confidence <= 0.5
    assert filled.gaps == ()


@pytest.mark.parametrize("supplement", ["", "  ", "NONE", "none."])
def test_no_supplement_leaves_the_gap_reported(broken: Linked, supplement: str) -> None:
    assert fill_gap(broken, broken.gaps[0], supplement) is broken


def test_a_gap_of_another_tree_changes_nothing(broken: Linked) -> None:
    other = fill_gap(broken, broken.gaps[0], "Then a trip.")
    assert fill_gap(other, broken.gaps[0], "Then a trip.") is other
