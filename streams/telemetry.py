"""What workers do → counters for Prometheus, health for a supervisor, and logs as JSON lines. Never any content.

Counts of records are read when they are asked for, so they cost the hot path nothing; what is counted by kind
(failures, repairs, masked values) is counted once for each output, not for each token.
"""

import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from schemas.output import Output
from streams.open_stream import DeadLetter, Publish

PROGRESS_S_MAX = 60.0
"""Records wait and none was taken for this long: the worker is stuck, and is better started again."""


class Watched(Protocol):
    """What a worker shows of itself."""

    group: str

    def figures(self) -> dict[str, float]:
        """Name of a gauge or counter → its value now."""
        ...


class Kinds:
    """What outputs and dead letters say, counted by kind."""

    def __init__(self) -> None:
        self.failures: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()
        self.pii: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.dead_letters: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.missing_seqs = 0

    def saw(self, items: Iterable[Publish | DeadLetter]) -> None:
        """Count what is about to be published."""
        for item in items:
            if isinstance(item, DeadLetter):
                self.dead_letters[item.code] += 1
                continue
            self.sent[item.topic] += 1
            if type(item.event) is Output:
                self._saw_output(item.event)

    def _saw_output(self, output: Output) -> None:
        self.failures.update(failure.code for failure in output.failures)
        self.pii.update(output.pii)
        for call in output.tool_calls:
            self.calls[call.status] += 1
            self.repairs.update(repair.code for repair in call.repairs)


class Collector:
    """Everything that workers of this process count, as Prometheus reads it."""

    def __init__(self, watched: Iterable[Watched], kinds: Kinds) -> None:
        self._watched = tuple(watched)
        self._kinds = kinds

    def collect(self) -> Iterator[Metric]:
        """One family for each figure; labels are of few values."""
        families: dict[str, Metric] = {}
        for worker in self._watched:
            for name, value in worker.figures().items():
                kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
                family = families.setdefault(name, kind(name, name.replace("_", " "), labels=["group"]))
                family.add_metric([worker.group], value)  # type: ignore[attr-defined]  # both families have it
        yield from families.values()
        kinds = self._kinds
        yield _counter("messaging_client_sent_messages_total", "records sent", "destination", kinds.sent)
        yield _counter("llm_failures_total", "failures in outputs", "code", kinds.failures)
        yield _counter("llm_repairs_total", "repairs in calls", "code", kinds.repairs)
        yield _counter("llm_tool_calls_total", "tool calls", "status", kinds.calls)
        yield _counter("llm_pii_masked_total", "values replaced by placeholders", "entity", kinds.pii)
        yield _counter("llm_dlq_messages_total", "dead letters", "code", kinds.dead_letters)


def page(watched: Iterable[Watched], kinds: Kinds) -> bytes:
    """The text that Prometheus reads."""
    registry = CollectorRegistry()
    registry.register(Collector(watched, kinds))
    return generate_latest(registry)


class Progress:
    """Whether a worker gets on: lag that does not shrink while nothing is taken is a standstill."""

    def __init__(self, s_max: float = PROGRESS_S_MAX) -> None:
        self._s_max = s_max
        self._taken = -1
        self._since = time.monotonic()

    def is_stuck(self, taken: int, lag: int) -> bool:
        """Say what was taken in all and what waits; True after too long without progress."""
        now = time.monotonic()
        if taken != self._taken or lag <= 0:
            self._taken, self._since = taken, now
        return now - self._since > self._s_max


class JsonLines(logging.Formatter):
    """A log record as one JSON object; only names, codes and numbers are put into `extra`."""

    PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger, message, and the extra fields."""
        entry: dict[str, object] = {
            "ts": round(record.created * 1000),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {key: value for key, value in vars(record).items() if key not in self.PLAIN}
        if record.exc_info and record.exc_info[0] is not None:
            entry["exception"] = record.exc_info[0].__name__
        return json.dumps(entry, default=str, ensure_ascii=False)


def log_to_stderr() -> None:
    """JSON lines on stderr, plain lines where that is a terminal; the Kafka client's chatter only as warnings."""
    handler = logging.StreamHandler(sys.stderr)
    is_terminal = sys.stderr.isatty()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s") if is_terminal else JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("aiokafka", "faust", "mode", "kafka"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _counter(name: str, text: str, label: str, counts: Counter[str]) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=[label])
    for key, value in counts.items():
        family.add_metric([key], value)
    return family
