"""Event ↔ bytes: one encoder, one validating decoder."""

from dataclasses import asdict
from typing import Annotated

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from schemas.failure import Failure
from schemas.output import Output
from schemas.pattern import Pattern
from schemas.reasoning import Node, StateEntry
from schemas.segment import Closed, Delta, Opened, Relabel, Segment
from schemas.token import Token
from schemas.toolcall import ToolCall, ToolResult
from schemas.trajectory import Step

Event = (
    Token
    | Opened
    | Segment
    | Delta
    | Relabel
    | Node
    | StateEntry
    | ToolCall
    | ToolResult
    | Failure
    | Closed
    | Output
    | Step
    | Pattern
)

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="schema")])
_TOKEN: TypeAdapter[Token] = TypeAdapter(Token)


class UndecodableError(ValueError):
    """A record that is not one of ours; the message says why and holds none of the record's content."""


def encode(event: Event) -> bytes:
    """One event as JSON bytes; lone surrogates, which UTF-8 has no place for, become U+FFFD."""
    try:
        return orjson.dumps(event)
    except TypeError:
        return orjson.dumps(_without_surrogates(asdict(event)))


def decode(data: bytes | None) -> Event:
    """Bytes → a validated event of any topic; raises UndecodableError."""
    try:
        return _ADAPTER.validate_json(data or b"")
    except ValidationError as error:
        raise UndecodableError(_why(error)) from None


def decode_token(data: bytes | None) -> Token:
    """Bytes → a validated Token, on the hot path; raises UndecodableError."""
    try:
        return _TOKEN.validate_json(data or b"")
    except ValidationError as error:
        raise UndecodableError(_why(error)) from None


def _why(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
