"""A call → the ids under which its execution is known; the same call gives the same ids on every machine."""

import json
from hashlib import sha256

from schemas.jsonvalue import Json
from schemas.toolcall import ToolCall


def call_key(call: ToolCall) -> str:
    """One place in one stream, whatever was written there: at most one execution belongs to it."""
    return _digest([call.stream_id, call.id])


def execution_id(call: ToolCall) -> str:
    """The place, the tool and its arguments; the order of keys does not matter."""
    return _digest([call.stream_id, call.id, call.name, call.arguments])


def _digest(value: Json) -> str:
    # Not orjson: it refuses lone surrogates and integers beyond 64 bits, which a model may write.
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]
