"""ToolCall: name, arguments, what was repaired to get them, how far they can be trusted (`llm.parsed`)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from schemas.jsonvalue import Json, JsonObject
from schemas.span import Span


class CallStatus(StrEnum):
    """What may be done with a call. Executable: ok, repaired, renamed."""

    OK = "ok"
    """As the model wrote it, valid against its schema."""
    REPAIRED = "repaired"
    """Changed to be valid; `repairs` says how."""
    RENAMED = "renamed"
    """The name was matched to a registered tool."""
    UNKNOWN_TOOL = "unknown_tool"
    """No registered tool has this name; candidates in `warnings`."""
    REFUSED = "refused"
    """Arguments can't be trusted; `refusal` says why."""
    UNPARSEABLE = "unparseable"
    """No grammar reads it; raw text only."""
    TRUNCATED = "truncated"
    """The stream ended inside the call."""


EXECUTABLE = frozenset({CallStatus.OK, CallStatus.REPAIRED, CallStatus.RENAMED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One change that was made to a call."""

    code: str
    path: str = ""
    """JSON pointer of the changed value."""
    rule: str | None = None
    """Id of the learned rule that did it."""
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why arguments were not accepted."""

    code: str
    path: str = ""
    candidate: Json = None
    message: str = ""
    """One sentence the model can act on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWarning:
    """Something the executor should know."""

    code: str
    message: str = ""
    candidates: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call, checked."""

    schema: Literal["call/1"] = "call/1"
    stream_id: str
    id: str
    """`call_<i>`, i from 0 in order of writing, unless the model wrote an id."""
    name: str | None
    requested_name: str | None
    arguments: JsonObject | None
    raw: str
    order: int
    span: Span
    status: CallStatus
    strategy: str
    """Which reading won: `json`, `xml_params`, `python_call`, `repair`, `semantic`, `rule`, `llm`, `none`."""
    confidence: float
    repairs: tuple[Repair, ...] = ()
    refusal: Refusal | None = None
    duplicate_of: str | None = None
    superseded_by: str | None = None
    warnings: tuple[CallWarning, ...] = ()


def is_executable(call: ToolCall) -> bool:
    """Whether a call may be run: checked, said once, not taken back."""
    return call.status in EXECUTABLE and call.duplicate_of is None and call.superseded_by is None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedStrategy:
    """A strategy that fits a call: what it did about it, or would have done where the call went its usual way."""

    id: str
    version: int
    """Of its entry."""
    is_served: bool
    """False: the strategy was only watched, for this stream is not among those that get it."""
    did: Literal["nothing", "review", "skip", "step", "fallback"]
    is_answered: bool | None = None
    """Whether the other call that it made came back well; None: it made none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call (`llm.tool-results`)."""

    schema: Literal["tool-result/1"] = "tool-result/1"
    stream_id: str
    call_id: str
    status: Literal["ok", "param_error", "business_failure", "system_error", "not_run"]
    """`not_run`: nothing was executed, and that is nobody's mistake; `error` says why."""
    content: Json = None
    duration_ms: float | None = None
    cost_usd: float | None = None
    error: str | None = None
    strategies: tuple[AppliedStrategy, ...] = ()
