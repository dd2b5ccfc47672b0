"""Streams → where their rows belong: a bounded memory of places, filled from the store after a restart.

An event may lack what its row's key needs: a tool result has no time and no run. The place that the stream's first
event made has it. The hour in a place never changes, because it is part of keys.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol

from schemas.jsonvalue import Json
from streams.rows import Place

PLACES_MAX = 200_000
"""Streams remembered: as many as a worker may have open; an older one is looked up in the store."""
HOUR_MS = 3_600_000
DAY_S = 86_400
TIME_S_MAX = 4_000_000_000


class Store(Protocol):
    """What is needed of a ClickHouse client."""

    def query(self, query: str, *, parameters: dict[str, Json]) -> Json: ...


class Places:
    """Places of recent streams; `find` asks the store once for a whole batch."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, Place] = OrderedDict()

    def get(self, stream_id: str) -> Place | None:
        """The place of a stream, if it is in memory."""
        return self._known.get(stream_id)

    def find(self, stream_ids: Iterable[str], times: tuple[float, float] | None) -> None:
        """Bring what the store knows of these streams into memory."""
        unknown = [stream_id for stream_id in stream_ids if stream_id not in self._known]
        if not unknown:
            return
        low, high = (times[0] / 1000 - DAY_S, times[1] / 1000 + DAY_S) if times else (0, TIME_S_MAX)
        found = self._store.query(
            "SELECT stream_id, tenant, run_id, toUnixTimestamp(hour), toUnixTimestamp64Milli(started_at),"
            " toUnixTimestamp64Milli(ended_at), session_id, goal_id, model, format, steps, rev FROM streams"
            " WHERE hour >= toDateTime({low:UInt32}, 'UTC') AND hour <= toDateTime({high:UInt32}, 'UTC')"
            " AND stream_id IN {ids:Array(String)} ORDER BY rev",
            parameters={"ids": unknown, "low": int(low), "high": int(high)},
        )
        for row in found.result_rows:
            place = Place(
                tenant=row[1], run_id=row[2], hour_ms=row[3] * 1000, started_ms=row[4], ended_ms=row[5],
                session_id=row[6], goal_id=row[7], model=row[8], format=row[9], steps=row[10], rev=row[11],
            )  # fmt: skip
            self._add(row[0], place)

    def calls_of(self, stream_id: str) -> dict[str, tuple[int, str]]:
        """Order and tool name of the calls that the store has of a stream, by call id."""
        found = self._store.query(
            "SELECT call_id, `order`, name FROM steps WHERE kind = 'tool_call' AND stream_id = {id:String}",
            parameters={"id": stream_id},
        )
        return {row[0]: (row[1], row[2]) for row in found.result_rows}

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
