"""Tables → the columns that the sink fills, in the order in which rows give them; all others have defaults."""

from dataclasses import dataclass

STEP_COLUMNS = (
    "tenant", "run_id", "stream_id", "order", "part", "rev", "session_id", "goal_id", "kind", "name", "status",
    "error_class", "model", "format", "strategy", "call_id", "repairs", "pattern_id", "args_hash", "pii", "started_at",
    "duration_ms", "cost_usd", "confidence", "span_start", "span_end", "chars", "preview", "content_hash", "detail",
    "detail_hash",
)  # fmt: skip
STREAM_COLUMNS = (
    "tenant", "hour", "run_id", "stream_id", "session_id", "goal_id", "state", "outcome", "started_at", "ended_at",
    "latency_ms", "title", "model", "provider", "agent", "format", "tools", "finish_reason", "steps", "calls", "errors",
    "repairs", "failures", "pii", "reasoning_chars", "response_chars", "confidence", "tok_in", "tok_out",
    "tok_reasoning", "tok_cached", "cost_usd", "registry_version", "output_hash", "rev",
)  # fmt: skip
FAILURE_COLUMNS = (
    "tenant", "failed_at", "failure_id", "run_id", "stream_id", "stage", "code", "signature", "state", "found",
    "expected", "span_start", "span_end", "model", "format", "pattern_id", "context", "rev",
)  # fmt: skip
PATTERN_COLUMNS = (
    "pattern_id", "version", "registry_version", "kind", "state", "priority", "definition", "evidence", "counters",
    "positives", "negatives", "changed_at",
)  # fmt: skip
RECORD_COLUMNS = (
    "tenant", "record", "record_id", "created_at", "stream_id", "run_id", "goal_id", "goal", "model", "tools", "nodes",
    "confidence", "gaps", "repairs", "rules", "reusable", "features", "weights", "norm", "body", "rev",
)  # fmt: skip
EXECUTION_COLUMNS = (
    "tenant", "task", "stream_id", "call_id", "order", "tool", "state", "status", "reason", "arguments", "error",
    "execution_id", "duration_ms", "cost_usd", "tokens", "strategies", "is_again", "changed_at", "rank",
)  # fmt: skip
BLOB_COLUMNS = ("tenant", "content_hash", "content")

COLUMNS = {
    "blobs": BLOB_COLUMNS,
    "steps": STEP_COLUMNS,
    "failures": FAILURE_COLUMNS,
    "reasoning_records": RECORD_COLUMNS,
    "patterns": PATTERN_COLUMNS,
    "streams": STREAM_COLUMNS,
    "executions": EXECUTION_COLUMNS,
    "handovers": ("tenant", "task", "stream_id", "bound", "record", "ended_at"),
    "quarantine": ("reason", "stream_id", "event_id", "event", "is_deleted"),
    "stage_stats": (
        "ts", "stage", "instance", "topic", "partition", "records_in", "records_out", "failures", "dead_letters",
        "lag", "oldest_ms", "p95_ms", "open_streams",
    ),
}  # fmt: skip
"""Tables in the order of writing: a stream is listed only when its steps are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStat:
    """How one stage does on one partition since its last report."""

    ts: int
    """Seconds since 1970."""
    stage: str
    instance: str
    topic: str
    partition: int
    records_in: int = 0
    records_out: int = 0
    failures: int = 0
    dead_letters: int = 0
    lag: int = 0
    oldest_ms: int = 0
    p95_ms: float = 0.0
    open_streams: int = 0
