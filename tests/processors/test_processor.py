"""`chain`: several processors as one."""

from collections.abc import Iterator

from processors.processor import chain
from schemas.segment import Delta, SegmentKind
from schemas.wire import Event


class Doubled:
    """Gives each event twice, and one more at the end."""

    def feed(self, event: Event) -> Iterator[Event]:
        yield event
        yield event

    def close(self) -> Iterator[Event]:
        yield Delta(stream_id="s", order=9, kind=SegmentKind.RESPONSE, text="end")


def test_what_one_gives_the_next_gets() -> None:
    both = chain(Doubled(), Doubled())
    event = Delta(stream_id="s", order=0, kind=SegmentKind.RESPONSE, text="x")
    assert list(both.feed(event)) == [event] * 4
    assert [out.text for out in both.close()] == ["end"] * 3
