"""What users' streams gave and Kafka has not yet → tokens, few and large; bounded, shared by threads.

A stream only puts its parts in a queue; everything else is done by whoever takes. Deltas that come while a batch is
under way are joined: any cutting of a text gives the same output, so fewer tokens only cost less. One token for each
stream is given at a time: if its delivery fails, it is delivered again before anything that follows.
"""

import threading
from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from processors.channels.part import Part
from processors.channels.render import Renderer
from schemas.jsonvalue import JsonObject
from schemas.token import Meta, Token

TOKEN_CHARS_MAX = 200_000
"""Longest token: below the 1 MB that a broker takes, with four bytes a character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may wait for Kafka, and what then."""

    waiting_chars_max: int = 64_000_000
    """Hours of one stream, minutes of a thousand."""
    when_full: Literal["wait", "drop"] = "wait"
    """`wait`: streams are slowed until Kafka takes something. `drop`: they go on; what is lost is counted, and shows
    as `missing_seq` in the output."""
    folder: str | None = None
    """Where tokens are written before they go out, so that they outlive this process; none: in memory only."""
    folder_bytes_max: int = 256_000_000
    """When this much stands there undelivered, tokens wait in memory."""
    linger_ms: float = 5.0
    """How long deltas wait for company."""
    close_s_max: float = 10.0
    """How long leaving waits for what is under way."""


@dataclass(slots=True, eq=False)
class Line:
    """One stream that is being written."""

    stream_id: str
    meta: Meta
    renderer: Renderer
    seq: int = 0
    lost: int = 0
    """Deltas dropped since the last that was kept."""
    rest: str = ""
    """Written, and too long for the last token."""
    is_begun: bool = False
    is_over: bool = False
    finish_reason: str | None = None
    usage: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The end of a stream; `reason` where it did not come to its own."""

    reason: str | None = None


class Waiting:
    """The queue of all streams of one producer."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._queue: deque[tuple[Line, Part | End | int]] = deque()
        self._later: deque[tuple[Line, Part | End | int]] = deque()
        self._lock = threading.Lock()
        self.chars = 0
        self.under_way = 0
        """Tokens that were taken and not delivered yet."""
        self.dropped = 0
        """Deltas that were dropped because the queue was full, and it was told to."""

    def __len__(self) -> int:
        return len(self._queue) + len(self._later)

    @property
    def is_full(self) -> bool:
        """Whether more should wait, or be dropped."""
        return self.chars >= self._limits.waiting_chars_max

    @property
    def drops(self) -> bool:
        """Whether what is too much is dropped."""
        return self._limits.when_full == "drop"

    def add(self, line: Line, part: Part) -> None:
        """Take one part of a stream; never waits."""
        size = len(part.text) + len(part.reasoning) + sum(len(piece.arguments) for piece in part.calls)
        if self.is_full and self.drops:
            line.lost += 1
            self.dropped += 1
            return
        with self._lock:
            self.chars += size
        if line.lost:
            self._queue.append((line, line.lost))
            line.lost = 0
        self._queue.append((line, part))

    def end(self, line: Line, reason: str | None) -> None:
        """A stream is over; takes no lock, as an iterator may be thrown away at any place."""
        if line.lost:
            self._queue.append((line, line.lost))
            line.lost = 0
        self._queue.append((line, End(reason)))

    def take(self) -> list[Token]:
        """One token for each stream that has something."""
        joined: dict[Line, _Joined] = {}
        later: deque[tuple[Line, Part | End | int]] = deque()
        todo, self._later = self._later, later
        for entries in (todo, self._queue):
            for _ in range(len(entries)):
                line, item = entries.popleft()
                place = joined.get(line)
                if place is None:
                    place = joined[line] = _Joined(line)
                if place.is_closed or not place.add(item):
                    place.is_closed = True
                    later.append((line, item))
        tokens = []
        for place in joined.values():
            token = place.token()
            if token is not None:
                tokens.append(token)
            if place.line.rest:
                later.appendleft((place.line, Part()))
        self.under_way += len(tokens)
        return tokens

    def delivered(self, tokens: list[Token]) -> None:
        """Tokens are with Kafka, or given up: their room is free."""
        self.under_way -= len(tokens)
        with self._lock:
            self.chars = max(0, self.chars - sum(len(token.text) for token in tokens))
            if not self._queue and not self._later:
                self.chars = 0


class _Joined:
    """What becomes one token."""

    __slots__ = ("count", "is_closed", "line", "texts")

    def __init__(self, line: Line) -> None:
        self.line = line
        self.texts = [line.rest] if line.rest else []
        self.count = 0
        self.is_closed = len(line.rest) > TOKEN_CHARS_MAX

    def add(self, item: Part | End | int) -> bool:
        """Take an entry; False if it has to wait for the next token."""
        line = self.line
        if isinstance(item, int):
            if self.count or self.texts:
                return False
            line.seq += item
        elif isinstance(item, End):
            self.texts.append(line.renderer.close(is_cut=item.reason is not None))
            line.finish_reason = line.finish_reason or item.reason
            self.count += 1
            line.is_over = True
        else:
            line.finish_reason = item.finish_reason or line.finish_reason
            line.usage = {**(line.usage or {}), **item.usage} if item.usage else line.usage
            self._describe(item)
            self.texts.append(line.renderer.feed(item))
            self.count += 1
            return len(item.text) <= TOKEN_CHARS_MAX or self._stop()
        return True

    def _stop(self) -> bool:
        self.is_closed = True
        return True

    def _describe(self, part: Part) -> None:
        line = self.line
        known = line.meta
        if line.is_begun or (known.model and "response_id" in known.attrs) or not (part.model or part.response_id):
            return
        attrs = {"response_id": part.response_id, **known.attrs} if part.response_id else known.attrs
        line.meta = replace(known, model=known.model or part.model, attrs=attrs)

    def token(self) -> Token | None:
        """The token; what is too long for one stays on the line."""
        line, text = self.line, "".join(self.texts)
        text, line.rest = text[:TOKEN_CHARS_MAX], text[TOKEN_CHARS_MAX:]
        is_last = line.is_over and not line.rest
        if not text and not is_last and line.is_begun:
            return None
        count = max(1, self.count)
        token = Token(stream_id=line.stream_id, seq=line.seq, text=text, count=count, done=is_last)
        if not line.is_begun:
            line.is_begun = True
            token = replace(token, meta=line.meta)
        line.seq += count
        return replace(token, finish_reason=line.finish_reason, usage=line.usage) if is_last else token
