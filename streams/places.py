"""Streams → where their rows belong: a bounded memory of places, filled from the store after a restart.

An event may lack what its row's key needs: a tool result has no time and no run. The place that the stream's first
event made has it. The hour in a place never changes, because it is part of keys.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable

from streams.rows import Place

PLACES_MAX = 200_000
"""Streams remembered: as many as a worker may have open; an older one is looked up in the store."""
HOUR_MS = 3_600_000

Lookup = Callable[[set[str], "tuple[float, float] | None"], dict[str, Place]]
"""Stream ids and the range of times in ms in which they may have started (None: any) → places in the store."""


class Places:
    """Places of recent streams; `find` asks the store once for a whole batch."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._known: OrderedDict[str, Place] = OrderedDict()

    def get(self, stream_id: str) -> Place | None:
        """The place of a stream, if it is in memory."""
        return self._known.get(stream_id)

    def find(self, stream_ids: Iterable[str], times: tuple[float, float] | None) -> None:
        """Bring what the store knows of these streams into memory."""
        if unknown := {stream_id for stream_id in stream_ids if stream_id not in self._known}:
            for stream_id, place in self._lookup(unknown, times).items():
                self._add(stream_id, place)

    def of(self, stream_id: str, started_ms: int, tenant: str, run_id: str) -> Place:
        """The place of a stream; a stream not seen before is placed at this time."""
        place = self._known.get(stream_id)
        if place is None:
            hour_ms = started_ms - started_ms % HOUR_MS
            place = Place(tenant=tenant, run_id=run_id, hour_ms=hour_ms, started_ms=started_ms)
            self._add(stream_id, place)
        return place

    def forget(self, stream_ids: Iterable[str]) -> None:
        """Drop streams whose rows were deleted."""
        for stream_id in stream_ids:
            self._known.pop(stream_id, None)

    def _add(self, stream_id: str, place: Place) -> None:
        self._known[stream_id] = place
        if len(self._known) > PLACES_MAX:
            self._known.popitem(last=False)
