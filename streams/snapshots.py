"""The registry's snapshot in force in this process: followed while Redis is there, kept while it is not."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from processors.snapshot import Snapshot, key_of, snapshot_of
from schemas.pattern import Pattern, PatternKind, PatternState
from streams.pattern_registry import connected
from streams.settings import ServerAwayError, Settings
from streams.worker import pause

FIRST_S_MAX = 5.0
"""How long a worker waits at its start for the first snapshot, before it goes on with the shipped catalogues alone."""
AGAIN_S = 1.0
ALONE = -2
"""Version of a snapshot that is only made to try some entries."""

log = logging.getLogger(__name__)


class Snapshots:
    """Holds the latest snapshot; a stream's processors take it once, at the stream's start."""

    def __init__(self, check: Callable[[Snapshot], object] = lambda _: None) -> None:
        """check: compiles a snapshot, in a thread; raises ValueError for one that no processor can be built from."""
        self._check = check
        self._current = Snapshot()
        self.is_known = asyncio.Event()
        """Set once the registry has been read."""

    def current(self) -> Snapshot:
        """The snapshot for a stream that starts now."""
        return self._current

    async def follow(self, settings: Settings, stop: asyncio.Event) -> None:
        """Take each new snapshot until `stop` is set; a registry that is away is asked again each second."""
        following = asyncio.create_task(self._follow(settings, stop))
        await stop.wait()
        following.cancel()

    async def wait_for_first(self) -> None:
        """Wait for the first snapshot, not for long: parsing does not depend on the registry."""
        try:
            await asyncio.wait_for(self.is_known.wait(), FIRST_S_MAX)
        except TimeoutError:
            log.warning("the registry does not answer; starting with the shipped catalogues alone")

    async def _follow(self, settings: Settings, stop: asyncio.Event) -> None:
        while not stop.is_set():
            with suppress(ServerAwayError):
                await self._take_each(settings)
            await pause(stop, AGAIN_S)

    async def _take_each(self, settings: Settings) -> None:
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            async for snapshot in registry.follow():
                await self._take(snapshot)
                self.is_known.set()

    async def _take(self, snapshot: Snapshot) -> None:
        try:
            self._current = await asyncio.to_thread(self._usable, snapshot)
        except ValueError as error:
            log.warning("registry version %d is not used: %s", snapshot.version, _first_line(error))

    def _usable(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot, without the entries that nothing can be built from: one bad entry must not keep all out."""
        try:
            self._check(snapshot)
        except ValueError:
            bad = {key_of(entry) for kind in PatternKind for entry in self._bad(snapshot, kind)}
            kept = [entry for key, entry in snapshot.entries.items() if key not in bad]
            snapshot = snapshot_of(kept, snapshot.version)
            self._check(snapshot)
        return snapshot

    def _bad(self, snapshot: Snapshot, kind: PatternKind) -> Iterator[Pattern]:
        entries = snapshot.of(kind, PatternState.ACTIVE, PatternState.CANARY)
        if self._why_not(entries):
            for entry in entries:
                if why := self._why_not([entry]):
                    log.warning("registry: entry %s was left out: %s", key_of(entry), why)
                    yield entry

    def _why_not(self, entries: Iterable[Pattern]) -> str:
        try:
            self._check(snapshot_of(entries, ALONE))
        except ValueError as error:
            return _first_line(error)
        return ""


def _first_line(error: ValueError) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
