"""A user's stream → the very same objects, in the same order, without delay; what they say also goes to Kafka.

Nothing that goes wrong on Kafka's side reaches the user's loop, and what the user's stream raises passes unchanged,
after the stream's end was noted. All other attributes are those of the wrapped stream.
"""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from processors.channels.items import ItemReader
from processors.channels.render import Renderer
from schemas.token import Meta
from streams.client.waiting import Line, Waiting

T = TypeVar("T")
ROOM_ASKED_S = 0.01
"""How often a stream that waits for room looks again."""


class Noting(Protocol):
    """Where a stream's parts go."""

    waiting: Waiting

    def wake(self) -> None:
        """Say that something waits."""

    def may_block(self) -> bool:
        """Whether the calling thread may be stopped without stopping the delivery itself."""


class Notes:
    """What is noted of one stream: its answers, each a line of its own."""

    __slots__ = ("_is_over", "_lines", "_meta", "_reader", "_target", "stream_id")

    def __init__(self, target: Noting, stream_id: str, meta: Meta) -> None:
        self._target = target
        self._meta = meta
        self._reader = ItemReader()
        self._lines: dict[int, Line] = {}
        self._is_over = False
        self.stream_id = stream_id

    def note(self, item: object) -> None:
        """What one object says."""
        waiting = self._target.waiting
        for part in self._reader.read(item):
            waiting.add(self._lines.get(part.choice) or self._line(part.choice), part)
        self._target.wake()

    def end(self, reason: str | None = None) -> None:
        """The stream is over; a second end is none."""
        if self._is_over:
            return
        self._is_over = True
        for line in [*self._lines.values()] or [self._line(0)]:
            self._target.waiting.end(line, reason)
        self._target.wake()

    @property
    def must_wait(self) -> bool:
        """Whether the next object should not be taken yet."""
        return self._target.waiting.is_full and not self._target.waiting.drops

    @property
    def may_block(self) -> bool:
        """Whether this thread may sleep."""
        return self._target.may_block()

    def _line(self, choice: int) -> Line:
        name = f"{self.stream_id}#{choice}" if choice else self.stream_id
        line = self._lines[choice] = Line(name, self._meta, Renderer())
        return line


class Tee:
    """What every tee has: the stream's own attributes, and an end when it is thrown away."""

    def __init__(self, stream: object, notes: Notes) -> None:
        self._stream = stream
        self._notes = notes
        self.stream_id = notes.stream_id
        """Id of the stream, and of its output."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.__dict__["_stream"], name)

    def __del__(self) -> None:
        if (notes := self.__dict__.get("_notes")) is not None:
            notes.end("abandoned")

    def _failed(self, error: BaseException) -> None:
        """What taking the next object raised."""
        self._notes.end(None if isinstance(error, StopIteration | StopAsyncIteration) else "error")


class SyncTee(Tee, Generic[T]):
    """Iterates a stream; use it in place of the stream."""

    def __init__(self, stream: Iterable[T], notes: Notes) -> None:
        super().__init__(stream, notes)
        self._items: Iterator[T] = iter(stream)

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        while self._notes.must_wait and self._notes.may_block:
            time.sleep(ROOM_ASKED_S)
        try:
            item = next(self._items)
        except BaseException as error:
            self._failed(error)
            raise
        self._notes.note(item)
        return item

    def __enter__(self) -> Self:
        enter = getattr(self._stream, "__enter__", None)
        if enter is not None:
            enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notes.end("abandoned" if error is None else "error")
        leave = getattr(self._stream, "__exit__", None) or (lambda *_: _call(self._stream, "close"))
        leave(kind, error, trace)

    def close(self) -> None:
        """Leave the stream before its end."""
        self._notes.end("abandoned")
        _call(self._stream, "close")


class AsyncTee(Tee, Generic[T]):
    """Iterates an asynchronous stream; use it in place of the stream."""

    def __init__(self, stream: AsyncIterable[T], notes: Notes) -> None:
        super().__init__(stream, notes)
        self._later_items: AsyncIterator[T] = aiter(stream)

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        while self._notes.must_wait:  # noqa: ASYNC110 - other threads and loops make room
            await asyncio.sleep(ROOM_ASKED_S)
        try:
            item = await anext(self._later_items)
        except BaseException as error:
            self._failed(error)
            raise
        self._notes.note(item)
        return item

    async def __aenter__(self) -> Self:
        enter = getattr(self._stream, "__aenter__", None)
        if enter is not None:
            await enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notes.end("abandoned" if error is None else "error")
        leave = getattr(self._stream, "__aexit__", None)
        if leave is not None:
            await leave(kind, error, trace)
        else:
            await self.aclose()

    async def aclose(self) -> None:
        """Leave the stream before its end."""
        self._notes.end("abandoned")
        for name in ("aclose", "close"):
            if getattr(self._stream, name, None) is not None:
                left = _call(self._stream, name)
                if asyncio.iscoroutine(left):
                    await left
                return


class EitherTee(SyncTee[T], AsyncTee[T]):
    """Iterates a stream that may be read either way, as LiteLLM's are; `close` and `aclose` are as it is read."""

    def __init__(self, stream: Iterable[T], notes: Notes) -> None:
        assert isinstance(stream, AsyncIterable)
        Tee.__init__(self, stream, notes)
        self._items, self._later_items = iter(stream), aiter(stream)


def tee_of(stream: AsyncIterable[T] | Iterable[T], notes: Notes) -> AsyncTee[T] | SyncTee[T]:
    """The tee that can be read as the stream can."""
    if not isinstance(stream, AsyncIterable):
        return SyncTee(stream, notes)
    return EitherTee(stream, notes) if isinstance(stream, Iterable) else AsyncTee(stream, notes)


def _call(stream: object, name: str) -> object:
    method: Callable[[], object] | None = getattr(stream, name, None)
    return method() if method is not None else None
