"""The event loop's own beat → whether this process was stopped for longer than its group waits for it.

A process that was paused, suspended or starved for longer than the session timeout has lost its partitions to another
member, which writes what was still waiting to be sent here. So the first thing that runs when the process goes on must
stop the producer: a timer of the event loop, which comes before any task.
"""

import asyncio
import time
from collections.abc import Callable

BEAT_S = 0.25


class SessionLostError(RuntimeError):
    """The process did nothing for longer than the session timeout: its partitions are somebody else's now."""


class Pulse:
    """Knows how long ago the event loop last ran; `lost` is called once it was too long."""

    def __init__(self, session_s: float, lost: Callable[[SessionLostError], None]) -> None:
        self._session_s = session_s
        self._on_lost = lost
        self._last = time.monotonic()
        self._every_s = min(BEAT_S, session_s / 4)
        self._timer: asyncio.TimerHandle | None = None
        self._ended = asyncio.Event()
        self._error: SessionLostError | None = None

    async def beat(self, stop: asyncio.Event) -> None:
        """Watch until `stop` is set; raises SessionLostError."""
        self._tick()
        waits = [asyncio.create_task(event.wait()) for event in (stop, self._ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if self._timer is not None:
                self._timer.cancel()
            for wait in waits:
                wait.cancel()
        self.check()

    def check(self) -> None:
        """Raise SessionLostError before anything is sent that another member may have sent by now."""
        asleep_s = time.monotonic() - self._last
        if self._error is None and asleep_s > self._session_s:
            self._error = SessionLostError(f"nothing was done for {asleep_s:.1f} s")
            self._ended.set()
            self._on_lost(self._error)
        if self._error is not None:
            raise self._error

    def _tick(self) -> None:
        try:
            self.check()
        except SessionLostError:  # `beat` raises it where it is seen
            return
        self._last = time.monotonic()
        self._timer = asyncio.get_running_loop().call_later(self._every_s, self._tick)
