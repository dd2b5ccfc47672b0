"""Every format proves its own examples; no format fires on another's counter-examples."""

import pytest

from processors.catalog import load_catalog, load_formats
from processors.segmenting.format import Format
from processors.segmenting.proof import problems_of
from schemas.segment import Segment, SegmentKind
from tests.feeding import segment

FORMATS = load_formats()


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.id)
def test_format_proves_its_examples(entry: Format) -> None:
    assert problems_of(entry, load_catalog()) == ()


def test_ids_are_file_names_and_unique() -> None:
    assert len({entry.id for entry in FORMATS}) == len(FORMATS) >= 86


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.id)
def test_counter_examples_hold_nothing_for_a_stream_with_tools(entry: Format) -> None:
    for text in entry.counter_examples:
        events, _ = segment(text)
        segments = [event for event in events if isinstance(event, Segment)]
        assert [(event.kind, event.text) for event in segments] == [(SegmentKind.RESPONSE, text)]


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.id)
def test_a_hint_never_changes_what_is_read(entry: Format) -> None:
    from schemas.token import Meta

    for example in entry.examples:
        if not example.tools and not example.reasoning_open:
            assert segment(example.text, Meta(format=entry.id))[0] == segment(example.text)[0]
