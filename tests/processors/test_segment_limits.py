"""Limits, live deltas, and what a call needs to be one."""

from processors.catalog import load_catalog
from processors.limits import Limits
from processors.segment import Segmenter
from processors.segmenting.ledger import SegmentEvent
from schemas.failure import Failure, FailureCode
from schemas.segment import Delta, Opened, Relabel, Segment, SegmentKind
from schemas.token import Meta
from tests.feeding import cuts, ways, without_deltas


def run(pieces: list[str], limits: Limits | None = None, *, deltas: bool = False) -> list[SegmentEvent]:
    segmenter = Segmenter(load_catalog(), Opened(stream_id="s", meta=Meta()), limits or Limits(), deltas=deltas)
    events = [event for piece in pieces for event in segmenter.feed(piece)]
    return events + segmenter.close()


def codes(events: list[SegmentEvent]) -> list[FailureCode]:
    return [event.code for event in events if isinstance(event, Failure)]


def test_a_stream_beyond_the_limit_is_read_up_to_it() -> None:
    text = "abcdefghij" * 10
    for pieces in ways(text):
        events = run([*pieces, "more"], Limits(stream_chars_max=42))
        assert [event.text for event in events if isinstance(event, Segment)] == [text[:42]]
        assert codes(events) == [FailureCode.STREAM_TOO_LONG]


def test_a_segment_beyond_the_limit_is_split_at_it() -> None:
    text = "word " * 50
    outcomes = [run(pieces, Limits(held_chars_max=100)) for pieces in ways(text)]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    segments = [event for event in outcomes[0] if isinstance(event, Segment)]
    assert "".join(segment.text for segment in segments) == text
    assert FailureCode.HELD_TOO_LONG in codes(outcomes[0])


def test_a_call_beyond_the_limit_is_cut() -> None:
    text = '<tool_call>{"name": "a", "arguments": {"t": "' + "x" * 500 + '"}}</tool_call>'
    outcomes = [run(pieces, Limits(held_chars_max=100)) for pieces in ways(text)]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert FailureCode.HELD_TOO_LONG in codes(outcomes[0])
    assert [event.call.complete for event in outcomes[0] if isinstance(event, Segment) and event.call] == [False]


def test_more_calls_than_the_limit_are_text() -> None:
    text = '<tool_call>{"name": "a", "arguments": {}}</tool_call>' * 5
    for pieces in ways(text):
        events = run(pieces, Limits(calls_max=3))
        kinds = [event.kind for event in events if isinstance(event, Segment)]
        assert kinds == [SegmentKind.TOOL_CALL] * 3 + [SegmentKind.RESPONSE]
        assert codes(events).count(FailureCode.TOO_MANY_CALLS) == 1


def test_deltas_are_the_beginnings_of_their_segments_and_change_nothing_else() -> None:
    text = "<think>\nSome thoughts here.\n</think>\n\nThe answer  is\n\n```\ncode\n```\n seven. <!-- x --> More.\n"
    for pieces in ways(text):
        events = run(pieces, deltas=True)
        assert without_deltas(events) == run([text])
        segments = {event.order: event for event in events if isinstance(event, Segment)}
        sent: dict[int, str] = {}
        for event in events:
            if isinstance(event, Delta):
                assert event.kind == segments[event.order].kind
                sent[event.order] = sent.get(event.order, "") + event.text
        assert all(segments[order].text.startswith(part) for order, part in sent.items())
    by_character = [event for event in run(list(text), deltas=True) if isinstance(event, Delta)]
    assert len(by_character) > 20


def test_implied_reasoning_relabels_what_was_sent() -> None:
    text = "Let me think about it.\n</think>\n\nSeven."
    events = run(cuts(text, 3, 4), deltas=True)
    assert [event.kind for event in events if isinstance(event, Relabel)] == [SegmentKind.REASONING]
    assert [event.order for event in events if isinstance(event, Relabel)] == [0]
    segments = [(event.order, event.kind) for event in events if isinstance(event, Segment)]
    assert segments == [(0, SegmentKind.REASONING), (1, SegmentKind.RESPONSE)]


def test_a_call_is_given_as_soon_as_its_markup_ends() -> None:
    segmenter = Segmenter(load_catalog(), Opened(stream_id="s", meta=Meta()))
    assert list(segmenter.feed('Hello.\n<tool_call>\n{"name": "a", "arguments": {}}\n</tool_cal')) == []
    kinds = [event.kind for event in segmenter.feed("l>") if isinstance(event, Segment)]
    assert kinds == [SegmentKind.RESPONSE, SegmentKind.TOOL_CALL]


def test_the_format_and_its_certainty_are_said() -> None:
    segmenter = Segmenter(load_catalog(), Opened(stream_id="s", meta=Meta()))
    segmenter.feed("<longcat_think>x</longcat_think>y")
    segmenter.close()
    assert (segmenter.format_id, segmenter.format_confidence) == ("longcat", 1.0)
    assert segmenter.chars == len("<longcat_think>x</longcat_think>y")


def test_a_model_name_decides_between_equal_formats() -> None:
    text = '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>'
    for model, expected in (("Qwen/Qwen2.5-7B-Instruct", "qwen25"), ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes")):
        segmenter = Segmenter(load_catalog(), Opened(stream_id="s", meta=Meta(model=model)))
        segmenter.feed(text)
        segmenter.close()
        assert segmenter.format_id == expected
