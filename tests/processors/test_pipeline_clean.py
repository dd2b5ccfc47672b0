"""No event that leaves the pipeline holds personal data, however the stream was cut."""

import pytest

from processors.assemble import Assembler
from processors.clean import CleanStage
from processors.knowledge import shipped_knowledge
from processors.pipeline import pipeline, tool_stage
from processors.processor import chain
from processors.reason import ReasonStage
from processors.tokens import SegmentStage
from schemas.segment import Delta
from schemas.token import Meta, Token
from schemas.wire import Event, encode
from tests.processors.leaks import KEY, MAIL, PHONE, STREAMS, TOOLS, leaked

META = Meta(user=f"call {PHONE} and write to {MAIL}", tools=TOOLS, attrs={"note": MAIL})


def tokens(pieces: list[str]) -> list[Token]:
    last = len(pieces) - 1
    return [
        Token(stream_id="s", seq=seq, text=piece, done=seq == last, meta=META if seq == 0 else None)
        for seq, piece in enumerate(pieces)
    ]


def published(pieces: list[str]) -> list[Event]:
    processor = pipeline(shipped_knowledge())
    out = [event for token in tokens(pieces) for event in processor.feed(token)]
    return out + list(processor.close())


@pytest.mark.parametrize("text", STREAMS.values(), ids=STREAMS.keys())
@pytest.mark.parametrize("size", [1, 3, 16, 10_000])
def test_nothing_that_is_published_holds_a_mark(text: str, size: int) -> None:
    for event in published([text[at : at + size] for at in range(0, len(text), size)]):
        assert not leaked(encode(event)), event


@pytest.mark.parametrize("text", STREAMS.values(), ids=STREAMS.keys())
def test_no_cut_lets_a_mark_through(text: str) -> None:
    for cut in range(1, len(text), 5):
        for event in published([text[:cut], text[cut:]]):
            assert not leaked(encode(event)), (cut, event)


@pytest.mark.parametrize("text", STREAMS.values(), ids=STREAMS.keys())
def test_live_deltas_are_clean_too(text: str) -> None:
    knowledge = shipped_knowledge()
    clean = CleanStage(knowledge.clean_options)
    live: dict[int, str] = {}
    processor = chain(SegmentStage(knowledge), ReasonStage(), tool_stage(knowledge), clean)
    for token in tokens([text[at : at + 4] for at in range(0, len(text), 4)]):
        for event in processor.feed(token):
            assert not leaked(encode(event)), event
            if isinstance(event, Delta):
                live[event.order] = live.get(event.order, "") + event.text
    assert not [mark for joined in live.values() for mark in leaked(joined)]
    assert Assembler(clean.counts)


@pytest.mark.parametrize("value", [PHONE, MAIL, KEY], ids=["phone", "mail", "key"])
def test_the_end_of_a_call_that_an_excerpt_quotes_holds_no_piece(value: str) -> None:
    for after in range(60):
        call = f'<tool_call>\n{{"name": "send_message", "arguments": {{"to": "{value}{"." * after}"}}}}\n<think>so</think>ok'
        for event in published([call]):
            assert not leaked(encode(event)), (after, event)
