"""Execution and handover: what a dispatcher does about one call, and the end of a task that met a bound."""

from dataclasses import dataclass
from typing import Literal

from schemas.jsonvalue import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """Snapshot of one call, given at each change of its state (`llm.executions`). Everything in it is clean."""

    schema: Literal["execution/1"] = "execution/1"
    stream_id: str
    call_id: str
    task: str
    """The run, or the stream if it belongs to none: what bounds are counted for."""
    tenant: str | None = None
    tool: str
    order: int
    state: Literal["planned", "running", "ended"]
    status: Literal["", "ok", "param_error", "business_failure", "system_error", "not_run"] = ""
    """What came of it; empty until it ended."""
    reason: str = ""
    """Why it was not run, or which rule decided whose fault its error is."""
    arguments: str = ""
    """Their JSON, its beginning if it is long."""
    error: str = ""
    """The beginning of the message."""
    execution_id: str = ""
    duration_ms: float | None = None
    cost_usd: float | None = None
    tokens: int = 0
    """Tokens of the model response that wrote the call, as its server counted them; 0 when unknown."""
    strategies: tuple[str, ...] = ()
    """Ids of the learned strategies that had a say in it."""
    is_again: bool = False
    """The output was read again: the kept result was published again, nothing ran."""
    ts: float
    """When the state changed, Unix ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """A task ended at a bound; with this a person takes over (`llm.executions`)."""

    schema: Literal["handover/1"] = "handover/1"
    stream_id: str
    """The stream whose call met the bound."""
    task: str
    tenant: str | None = None
    bound: str
    """`steps_max`, `tokens_max`, `cost_usd_max` or `step_s_max`."""
    limit: float
    spent: JsonObject
    """`steps`, `tokens`, `cost_usd`, and `step_s`, the longest time that a call was given in vain."""
    done: tuple[JsonObject, ...] = ()
    """Calls of the task that ended: `stream_id`, `call_id`, `tool`, `status`, `duration_ms`, `cost_usd`."""
    left: tuple[JsonObject, ...] = ()
    """Calls of this output that are left to decide on: `call_id`, `name`."""
    next: str
    """What a person may do, in one sentence."""
    ts: float
    """When the bound was met, Unix ms."""
