"""Attribution: why a call failed, how sure that is, and what says so (`llm.retrospections`)."""

from dataclasses import dataclass, field
from typing import Literal

from schemas.pattern import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """The cause of one failed call."""

    schema: Literal["attribution/1"] = "attribution/1"
    stream_id: str
    call_id: str
    tool: str
    status: str
    """Of the call's result: `param_error`, `business_failure` or `system_error`."""
    cause: str
    """`network`, `dependency`, `bad_argument`, `permission`, `data`, `stale_list`, `jitter`, `unknown`."""
    probability: float
    is_defect: bool
    """Whether it is more than jitter: enough of the conditions hold."""
    conditions: dict[str, bool] = field(default_factory=dict)
    """`repeated`, `upstream_unhealthy`, `outside_alert`: which of them hold."""
    probabilities: dict[str, float] = field(default_factory=dict)
    """By cause, highest first."""
    evidence: tuple[Evidence, ...] = ()
    """Steps `input`, `error`, `health`, `signs`, `cause`, clean, fit to be read by a person."""
    ts: float | None = None
    """When the call ended, Unix ms."""
