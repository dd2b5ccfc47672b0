"""Snapshots of calls and handovers → rows; they need no stream to be known, so they never wait for one."""

import math

from schemas.execution import Execution, Handover
from schemas.wire import encode
from streams.rows import DEFAULT_TENANT, Row

TABLE_OF = {Execution: "executions", Handover: "handovers"}
RANKS = {"planned": 1, "running": 2, "ended": 3}
UINT32_MAX = (1 << 32) - 1


def dispatched_row(event: Execution | Handover) -> Row:
    """The row of one event, in the table of its kind."""
    tenant, ms = event.tenant or DEFAULT_TENANT, int(event.ts) if math.isfinite(event.ts) else 0
    if isinstance(event, Handover):
        return (tenant, event.task, event.stream_id, event.bound, encode(event).decode(), ms)
    return (
        tenant, event.task, event.stream_id, event.call_id, event.order, event.tool, event.state, event.status,
        event.reason, event.arguments, event.error, event.execution_id, _whole(event.duration_ms), event.cost_usd,
        _whole(event.tokens), list(event.strategies), int(event.is_again), ms, RANKS[event.state],
    )  # fmt: skip


def _whole(value: float | None) -> int:
    return min(max(round(value), 0), UINT32_MAX) if value is not None and math.isfinite(value) else 0
