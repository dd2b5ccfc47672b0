"""Goal text → the most similar reusable reasoning records, for a prompt builder. `recall(...)` is the Python call.

Two queries. The first asks how frequent the goal's features are; the second reads the postings of the rarest ones, up
to a bound, and fetches the best candidates by key. Their likeness (cosine over weighted words) is then computed in
full. So the cost follows the bound and not the number of records. Frequencies are remembered by a `Recall`; they
change slowly.
"""

from contextlib import closing
from dataclasses import dataclass

import orjson

from processors.reasoning.goals import Features, features_of, tool_hash
from schemas.jsonvalue import Json, JsonObject
from streams.store import Reader

POSTINGS_MAX = 30_000
"""Postings that one search reads at most, unless the rarest feature alone has more."""
CANDIDATES_MORE = 4
"""Records fetched beyond those asked for: the postings that were read leave common words out of the order."""
RECALLED_MAX = 100
"""Records of one answer."""
COUNTS_KEPT_MAX = 100_000
LIKENESS_MIN = 0.05
"""Below this two goals share hardly a word."""

_COUNTS = """SELECT feature, sum(records) FROM record_feature_counts
WHERE tenant = {tenant:String} AND feature IN {features:Array(UInt32)} GROUP BY feature"""
_BEST = """SELECT record_id, goal, tools, confidence, repairs, stream_id, run_id,
  toStartOfHour(created_at) AS hour, goal_id, features, weights, norm, body
FROM reasoning_records FINAL
WHERE tenant = {tenant:String} AND reusable AND record IN (
  SELECT record FROM record_features
  WHERE tenant = {tenant:String} AND feature IN {features:Array(UInt32)}{only}
  GROUP BY record ORDER BY sum(share) DESC, record LIMIT {candidates:UInt32})"""
_FAILED = """SELECT DISTINCT stream_id FROM steps FINAL
WHERE tenant = {tenant:String} AND toStartOfHour(started_at) IN {hours:Array(DateTime('UTC'))}
  AND run_id IN {runs:Array(String)} AND stream_id IN {streams:Array(String)}
  AND kind = 'tool_result' AND status != 'ok'"""
_OF_TOOL = " AND has(tools, {tool:UInt32})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """One similar record."""

    score: float
    """Likeness of the goals, 0 to 1."""
    record_id: str
    goal: str
    tools: tuple[str, ...]
    confidence: float
    repairs: int
    stream_id: str
    record: JsonObject


class Recall:
    """Searches one store; may be kept and asked again."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._counts: dict[tuple[str, int], int] = {}

    def find(self, goal: str, *, tool: str | None = None, n: int = 5, tenant: str = "default") -> list[Recalled]:
        """The n most similar reusable records, best first; with a tool, only records whose calls used it."""
        wanted = features_of(goal)
        rare = self._rarest(wanted, tenant)
        if not rare:
            return []
        given: dict[str, Json] = {
            "tenant": tenant, "features": rare, "tool": tool_hash(tool) if tool else 0,
            "candidates": n + CANDIDATES_MORE,
        }  # fmt: skip
        rows = self._reader.query(_BEST.replace("{only}", _OF_TOOL if tool else ""), given).records()
        failed = self._failed(rows, tenant)
        found = [_recalled(row, wanted) for row in rows if row["stream_id"] not in failed]
        near = [one for one in found if one.score >= LIKENESS_MIN]
        return sorted(near, key=lambda one: (-one.score, one.record_id))[:n]

    def _failed(self, rows: list[JsonObject], tenant: str) -> set[str]:
        """Streams of which a call turned out to fail, after their record was written."""
        if not rows:
            return set()
        given: dict[str, Json] = {
            "tenant": tenant, "hours": sorted({row["hour"] for row in rows}),
            "runs": [row["run_id"] for row in rows], "streams": [row["stream_id"] for row in rows],
        }  # fmt: skip
        return {row[0] for row in self._reader.query(_FAILED, given).rows}

    def _rarest(self, wanted: Features, tenant: str) -> list[int]:
        """Features that some record has, the rarest first, as far as their postings may be read."""
        unknown = [feature for feature in wanted.hashes if (tenant, feature) not in self._counts]
        if unknown:
            if len(self._counts) > COUNTS_KEPT_MAX:
                self._counts.clear()
            rows = self._reader.query(_COUNTS, {"tenant": tenant, "features": unknown}).rows
            self._counts |= {(tenant, int(feature)): int(count) for feature, count in rows}
        counted = sorted((self._counts.get((tenant, feature), 0), feature) for feature in wanted.hashes)
        chosen: list[int] = []
        read = 0
        for count, feature in counted:
            if count and (not chosen or read + count <= POSTINGS_MAX):
                chosen.append(feature)
                read += count
        return chosen


def recall(dsn: str, goal: str, *, tool: str | None = None, n: int = 5, tenant: str = "default") -> list[Recalled]:
    """One search over the store at `dsn`; raises ServerAwayError. For many, keep a `Recall`."""
    with closing(Reader(dsn)) as reader:
        return Recall(reader).find(goal, tool=tool, n=n, tenant=tenant)


def _recalled(row: JsonObject, wanted: Features) -> Recalled:
    weights = dict(zip(row["features"], row["weights"], strict=True))
    shared = sum(
        weight * weights.get(feature, 0.0) for feature, weight in zip(wanted.hashes, wanted.weights, strict=True)
    )
    return Recalled(
        score=round(min(1.0, shared / (wanted.norm * row["norm"])), 4),
        record_id=row["record_id"],
        goal=row["goal"],
        tools=tuple(row["tools"]),
        confidence=round(row["confidence"], 4),
        repairs=row["repairs"],
        stream_id=row["stream_id"],
        record=orjson.loads(row["body"]),
    )
