"""Failure: something a stage could not process or had to repair, and the closed list of codes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from schemas.jsonvalue import Json
from schemas.span import Span


class Stage(StrEnum):
    """Where a failure was seen."""

    DECODE = "decode"
    SEGMENT = "segment"
    REASON = "reason"
    TOOL = "tool"
    CLEAN = "clean"
    LEARN = "learn"
    SINK = "sink"


class FailureCode(StrEnum):
    """Closed list; `docs/failure-codes.md` is generated from these docstrings."""

    ORPHAN_MARKER = "orphan_marker"
    """Marker-like text that no format knows; kept in the response."""
    STRAY_CLOSE = "stray_close"
    """A closing marker with nothing open."""
    MISSING_CLOSE = "missing_close"
    """A segment was ended by the next marker or by the end of the stream."""
    TRUNCATED_CALL = "truncated_call"
    """The stream ended inside a tool call; the text is kept, the call is never executed."""
    UNPARSEABLE_CALL = "unparseable_call"
    """A tool call's text that no grammar reads."""
    REFUSED_CALL = "refused_call"
    """Arguments that can't be trusted."""
    UNKNOWN_TOOL = "unknown_tool"
    """A call of a tool that is not registered."""
    REPAIRED = "repaired"
    """A call was accepted after a change; material for the learner."""
    LEAKED_TOKEN = "leaked_token"  # noqa: S105 - a code, not a secret
    """A special token of the tokenizer, or a call that says that none is made, stood in the text and was removed."""
    LOOKS_LIKE_CALL = "looks_like_call"
    """Text of a plain response that resembles a call of a registered tool."""
    NO_FORMAT = "no_format"
    """Nothing was recognised; everything is the response."""
    HELD_TOO_LONG = "held_too_long"
    """A segment ran into the limit of held text and was closed there."""
    STREAM_TOO_LONG = "stream_too_long"
    """The stream ran into the limit of characters; the rest was not read."""
    STREAM_IDLE = "stream_idle"
    """The stream did not end within the idle limit and was closed as truncated."""
    TOO_MANY_CALLS = "too_many_calls"
    """More tool calls than the limit; the rest is response."""
    MISSING_SEQ = "missing_seq"
    """Deltas of the stream are missing."""
    AFTER_END = "after_end"
    """A delta came after the end marker and was not used."""
    UNDECODABLE = "undecodable"
    """A record that is not one of ours; goes to dead letters with the bytes as received."""
    CRASHED = "crashed"
    """A record that crashed a worker twice; goes to dead letters."""
    CLOCK_SKEW = "clock_skew"
    """A time outside of what can be true; the row is kept apart."""
    CLEAN_FAILED = "clean_failed"
    """Cleaning raised; the record is held back, never passed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A record that a stage could not process; a value, never an exception."""

    schema: Literal["failure/1"] = "failure/1"
    stream_id: str
    code: FailureCode
    stage: Stage
    span: Span = (0, 0)
    state: str = ""
    """What the stage was in the middle of, in the words of its grammar."""
    found: str = ""
    """Bounded excerpt of what stood there."""
    expected: str = ""
    signature: str = ""
    """What makes two failures the same: stage, code, state and shape; free of content."""
    context: dict[str, Json] | None = None
    """For the learner: cleaned neighbourhood, names of the tools given, format."""
