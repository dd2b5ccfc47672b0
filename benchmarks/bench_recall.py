"""How long does a search for similar reasoning take? Synthetic goals with a Zipf vocabulary in an embedded chDB.

Usage: python benchmarks/bench_recall.py [RECORDS] [FOLDER]

Fills FOLDER (default: a temporary one) with RECORDS records (default 200,000) through the shipped tables and views,
then asks 200 goals that were not inserted, with and without a tool. Wall time of whole calls, three queries each.
"""

import random
import sys
import tempfile
import time

import numpy as np

from processors.reasoning.goals import features_of
from streams.migrations import migrate
from streams.recall import Recall
from streams.store import Reader, open_client

PART = 50_000
VERBS = [
    "analyse",
    "summarise",
    "compare",
    "find",
    "book",
    "check",
    "report",
    "translate",
    "convert",
    "update",
    "schedule",
    "fetch",
    "explain",
    "draft",
    "cancel",
]
BODY = (
    '{"reasoning_tree":{"nodes":['
    + ",".join(['{"id":"rn_0","content":"' + "a step of a plan " * 12 + '"}'] * 4)
    + "]}}"
)


class Goals:
    """Four to eleven words after a verb; word i is drawn with probability about i^-1.25 of 30,000."""

    def __init__(self, seed: int) -> None:
        self._draw, self._many = random.Random(seed), np.random.default_rng(seed)

    def some(self, count: int) -> list[str]:
        words = iter(self._many.zipf(1.25, size=count * 12) % 30_000)
        return [
            " ".join([self._draw.choice(VERBS), *(f"w{next(words)}" for _ in range(self._draw.randrange(4, 12)))])
            for _ in range(count)
        ]


def fill(dsn: str, records: int) -> None:
    client, goals, draw, now = open_client(dsn), Goals(1), random.Random(2), int(time.time() * 1000)
    migrate(client)
    for start in range(0, records, PART):
        texts = goals.some(min(PART, records - start))
        found = [features_of(text) for text in texts]
        count = len(texts)
        columns = {
            "tenant": ["default"] * count, "record": list(range(start, start + count)),
            "record_id": [f"rr_20260101_{number}" for number in range(start, start + count)], "created_at": [now] * count,
            "goal": texts, "tools": [[f"tool_{draw.randrange(200)}"] for _ in texts], "confidence": [0.9] * count,
            "reusable": [1] * count, "features": [list(one.hashes) for one in found],
            "weights": [list(one.weights) for one in found], "norm": [one.norm for one in found], "body": [BODY] * count,
        }  # fmt: skip
        client.insert("reasoning_records", list(columns.values()), column_names=list(columns), column_oriented=True)
    client.close()


def ask(recall: Recall, tool: str | None) -> None:
    walls, cpus, found = [], [], 0
    for goal in Goals(3).some(205):
        wall, cpu = time.perf_counter(), time.process_time()
        found += bool(recall.find(goal, tool=tool))
        walls.append((time.perf_counter() - wall) * 1_000)
        cpus.append((time.process_time() - cpu) * 1_000)
    walls, cpus = sorted(walls[5:]), sorted(cpus[5:])
    print(
        f"tool {tool or 'any':8s} wall p50 {walls[100]:6.1f} ms, p95 {walls[190]:6.1f} ms; CPU p50 {cpus[100]:6.1f} ms, "
        f"p95 {cpus[190]:6.1f} ms; {found} of 205 found something"
    )


if __name__ == "__main__":
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="recall")
    start = time.perf_counter()
    fill(f"chdb://{folder}", records)
    print(f"{records:,} records written in {time.perf_counter() - start:.0f} s to {folder}")
    reader = Reader(f"chdb://{folder}")
    for tool in (None, "tool_7"):
        ask(Recall(reader), tool)
    reader.close()
