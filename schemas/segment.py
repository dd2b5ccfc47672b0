"""Segment: a run of a stream's text of one kind, and the events that frame segments (`llm.segments`)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from schemas.jsonvalue import Json
from schemas.span import Span
from schemas.token import Meta


class SegmentKind(StrEnum):
    """What a run of text is."""

    REASONING = "reasoning"
    """Text the model wrote for itself."""
    TOOL_CALL = "tool_call"
    """One tool call, in whatever grammar."""
    STATE = "state"
    """An intermediate result outside of the answer: an HTML comment."""
    RESPONSE = "response"
    """What the reader of the answer sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One argument of a call whose grammar leaves the type to the schema."""

    key: str
    value: str
    """As written, entities already decoded where the grammar has them."""
    type: str | None = None
    """A type the text itself states (`string="true"`, `type="integer"`), in JSON Schema words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDraft:
    """A tool call as its grammar reads it, before schema, repair and checks.

    Exactly one of `value`, `params` and `arguments_text` carries the arguments; all three are None when the grammar
    could not read the body at all.
    """

    dialect: str
    """Id of the body grammar."""
    name: str | None = None
    call_id: str | None = None
    """Id that the model itself wrote."""
    value: Json = None
    """Arguments whose types the text carries (JSON object, Python literals)."""
    params: tuple[Param, ...] | None = None
    """Arguments that need the schema for their types."""
    arguments_text: str | None = None
    """Damaged argument text, for schema-guided repair."""
    mends: tuple[str, ...] = ()
    """Codes of what the body needed to be read: `quotes_replaced`, `trailing_comma`, …"""
    complete: bool = True
    """False when the stream ended inside the call: never executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """First event of a stream after the token topic."""

    schema: Literal["opened/1"] = "opened/1"
    stream_id: str
    meta: Meta
    registry_version: int = 0
    ts: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One run of text of one kind."""

    schema: Literal["segment/1"] = "segment/1"
    stream_id: str
    order: int
    """Number of the segment in its stream, from 0."""
    kind: SegmentKind
    text: str
    """Content without the format's markup; for a tool call, what the model wrote for it."""
    span: Span
    call: CallDraft | None = None
    repairs: tuple[str, ...] = ()
    """Codes of what the markup needed: `missing_close`, `odd_close`, `doubled_close`, …"""
    format: str | None = None
    """The only format that has all markup seen up to here; absent while several do, or none was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """Text of a segment that is still open, for live readers; the segment itself follows whole."""

    schema: Literal["delta/1"] = "delta/1"
    stream_id: str
    order: int
    kind: SegmentKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Relabel:
    """An earlier segment turned out to be of another kind (a bare closing marker: what came before was reasoning)."""

    schema: Literal["relabel/1"] = "relabel/1"
    stream_id: str
    order: int
    kind: SegmentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """Last event of a stream."""

    schema: Literal["closed/1"] = "closed/1"
    stream_id: str
    chars: int
    tokens: int
    format: str | None = None
    format_confidence: float = 0.0
    truncated: bool = False
    """Ended by a limit, not by the model server."""
    finish_reason: str | None = None
    usage: dict[str, Json] | None = None
    missing_seqs: int = 0
    ts: float | None = None
    """Time of the last token, in ms since 1970."""
