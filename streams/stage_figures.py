"""Workers of this process → a row for each in `stage_stats` every few seconds: what the pipeline page shows.

Workers in other processes show the same figures to Prometheus; only the process that has the store writes them here.
"""

import asyncio
import os
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing

from streams.columns import StageStat
from streams.settings import Settings
from streams.telemetry import Kinds, Watched
from streams.trajectories_to_clickhouse import Sink
from streams.worker import pause

REPORT_S = 10.0
READ = ("messaging_client_consumed_messages_total", "llm_sink_rows_total", "llm_learner_failures_total")
"""Counters of what a worker took, under the names that each kind of worker has for it."""


class StageFigures:
    """What changed since the last report; one for each process."""

    def __init__(self, watched: Sequence[Watched], kinds: Kinds) -> None:
        self._watched, self._kinds = tuple(watched), kinds
        self._read: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._instance = f"{socket.gethostname()}:{os.getpid()}"

    def report(self, now_s: float) -> list[StageStat]:
        """One row for each worker; sent records, failures and dead letters of the process stand with its first."""
        sums = Counter(
            sent=sum(self._kinds.sent.values()),
            failures=sum(self._kinds.failures.values()),
            dead_letters=sum(self._kinds.dead_letters.values()),
        )
        changed, self._sums = sums - self._sums, sums
        rows = []
        for place, worker in enumerate(self._watched):
            figures = worker.figures()
            read = round(sum(figures.get(name, 0) for name in READ))
            rows.append(
                StageStat(
                    ts=int(now_s),
                    stage=worker.group.rpartition(".")[2],
                    instance=self._instance,
                    topic="",
                    partition=0,
                    records_in=max(0, read - self._read[worker.group]),
                    records_out=0 if place else changed["sent"],
                    failures=0 if place else changed["failures"],
                    dead_letters=0 if place else changed["dead_letters"],
                    lag=max(0, round(figures.get("llm_processor_lag", 0))),
                    open_streams=round(figures.get("llm_streams_open", 0)),
                )
            )
            self._read[worker.group] = read
        return rows


async def keep_reporting(settings: Settings, figures: StageFigures, stop: asyncio.Event) -> None:
    """Report until `stop` is set."""
    with closing(Sink(settings.clickhouse_dsn)) as sink:
        while not stop.is_set():
            await pause(stop, REPORT_S)
            await asyncio.to_thread(sink.write_stats, figures.report(time.time()))
