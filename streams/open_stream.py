"""One stream that is being read: its records as they come, its processors, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from schemas.failure import FailureCode
from schemas.wire import Event
from streams.foreign import ForeignLine
from streams.stage import Line

TRACE_HEADER = "traceparent"
NUMBER_HEADER = "n"
"""Header of internal records: number of the event in its stream at its stage, by which a reader drops repeats."""


class Record(Protocol):
    """What the Kafka client gives for a record."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Publish:
    """One event for a topic."""

    topic: str
    stream_id: str
    event: Event
    number: int
    trace: bytes | None = None
    """W3C `traceparent` of the stream's first record."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be used, and why."""

    record: Record
    code: FailureCode
    message: str


@dataclass(slots=True)
class Poisoned:
    """What made a processor raise: streams that did once, and the record at which one did again."""

    once: set[str] = field(default_factory=set)
    twice: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Stream id → offset of the record, and the exception's type and place."""

    def add(self, stream: "OpenStream", error: Exception) -> None:
        """A stream made a processor raise: no message of the exception is kept, it may hold what the model wrote."""
        trace = error.__traceback__
        while trace and trace.tb_next:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "unknown"
        if stream.stream_id in self.once:
            self.twice[stream.stream_id] = (stream.record.offset, f"{type(error).__name__} at {place}")
        self.once.add(stream.stream_id)


class OpenStream:
    """A stream whose end has not been read yet."""

    __slots__ = (
        "first_offset",
        "foreign",
        "half",
        "held",
        "is_suspect",
        "line",
        "next_seq",
        "number",
        "record",
        "stream_id",
        "texts",
        "touched",
        "trace",
    )

    def __init__(self, stream_id: str, line: Line, record: Record) -> None:
        self.stream_id = stream_id
        self.line = line
        self.foreign: ForeignLine | None = None
        """State of a stream whose producer writes another shape of record."""
        self.first_offset = record.offset
        self.next_seq = 0
        self.record = record
        """Its latest record."""
        self.texts: list[str] = []
        """Deltas of this poll that are not fed yet."""
        self.touched = 0.0
        self.trace = next((value for key, value in record.headers if key == TRACE_HEADER), None)
        self.is_suspect = False
        """Made a processor raise once: its records are fed one by one."""
        self.number = 0
        self.half: str | None = None
        """First half of a surrogate pair whose other half is in the next delta; None until any delta had a half."""
        self.held: list[Publish] = []
        """Events that wait for the stream's end, in exactly-once delivery."""

    def whole(self, text: str, *, is_last: bool) -> str:
        """Text with the half pair of the delta before; what stays half becomes U+FFFD."""
        text = (self.half or "") + text
        self.half = ""
        if text and "\ud800" <= text[-1] <= "\udbff" and not is_last:
            self.half, text = text[-1], text[:-1]
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_torn(text: str) -> bool:
    """Whether a text holds half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
