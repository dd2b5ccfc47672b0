"""Step: one row about one thing that one stream did (`llm.steps`)."""

from dataclasses import dataclass, field
from typing import Literal

from schemas.jsonvalue import Json
from schemas.span import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One clean segment, call, state entry or failure; its identity is `(stream_id, order, part)`."""

    schema: Literal["step/1"] = "step/1"
    stream_id: str
    order: int
    part: int = 0
    rev: int = 0
    kind: str
    """`reasoning`, `tool_call`, `state`, `response`, `failure`, `tool_result`."""
    status: str = "ok"
    text: str = ""
    span: Span = (0, 0)
    confidence: float = 1.0
    detail: dict[str, Json] = field(default_factory=dict)
    """What the kind has beyond text: the call, the node's label, the failure's code."""
    run_id: str | None = None
    session_id: str | None = None
    goal_id: str | None = None
    tenant: str | None = None
    model: str | None = None
    format: str | None = None
    ts: float | None = None
