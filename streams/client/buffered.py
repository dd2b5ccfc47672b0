"""Tokens → a folder on disk → Kafka: two tasks, so that tokens are safe in milliseconds however long Kafka is away.

Files are read and written in a thread of its own, never on the loop. When the disk takes nothing (it is full, it is
gone), what it holds is delivered first and then the tokens at hand, straight from memory.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from schemas.token import Token
from streams.client.disk import DiskBuffer
from streams.client.sending import AGAIN_S_MAX, Sender

T = TypeVar("T")
log = logging.getLogger(__name__)


class Buffered:
    """A sender with a disk before it."""

    def __init__(self, sender: Sender, folder: str | os.PathLike[str], bytes_max: int) -> None:
        self._sender = sender
        self._given = folder, bytes_max
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hermes-streams-buffer")
        self._disk: DiskBuffer | None = None
        self._written = asyncio.Event()
        self._moved = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    @property
    def disk(self) -> DiskBuffer:
        """What is on disk."""
        assert self._disk is not None, "not started"
        return self._disk

    async def start(self) -> None:
        """Take the folder and deliver what a former process left there. Raises ConfigError."""
        self._disk = await self._do(lambda: DiskBuffer(*self._given))
        self._task = asyncio.create_task(self._run())
        self._written.set()

    async def keep(self, tokens: list[Token]) -> None:
        """Write tokens; comes back when they are safe, which is later when the buffer is full."""
        async with self._moved:
            await self._moved.wait_for(lambda: not self.disk.is_full)
        try:
            await self._do(lambda: self.disk.append(tokens))
        except OSError as error:
            log.warning("the buffer's disk takes nothing", extra={"error": error.strerror or str(error)})
            await self.emptied()
            await self._sender.deliver(tokens)
        self._written.set()

    async def emptied(self) -> None:
        """Wait until Kafka has all that was written."""
        async with self._moved:
            await self._moved.wait_for(lambda: not self.disk.bytes)

    async def stop(self, s_max: float) -> None:
        """Deliver what can be in this time; the rest stays on disk for the next process."""
        if self._task is not None:
            try:
                await asyncio.wait_for(self.emptied(), s_max)
            except TimeoutError:
                log.warning("the buffer keeps what Kafka did not take", extra={"bytes": self.disk.bytes})
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._do(self.disk.close)
        self._thread.shutdown()

    async def _run(self) -> None:
        while True:
            await self._written.wait()
            self._written.clear()
            while tokens := await self._insisted(self.disk.batch):
                await self._sender.deliver(tokens)
                await self._insisted(self.disk.advance)
                async with self._moved:
                    self._moved.notify_all()

    async def _insisted(self, act: Callable[[], T]) -> T:
        while True:
            try:
                return await self._do(act)
            except OSError as error:
                log.warning("the buffer can't be read", extra={"error": error.strerror or str(error)})
                await asyncio.sleep(AGAIN_S_MAX)

    async def _do(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, act)
