"""The Processor protocol: events of one stream in, events out; `chain` puts several in a row."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from schemas.wire import Event


class Processor(Protocol):
    """One instance for one stream; its state is a pure function of what was fed."""

    def feed(self, event: Event) -> Iterable[Event]:
        """Take one event, give what follows from it; never raises on what a model wrote."""
        ...

    def close(self) -> Iterable[Event]:
        """Give what was held back; called once, after the stream's last event."""
        ...


def chain(*processors: Processor) -> Processor:
    """Several processors as one: each gets what the one before gives."""
    return _Chain(processors)


class _Chain:
    __slots__ = ("_processors",)

    def __init__(self, processors: tuple[Processor, ...]) -> None:
        self._processors = processors

    def feed(self, event: Event) -> Iterable[Event]:
        events = self._processors[0].feed(event)
        if not events:  # most tokens give nothing yet; an iterator is never falsy
            return ()
        return self._through(1, events)

    def close(self) -> Iterator[Event]:
        for place, processor in enumerate(self._processors):
            yield from self._through(place + 1, processor.close())

    def _through(self, place: int, events: Iterable[Event]) -> Iterable[Event]:
        for processor in self._processors[place:]:
            events = [out for event in events for out in processor.feed(event)]
            if not events:
                break
        return events
