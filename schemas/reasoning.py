"""Reasoning: typed nodes of what the model wrote for itself (`llm.reasoned`)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from schemas.span import Span


class Label(StrEnum):
    """What a piece of reasoning does."""

    PLANNING = "planning"
    """Decomposes a task or orders steps."""
    SELF_CORRECTION = "self_correction"
    """Takes back or re-does something earlier."""
    EVALUATION = "evaluation"
    """Judges a result or a state."""
    MEMORY_RETRIEVAL = "memory_retrieval"
    """Recalls something said, known or given."""
    UNCERTAINTY = "uncertainty"
    """States doubt."""
    OTHER = "other"
    """Anything else, deduction included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningStep:
    """One sentence-level step of a node; span in the stream's raw text."""

    type: Label
    confidence: float
    span: Span
    superseded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One reasoning block."""

    schema: Literal["node/1"] = "node/1"
    stream_id: str
    id: str
    """`rn_<i>`, i from 0 in order of writing."""
    type: Label
    confidence: float
    text: str
    order: int
    span: Span
    steps: tuple[ReasoningStep, ...] = ()
    based_on: tuple[str, ...] = ()
    led_to: tuple[str, ...] = ()
    superseded: bool = False
    superseded_by: str | None = None
    auto_filled: bool = False
    position: str | None = None
    """Where it stands: `before:tool_call`, `after:response`, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One edge of the reasoning tree and why it is there; ends are ids of nodes, steps (`rn_0#2`), calls or sources."""

    source: str
    target: str
    kind: Literal["time", "led_to", "based_on", "supersedes"]
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Two neighbouring nodes or steps of which the second does not follow from the first."""

    between: tuple[str, str]
    similarity: float
    suggestion: str = "model_supplement"
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StateEntry:
    """One key of the intermediate-state map (`llm.parsed`)."""

    schema: Literal["state/1"] = "state/1"
    stream_id: str
    key: str
    source: str
    """`html_comment`, `fenced_json`, `natural_text`, …"""
    content: object
    confidence: float
    order: int
    span: Span
    history: tuple[object, ...] = ()
    """Earlier values of the same key in this stream, oldest first."""
