"""Texts that hold no markup come through unchanged: no call, no reasoning, no state, byte-identical."""

import pytest

from schemas.segment import Segment, SegmentKind
from schemas.token import Meta
from tests.feeding import cuts, segment
from tests.plain_texts import texts

TEXTS = texts()
NAMES = ("get_weather", "save_note", "search")
TOOLS = tuple({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in NAMES)


def test_there_are_enough_of_them() -> None:
    assert len(TEXTS) >= 300


@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_plain_text_comes_through_unchanged(place: int) -> None:
    text = TEXTS[place]
    for meta in (Meta(), Meta(tools=TOOLS)):
        for pieces in ([text], cuts(text, place)):
            events, _ = segment(pieces, meta)
            segments = [event for event in events if isinstance(event, Segment)]
            assert {event.kind for event in segments} <= {SegmentKind.RESPONSE}
            assert "".join(event.text for event in segments) == text
