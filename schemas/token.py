"""Token: one delta of one stream, as the model server sent it (`llm.tokens`)."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from schemas.jsonvalue import Json, JsonObject

COUNT_MAX = 2**53 - 1
"""Greatest number of a delta: the greatest integer that JSON carries to every language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenResult:
    """What a tool answered earlier, as the prompt of this stream held it."""

    call_id: str
    content: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What the producer knows about a stream; stands on its first record."""

    model: str | None = None
    provider: str | None = None
    tenant: str | None = None
    run_id: str | None = None
    session_id: str | None = None
    goal_id: str | None = None
    user: str | None = None
    """What the person asked, for semantic repair."""
    tools: tuple[JsonObject, ...] = ()
    """Tool schemas in OpenAI function form."""
    results: tuple[GivenResult, ...] = ()
    """Answers of tools in the prompt: what the reasoning may rest on. Not repeated on the output."""
    reasoning_open: bool = False
    """The prompt already opened the reasoning block, so the output starts inside it."""
    format: str | None = None
    """A hint at the format id; detection works without."""
    now: str | None = None
    """ISO 8601 time against which relative dates are read."""
    policy: JsonObject | None = None
    attrs: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One delta of one stream."""

    schema: Literal["token/1"] = "token/1"
    stream_id: Annotated[str, Field(min_length=1)]
    seq: Annotated[int, Field(ge=0, le=COUNT_MAX)]
    """Number of the delta in its stream, from 0; a repeated number is ignored, a gap is recorded."""
    text: str
    ts: float | None = None
    """Time of writing, in ms since 1970."""
    done: bool = False
    finish_reason: str | None = None
    usage: dict[str, Json] | None = None
    meta: Meta | None = None
    count: Annotated[int, Field(ge=1, le=COUNT_MAX)] = 1
    """Deltas that were joined into this one; `seq` is the number of the first."""
