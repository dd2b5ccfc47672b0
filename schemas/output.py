"""Output: one structured answer for one stream (`llm.outputs`)."""

from dataclasses import dataclass, field
from typing import Literal

from schemas.failure import Failure
from schemas.jsonvalue import Json, JsonObject
from schemas.reasoning import Gap, Link, Node, StateEntry
from schemas.token import Meta
from schemas.toolcall import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatFound:
    """Which format the text was read as, and how sure that is."""

    id: str | None = None
    confidence: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """The reasoning tree; `text` joins the blocks with one newline."""

    text: str | None = None
    nodes: tuple[Node, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    gaps: tuple[Gap, ...] = ()
    links: tuple[Link, ...] = ()
    """Every edge with its evidence; `edges` has the ones in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputMetadata:
    """Figures about how the output came to be."""

    parse_confidence: float = 0.0
    repairs_applied: int = 0
    segments: int = 0
    truncated: bool = False
    registry_version: int = 0
    duration_ms: float | None = None
    """From the stream's first record to its last, in ms of the producer's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One structured, clean answer; a later one with higher `rev` replaces it."""

    schema: Literal["output/1"] = "output/1"
    stream_id: str
    format: FormatFound = FormatFound()
    reasoning: Reasoning = Reasoning()
    tool_calls: tuple[ToolCall, ...] = ()
    state: dict[str, StateEntry] = field(default_factory=dict)
    response: str = ""
    pii: dict[str, int] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    metadata: OutputMetadata = OutputMetadata()
    reasoning_record: JsonObject | None = None
    rev: int = 0
    meta: Meta | None = None
    ts: float | None = None
    latency_ms: float | None = None
    extra: dict[str, Json] = field(default_factory=dict)
