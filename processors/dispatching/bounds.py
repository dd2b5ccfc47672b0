"""What one task may use, what it used → whether it goes on, and if not, the record with which a person takes over.

A task is a run, or a stream that belongs to none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.execution import Handover
from schemas.jsonvalue import JsonObject
from schemas.toolcall import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Most that a task may use; running into one ends the task with a handover, never with an exception."""

    steps_max: int = 15
    """Calls of one task that are executed."""
    tokens_max: int = 50_000
    """Tokens of the task's model responses, as their servers counted them."""
    step_s_max: float = 60.0
    """Longest time of one call, in seconds."""
    parallel_max: int = 4
    """Most calls that run at once in one dispatcher; the others wait for their turn, so no task ends at it."""
    cost_usd_max: float = 1.0
    """What the task's calls may cost, as the tools report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a task has used, and its calls that ended."""

    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    step_s: float = 0.0
    """The time after which a call of the task was given up; 0: none was."""
    done: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Where and when a task met its bound."""

    stream_id: str
    task: str
    tenant: str | None
    ts: float


def bound_met(bounds: Bounds, spent: Spent) -> str | None:
    """Name of the first bound that leaves no room for one more call; None: there is room."""
    if spent.steps >= bounds.steps_max:
        return "steps_max"
    if spent.tokens > bounds.tokens_max:
        return "tokens_max"
    if spent.cost_usd >= bounds.cost_usd_max:
        return "cost_usd_max"
    return "step_s_max" if spent.step_s >= bounds.step_s_max else None


def handover(ending: Ending, bounds: Bounds, spent: Spent, left: Sequence[ToolCall]) -> Handover:
    """The record that ends a task at a bound: which, what was used and done, which calls are left to decide on."""
    bound = bound_met(bounds, spent) or "steps_max"
    limit = getattr(bounds, bound)
    return Handover(
        stream_id=ending.stream_id,
        task=ending.task,
        tenant=ending.tenant,
        bound=bound,
        limit=limit,
        spent={"steps": spent.steps, "tokens": spent.tokens, "cost_usd": spent.cost_usd, "step_s": spent.step_s},
        done=spent.done,
        left=tuple({"call_id": call.id, "name": call.name} for call in left),
        next=f"{bound} is {limit:g}: a person raises it, runs what is left, or closes the task.",
        ts=ending.ts,
    )
