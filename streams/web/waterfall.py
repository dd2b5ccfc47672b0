"""A run's streams and steps → rows on one time axis, idle gaps folded.

Steps of a stream carry the stream's time; inside it they stand where their characters do, for a model writes from front
to back. Places are in thousandths of the axis, so that a page needs no script and no measuring.
"""

from dataclasses import dataclass
from datetime import datetime

from schemas.jsonvalue import JsonObject

WIDTH = 1000
BAR_MIN = 4
GAP_WIDTH = 24
"""A folded gap's width on the axis."""
GAP_SHARE = 0.08
"""A gap longer than this share of the busy time is folded."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Where something stands on the axis."""

    left: int
    width: int


@dataclass(frozen=True, slots=True)
class Axis:
    """Busy times on one axis; each is (from ms, to ms, left, width)."""

    parts: tuple[tuple[float, float, float, float], ...]

    def bar(self, start: float, end: float) -> Bar:
        """Place of a time span."""
        left, right = self._at(start), self._at(end)
        width = max(BAR_MIN, round(right - left))
        return Bar(min(round(left), WIDTH - width), width)

    @property
    def gaps(self) -> tuple[tuple[int, float], ...]:
        """Where gaps were folded, and how long they are in ms."""
        pairs = zip(self.parts, self.parts[1:], strict=False)
        return tuple((round(a[2] + a[3]), b[0] - a[1]) for a, b in pairs)

    def _at(self, moment: float) -> float:
        for start, end, left, width in self.parts:
            if moment <= end:
                return left + width * max(0.0, moment - start) / max(end - start, 1e-9)
        _, _, left, width = self.parts[-1]
        return left + width


def axis_of(spans: list[tuple[float, float]]) -> Axis:
    """Axis over spans in ms; what lies between far ones is folded."""
    merged: list[list[float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    merged = merged or [[0.0, 1.0]]
    busy = sum(end - start for start, end in merged) or 1.0
    kept: list[list[float]] = []
    for start, end in merged:
        if kept and start - kept[-1][1] <= GAP_SHARE * busy:
            kept[-1][1] = end
        else:
            kept.append([start, end])
    gap = min(GAP_WIDTH, WIDTH / 2 / len(kept))
    usable = WIDTH - gap * (len(kept) - 1)
    total = sum(end - start for start, end in kept) or 1.0
    parts, left = [], 0.0
    for start, end in kept:
        width = usable * ((end - start) / total if total > 1e-9 else 1 / len(kept))
        parts.append((start, end, left, width))
        left += width + gap
    return Axis(tuple(parts))


def rows_of(streams: list[JsonObject], steps: list[JsonObject]) -> tuple[Axis, list[JsonObject]]:
    """Rows in order: each stream, then its steps, each with its bar."""
    ends = _ends(streams, steps)
    axis = axis_of([(_ms(stream["started_at"]), ends[stream["stream_id"]]) for stream in streams])
    chars: dict[str, int] = {}
    for step in steps:
        chars[step["stream_id"]] = max(chars.get(step["stream_id"], 1), step["span_end"])
    by_id = {stream["stream_id"]: stream for stream in streams}
    rows: list[JsonObject] = []
    shown = ""
    for step in steps:
        stream = by_id.get(step["stream_id"])
        if stream and step["stream_id"] != shown:
            rows.append(
                {"is_stream": True, "bar": axis.bar(_ms(stream["started_at"]), _ms(stream["ended_at"])), **stream}
            )
        shown = step["stream_id"]
        rows.append({"is_stream": False, "bar": _bar(axis, step, stream, chars[shown]), **step})
    return axis, rows


def _bar(axis: Axis, step: JsonObject, stream: JsonObject | None, chars: int) -> Bar:
    start = _ms(stream["started_at"] if stream else step["started_at"])
    end = _ms(stream["ended_at"]) if stream else start
    if step["kind"] == "tool_result":
        return axis.bar(end, end + step["duration_ms"])
    scale = (end - start) / chars
    return axis.bar(start + step["span_start"] * scale, start + step["span_end"] * scale)


def _ends(streams: list[JsonObject], steps: list[JsonObject]) -> dict[str, float]:
    """When each stream, and the tools that it called, had ended."""
    tools: dict[str, float] = {}
    for step in steps:
        if step["kind"] == "tool_result":
            tools[step["stream_id"]] = max(tools.get(step["stream_id"], 0), step["duration_ms"])
    return {stream["stream_id"]: _ms(stream["ended_at"]) + tools.get(stream["stream_id"], 0) for stream in streams}


def _ms(moment: datetime) -> float:
    return moment.timestamp() * 1000
