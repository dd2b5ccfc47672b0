"""Records of one partition → what is to be published, and what may be committed.

Holds the open streams of the partition, each with its processors. Their state is not stored: the offset to commit is
that of the oldest stream still open, so after a crash or a rebalance the open streams are read again and the state is
what it was (docs/adr/0002). A stream that never ends would hold that offset for ever; limits of idle time and number of
open streams cut it.

Deltas of one stream that come in one poll are joined before they are fed: any cutting of the text gives the same
events, so fewer and larger ones only cost less.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from processors.read_record import read_record
from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output
from schemas.segment import Closed
from schemas.token import Token
from schemas.wire import Event, UndecodableError, decode, decode_token, plain_tokens
from streams.foreign import ForeignLine
from streams.open_stream import NUMBER_HEADER, DeadLetter, OpenStream, Poisoned, Publish, Record, is_torn
from streams.progress import Finished, Point
from streams.stage import Chain


class Partition:
    """State of one partition in one worker."""

    def __init__(self, chain: Chain, offset: int, names: str, poisoned: Poisoned, now: Callable[[], float]) -> None:
        self._chain = chain
        self._poisoned = poisoned
        self._now = now
        self._is_held = chain.is_transactional
        self._open: OrderedDict[str, OpenStream] = OrderedDict()
        self._finished = Finished(names)
        self._pending: list[OpenStream] = []
        self.position = offset
        """Offset of the next record to take."""
        self.sent: frozenset[bytes] = frozenset()
        """Keys of streams whose output is on its topic although no commit says so; they are not sent again."""
        self.reach: int | None = None
        """Up to where a worker before this one may have read, once known; till then `sent` and its names matter."""
        self.start = offset
        """Where it was taken over: the first record's offset if nothing was committed."""
        self.feeding: OpenStream | None = None
        """The stream at work, for whoever catches what a processor raises."""
        self.out: list[Publish | DeadLetter] = []
        """What is to be published, in order; the worker takes it."""

    def __len__(self) -> int:
        return len(self._open)

    def commit_point(self) -> Point:
        """What may be committed once everything in `out` is durable."""
        oldest = next(iter(self._open.values()), None)
        offset = oldest.first_offset if oldest else self.position
        reach = self.reach
        point = self._finished.point(offset, is_behind=reach is None or offset < reach)
        if reach is not None and offset >= reach:
            self.sent = frozenset()
        return replace(point, passed=None) if self.sent else point

    def read_again(self, offset: int, names: str) -> "Partition":
        """The same partition as it was at a commit, after a processor raised; what was published since is known."""
        assert self.feeding is not None
        again = Partition(self._chain, offset, names, self._poisoned, self._now)
        again.sent = self.sent
        again.reach = max(self.reach or 0, self.feeding.record.offset + 1)
        if not self._is_held:
            again.sent |= {_key(stream_id) for stream_id in self._finished}
        return again

    def take(self, records: Sequence[Record]) -> None:
        """Feed records in order; what follows from them is in `out`."""
        if records and self.start < 0:
            self.start = records[0].offset
        if self._chain.reads_tokens:
            self._take_tokens(records)
        else:
            for record in records:
                self._take_event(record)
        if records:
            self.position = records[-1].offset + 1

    def cut_idle(self, idle_s_max: float) -> None:
        """End streams without a record for that long; called when the partition has been read to its end."""
        deadline = self._now() - idle_s_max
        for stream in [stream for stream in self._open.values() if stream.touched < deadline]:
            self._cut(stream, FailureCode.STREAM_IDLE)

    def cut_oldest(self, count: int) -> None:
        """End the streams that were idle for longest: there are too many."""
        for stream in sorted(self._open.values(), key=lambda stream: stream.touched)[:count]:
            self._cut(stream, FailureCode.STREAM_IDLE)

    def _give_up(self, stream: OpenStream, message: str) -> None:
        """A stream's record made a processor raise twice: dead letter, and an output that says so and nothing else."""
        self.out.append(DeadLetter(stream.record, FailureCode.CRASHED, message))
        stream_id, ts, writes = stream.stream_id, float(stream.record.timestamp), self._chain.writes[-1]
        failure = Failure(stream_id=stream_id, code=FailureCode.CRASHED, stage=Stage.DECODE, found=message)
        closed = Closed(stream_id=stream_id, chars=0, tokens=0, truncated=True, ts=ts)
        output = Output(stream_id=stream_id, failures=(failure,), ts=ts)
        events = (failure, output if "output/1" in writes else closed)
        topics = [(writes.get(event.schema) or writes.get("*"), event) for event in events]
        self._publish(stream, [(topic, event) for topic, event in topics if topic])
        self._end(stream)

    def _take_tokens(self, records: Sequence[Record]) -> None:
        streams, pending = self._open, self._pending
        for record, plain in zip(records, plain_tokens([record.value for record in records]), strict=True):
            stream = streams.get(plain[0]) if plain is not None else None
            if stream is None or plain is None or plain[1] != stream.next_seq or stream.is_suspect:
                self._take_token(record)
                continue
            texts = stream.texts
            if not texts:
                pending.append(stream)
            texts.append(plain[2])
            stream.next_seq += 1
            stream.record = record
        while pending:
            self._feed_texts(pending.pop())

    def _take_token(self, record: Record) -> None:
        """The first delta of a stream, its last, one out of turn, or a record that is none."""
        try:
            token = decode_token(record.value)
        except UndecodableError as error:
            self._take_foreign(record, str(error))
            return
        self._take_decoded(record, token)

    def _take_foreign(self, record: Record, why: str) -> None:
        """A record in the shape of a model server's own stream, a CloudEvent, plain text, or of no known shape."""
        found = read_record(record.value, record.key, record.headers)
        if isinstance(found, Token):
            self._take_decoded(record, found)
            return
        if isinstance(found, str):
            self.out.append(DeadLetter(record, FailureCode.UNDECODABLE, f"{why}; {found}"))
            return
        for part in found.parts:
            stream_id = f"{found.stream_id}#{part.choice}" if part.choice else found.stream_id
            stream = self._open.get(stream_id)
            if stream is None and stream_id in self._finished:
                end = self._finished.next_seq(stream_id) if part.text or part.reasoning or part.calls else None
                self._after_end(record, stream_id, end)
                continue
            line = stream.foreign if stream is not None else None
            line = line or ForeignLine(stream_id, found.meta)
            token = line.token(part, stream.next_seq if stream is not None else 0)
            if token is not None:
                self._take_decoded(record, token)
            if (stream := self._open.get(stream_id)) is not None:
                stream.foreign = line

    def _take_decoded(self, record: Record, token: Token) -> None:
        stream = self._open.get(token.stream_id)
        if stream is None:
            if token.stream_id in self._finished:
                self._after_end(record, token.stream_id, token.seq)
                return
            if token.seq and self._is_sent(token.stream_id):  # it began before the commit and is whole on its topic
                return
            stream = self._opened(token.stream_id, record)
        if token.seq < stream.next_seq:
            return
        self._feed_texts(stream)
        stream.record = record
        stream.next_seq = token.seq + token.count
        if stream.half is not None or is_torn(token.text):
            token = replace(token, text=stream.whole(token.text, is_last=token.done))
        self._feed(stream, token if token.ts is not None else replace(token, ts=float(record.timestamp)))

    def _take_event(self, record: Record) -> None:
        try:
            event = decode(record.value)
        except UndecodableError as error:
            self.out.append(DeadLetter(record, FailureCode.UNDECODABLE, str(error)))
            return
        stream_id = str(getattr(event, "stream_id", ""))
        number = _number(record)
        stream = self._open.get(stream_id)
        if stream is None:
            if stream_id in self._finished:
                self._after_end(record, stream_id, number)
                return
            if number and self._is_sent(stream_id):
                return
            stream = self._opened(stream_id, record)
        if number is not None and number < stream.next_seq:
            return
        stream.record = record
        stream.next_seq = stream.next_seq + 1 if number is None else number + 1
        self._feed(stream, event)

    def _opened(self, stream_id: str, record: Record) -> OpenStream:
        stream = self._open[stream_id] = OpenStream(stream_id, self._chain.open(), record)
        stream.is_suspect = stream_id in self._poisoned.once
        return stream

    def _after_end(self, record: Record, stream_id: str, seq: int | None) -> None:
        """A repeat of what the stream had is dropped; anything new can't be used any more."""
        end = self._finished.next_seq(stream_id)
        if end is not None and seq is not None and seq >= end:
            self.out.append(DeadLetter(record, FailureCode.AFTER_END, f"stream ended with seq {end - 1}"))

    def _feed_texts(self, stream: OpenStream) -> None:
        texts = stream.texts
        if not texts:
            return
        count, text = len(texts), "".join(texts)
        texts.clear()
        if stream.half is not None:
            text = stream.whole(text, is_last=False)
        first = stream.next_seq - count
        ts = float(stream.record.timestamp)
        self._feed(stream, Token(stream_id=stream.stream_id, seq=first, text=text, ts=ts, count=count))

    def _feed(self, stream: OpenStream, event: Event) -> None:
        self.feeding = stream
        twice = self._poisoned.twice.get(stream.stream_id) if self._poisoned.twice else None
        if twice and twice[0] == stream.record.offset:
            self._give_up(stream, twice[1])
            return
        stream.touched = self._now()
        self._publish(stream, stream.line.feed(event))
        if stream.line.is_closed:
            self._end(stream)

    def _cut(self, stream: OpenStream, code: FailureCode) -> None:
        self.feeding = stream
        self._publish(stream, stream.line.cut(stream.stream_id, code, float(stream.record.timestamp)))
        self._end(stream)

    def _publish(self, stream: OpenStream, found: Iterable[tuple[str, Event]]) -> None:
        target: list[Any] = stream.held if self._is_held else self.out
        for topic, event in found:
            number, stream.number = stream.number, stream.number + 1
            if type(event) is not Output:
                target.append(Publish(topic, stream.stream_id, event, number, stream.trace))
            elif not self._is_sent(stream.stream_id):
                timed = _timed(event, stream.record.timestamp, self._now())
                target.append(Publish(topic, stream.stream_id, timed, number, stream.trace))

    def _is_sent(self, stream_id: str) -> bool:
        return bool(self.sent) and _key(stream_id) in self.sent

    def _end(self, stream: OpenStream) -> None:
        if stream.held and not self._is_sent(stream.stream_id):
            self.out += stream.held
        del self._open[stream.stream_id]
        self._finished.add(stream.stream_id, stream.record.offset, stream.next_seq)


def _timed(output: Output, timestamp: int, now_s: float) -> Output:
    """An output with its time, that of the stream's last record, and how long it took from there."""
    ts = output.ts if output.ts is not None else float(timestamp)
    return replace(output, ts=ts, latency_ms=round(max(0.0, now_s * 1000 - ts), 3))


def _key(stream_id: str) -> bytes:
    return stream_id.encode("utf-8", "replace")


def _number(record: Record) -> int | None:
    for key, value in record.headers:
        if key == NUMBER_HEADER and value.isdigit():
            return int(value)
    return None
