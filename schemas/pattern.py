"""Pattern: one entry of the registry, whatever its kind, with its evidence and examples (`llm.patterns`)."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from schemas.jsonvalue import Json, JsonObject


class PatternKind(StrEnum):
    """What an entry defines; each has the shape of the shipped catalogue of that kind."""

    FORMAT = "format"
    REPAIR_RULE = "repair_rule"
    REASONING = "reasoning"
    PII = "pii"
    TOOL = "tool"
    STRATEGY = "strategy"


class PatternState(StrEnum):
    """Where an entry is in its life."""

    CANDIDATE = "candidate"
    SHADOW = "shadow"
    CANARY = "canary"
    ACTIVE = "active"
    RETIRED = "retired"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One line of the evidence chain: what was done, with which figures."""

    step: str
    data: dict[str, Json] = field(default_factory=dict)
    ts: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One versioned registry entry."""

    schema: Literal["pattern/1"] = "pattern/1"
    id: str
    version: int
    kind: PatternKind
    definition: JsonObject
    state: PatternState
    priority: int = 0
    exclusive_group: str | None = None
    evidence: tuple[Evidence, ...] = ()
    counters: dict[str, int] = field(default_factory=dict)
    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    pinned: bool = False
    registry_version: int = 0
    """Registry version that this record's change made."""
    ts: float | None = None
