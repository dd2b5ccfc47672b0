"""Retrospection: a call looked back at, why it went wrong, and what is done about it (`llm.retrospections`)."""

from dataclasses import dataclass
from typing import Literal

from schemas.pattern import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrospection:
    """What came of looking back at one call."""

    schema: Literal["retrospection/1"] = "retrospection/1"
    stream_id: str
    call_id: str
    run_id: str
    tool: str
    trigger: Literal["explicit", "implicit", "passive"]
    deviation: str
    """What the call did otherwise than its contract says: `step_missing`, `input`, `unhandled`, `strategy`, `needed`,
    `failed`, `output`, `slow`."""
    cause: str
    """As an attribution names it, or `skipped_fallback`."""
    probability: float
    strategy: str | None = None
    """Id of the registry entry that was made of it."""
    advice: str = ""
    """What a person should do where no strategy is made."""
    evidence_trace: tuple[Evidence, ...] = ()
    """Steps `trigger`, `chain`, `deviation`, `cause`, then `tried` for each strategy with its proof, or `advice`."""
    ts: float | None = None
    """When the call ended, Unix ms."""
