"""Users' streams, or single tokens → `llm.tokens`.

Kafka being away is the producer's own trouble: it connects again and again, holds what came meanwhile up to a limit, in
memory or in a folder, and delivers it in order. Leaving the context waits a bounded time for what is under way.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from types import TracebackType
from typing import Self, TypeVar, overload
from uuid import uuid4

from processors.channels.request import meta_of_request
from schemas.token import Meta, Token
from streams.client.buffered import Buffered
from streams.client.sending import Sender
from streams.client.tee import AsyncTee, Notes, SyncTee, tee_of
from streams.client.waiting import Limits, Waiting
from streams.settings import Settings, load

T = TypeVar("T")
log = logging.getLogger(__name__)


class TokenProducer:
    """Writes to `llm.tokens`; use it as an async context."""

    def __init__(
        self, settings: Settings | None = None, *, limits: Limits | None = None, must_connect: bool = False
    ) -> None:
        """settings: from the environment if none. must_connect: raise ServerAwayError if Kafka is away at the start."""
        self._limits = limits or Limits()
        self._must_connect = must_connect
        self._sender = Sender(settings or load())
        folder = self._limits.folder
        self._buffered = Buffered(self._sender, folder, self._limits.folder_bytes_max) if folder is not None else None
        self._pump: asyncio.Task[None] | None = None
        self._event = asyncio.Event()
        self._is_awake = False
        self._is_closing = False
        self._thread = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self.waiting = Waiting(self._limits)
        """What Kafka does not have yet; `waiting.dropped` counts what was told to be dropped."""

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        await self._sender.start(must_connect=self._must_connect)
        if self._buffered is not None:
            try:
                await self._buffered.start()
            except BaseException:
                await self._sender.stop(self._limits.close_s_max)
                raise
        self._pump = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closing = True
        self.wake()
        if self._pump is not None:
            await asyncio.wait({self._pump}, timeout=self._limits.close_s_max)
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
        if left := self.waiting.chars:
            log.warning("characters were not delivered", extra={"chars": left})
        if self._buffered is not None:
            await self._buffered.stop(self._limits.close_s_max)
        await self._sender.stop(self._limits.close_s_max)

    @overload
    def tee(
        self, stream: AsyncIterable[T], request: Mapping[str, object] | None = ..., **about: object
    ) -> AsyncTee[T]: ...
    @overload
    def tee(self, stream: Iterable[T], request: Mapping[str, object] | None = ..., **about: object) -> SyncTee[T]: ...
    def tee(
        self, stream: AsyncIterable[T] | Iterable[T], request: Mapping[str, object] | None = None, **about: object
    ) -> AsyncTee[T] | SyncTee[T]:
        """The same stream, noted.

        request: the arguments of the request (`model`, `messages`, `tools` …), for repair against the tools' schemas.
        about: `stream_id`, and fields of `Meta` (`tenant`, `run_id`, `user`, `tools` …), which outrank the request.
        """
        return tee(self, stream, request, about)

    async def send(self, token: Token) -> None:
        """Give one token of your own making; waits while the client's buffer is full, raises when Kafka is away.

        With a folder, it comes back when the token is on disk.
        """
        if self._buffered is not None:
            await self._buffered.keep([token])
        else:
            await self._sender.send(token)

    async def flush(self) -> None:
        """Wait until all that was given is acknowledged; raises the client's errors for tokens of `send`."""
        while len(self.waiting) or self.waiting.under_way:  # noqa: ASYNC110 - threads fill the queue too
            await asyncio.sleep(self._limits.linger_ms / 1000)
        if self._buffered is not None:
            await self._buffered.emptied()
        await self._sender.flush()

    @property
    def refused(self) -> int:
        """Tokens that the broker refused for their size."""
        return self._sender.refused

    def wake(self) -> None:
        """Something waits; from any thread."""
        if not self._is_awake and self._loop is not None and not self._loop.is_closed():
            self._is_awake = True
            self._loop.call_soon_threadsafe(self._event.set)

    def may_block(self) -> bool:
        """Whether the calling thread may be stopped without stopping the delivery itself."""
        return threading.get_ident() != self._thread

    async def _run(self) -> None:
        while not (self._is_closing and not len(self.waiting)):
            await self._event.wait()
            self._event.clear()
            await asyncio.sleep(0 if self._is_closing else self._limits.linger_ms / 1000)
            self._is_awake = False
            while tokens := self.waiting.take():
                await (self._sender.deliver(tokens) if self._buffered is None else self._buffered.keep(tokens))
                self.waiting.delivered(tokens)


class SyncTokenProducer:
    """The same for programs without an event loop, which runs in a thread of its own."""

    def __init__(
        self, settings: Settings | None = None, *, limits: Limits | None = None, must_connect: bool = False
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hermes-streams-producer", daemon=True)
        self._given = settings, limits, must_connect
        self._inner: TokenProducer | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._inner = asyncio.run_coroutine_threadsafe(self._opened(), self._loop).result()
        except BaseException:
            self._end_thread()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            asyncio.run_coroutine_threadsafe(self.inner.__aexit__(kind, error, trace), self._loop).result()
        finally:
            self._end_thread()

    @property
    def inner(self) -> TokenProducer:
        """The producer that does the work."""
        assert self._inner is not None, "use `with SyncTokenProducer(...)`"
        return self._inner

    def tee(self, stream: Iterable[T], request: Mapping[str, object] | None = None, **about: object) -> SyncTee[T]:
        """The same stream, noted; see `TokenProducer.tee`."""
        noted = tee(self.inner, stream, request, about)
        assert isinstance(noted, SyncTee)
        return noted

    def send(self, token: Token) -> None:
        """Give one token of your own making."""
        asyncio.run_coroutine_threadsafe(self.inner.send(token), self._loop).result()

    def flush(self) -> None:
        """Wait until all that was given is acknowledged."""
        asyncio.run_coroutine_threadsafe(self.inner.flush(), self._loop).result()

    async def _opened(self) -> TokenProducer:
        settings, limits, must_connect = self._given  # made here: its event belongs to this loop
        return await TokenProducer(settings, limits=limits, must_connect=must_connect).__aenter__()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def tee(
    producer: TokenProducer,
    stream: AsyncIterable[T] | Iterable[T],
    request: Mapping[str, object] | None,
    about: Mapping[str, object],
) -> AsyncTee[T] | SyncTee[T]:
    """A stream with its notes."""
    notes = notes_of(producer, request or {}, about)
    return tee_of(stream, notes)


def notes_of(producer: TokenProducer, request: Mapping[str, object], about: Mapping[str, object]) -> Notes:
    """Where a stream's parts go; raises TypeError for a field that `Meta` does not have."""
    known = {field.name for field in fields(Meta)}
    given = {name: value for name, value in about.items() if name != "stream_id" and value is not None}
    if unknown := sorted(given.keys() - known):
        raise TypeError(f"tee() knows no {unknown[0]!r}; it knows stream_id, {', '.join(sorted(known))}")
    if "tools" in given:
        given["tools"] = meta_of_request({"tools": given["tools"]}).tools
    meta = replace(meta_of_request(request), **given)  # type: ignore[arg-type]  # names were checked, types are Meta's
    meta = replace(meta, now=meta.now or datetime.now().astimezone().isoformat(timespec="seconds"))
    return Notes(producer, str(about.get("stream_id") or uuid4().hex), meta)
