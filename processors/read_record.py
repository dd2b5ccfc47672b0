"""A record of the token topic that is not a `token/1` → parts of one stream's answer, or why it can't be used.

Records may be an object of a model server's stream, a CloudEvent around one (structured: in the value; binary: in
headers), a line of server-sent events, or plain text that says so in its `content-type`. The stream is named by the
record's key, else by the header `llm-stream-id`, the CloudEvent's `partitionkey` or `subject`, else by the answer's own
id. Headers `llm-<field>` say what `Meta` says: `llm-model`, `llm-tenant`, `llm-run-id`, `llm-user` ….
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from processors.channels.part import Part
from processors.channels.shapes import KNOWN, read_object
from schemas.jsonvalue import Json
from schemas.token import Meta, Token
from schemas.wire import UndecodableError, decode_token

Headers = Sequence[tuple[str, bytes]]

META_HEADERS = ("model", "provider", "tenant", "run_id", "session_id", "goal_id", "user", "format", "now")
"""Fields of `Meta` that a header may give; `run_id` is `llm-run-id`."""
EVENTS_DEEP_MAX = 3
"""CloudEvents inside CloudEvents."""
_CONFLUENT_BYTES = {0: 5, 1: 17}
"""First byte → length of the prefix that a schema registry's serialiser puts before JSON."""
_END_OF_LINES = b"[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """What a record adds to a stream."""

    stream_id: str
    parts: tuple[Part, ...]
    meta: Meta


def read_record(value: bytes | None, key: bytes | None, headers: Headers) -> Foreign | Token | str:
    """The record's parts; a Token where one was wrapped; or, as text, why it can't be used."""
    named = {name.lower(): data or b"" for name, data in headers}
    if not value:
        return "the record is empty"
    if value[0] in _CONFLUENT_BYTES:
        value = value[_CONFLUENT_BYTES[value[0]] :]
    if named.get("content-type", b"").lower().startswith(b"text/plain"):
        return _named(_plain(value, named), key, named, {})
    is_line, data = _line(value.strip())
    if is_line and not data:
        return _named((), key, named, {})
    if data == _END_OF_LINES:
        return _named((Part(is_end=True),), key, named, {})
    return _read_json(data, key, named)


def _line(value: bytes) -> tuple[bool, bytes]:
    """Server-sent events, one or a few lines → whether it is that, and its data."""
    if not value.startswith((b"data:", b"event:", b":", b"id:", b"retry:")):
        return False, value
    lines = [line[5:].strip() for line in value.splitlines() if line.startswith(b"data:")]
    return True, b"\n".join(lines)


def _read_json(data: bytes, key: bytes | None, named: Mapping[str, bytes]) -> Foreign | Token | str:
    try:
        found = json.loads(data) if b"\\u" in data else orjson.loads(data)  # half of a surrogate pair may be escaped
    except (ValueError, RecursionError):
        return "not JSON; plain text needs the header content-type: text/plain"
    about: dict[str, object] = {}
    for _ in range(EVENTS_DEEP_MAX):
        if not (isinstance(found, dict) and "specversion" in found and ("data" in found or "data_base64" in found)):
            break
        about, found = found, _inside(found)
    if not isinstance(found, dict):
        return f"a JSON {_word(found)}, not an object; an object may be token/1 or {KNOWN}"
    if about and "stream_id" in found:
        return _wrapped(found)
    parts = read_object(found)
    if parts is None:
        return _unknown(found)
    return _named(parts, key, named, about)


def _inside(event: Mapping[str, object]) -> object:
    encoded = event.get("data_base64")
    if not isinstance(encoded, str):
        return event.get("data")
    try:
        return orjson.loads(base64.b64decode(encoded, validate=True))
    except (binascii.Error, UnicodeEncodeError, ValueError):
        return None


def _wrapped(fields: Mapping[str, object]) -> Token | str:
    try:
        return decode_token(json.dumps(fields).encode())
    except UndecodableError as error:
        return f"data of the CloudEvent: {error}"


def _plain(value: bytes, named: Mapping[str, bytes]) -> tuple[Part, ...]:
    is_end = named.get("llm-done", b"").lower() in {b"true", b"1"}
    reason = named.get("llm-finish-reason", b"").decode("utf-8", "replace") or None
    return (Part(text=value.decode("utf-8", "replace"), finish_reason=reason, is_end=is_end or reason is not None),)


def _named(
    parts: tuple[Part, ...], key: bytes | None, named: Mapping[str, bytes], about: Mapping[str, object]
) -> Foreign | str:
    """Parts with the stream they belong to and what headers say of it."""
    answer_id = next((part.response_id for part in parts if part.response_id), None)
    given = (key, named.get("llm-stream-id"), named.get("ce_partitionkey"), named.get("ce_subject"))
    headers = [found.decode("utf-8", "replace") for found in given if found]
    events = [str(found) for found in (about.get("partitionkey"), about.get("subject"), answer_id) if found]
    stream_id = next(iter(headers + events), None)
    if stream_id is None:
        return "no stream id: give the record a key (or the header llm-stream-id), the same for a whole answer"
    fields = {name: named.get(f"llm-{name.replace('_', '-')}", b"") for name in META_HEADERS}
    said: dict[str, Json] = {name: data.decode("utf-8", "replace") for name, data in fields.items() if data}
    meta = Meta(**said)
    model = next((part.model for part in parts if part.model), None)
    attrs = {"response_id": answer_id} if answer_id else {}
    return Foreign(stream_id=stream_id, parts=parts, meta=replace(meta, model=meta.model or model, attrs=attrs))


def _unknown(fields: Mapping[str, object]) -> str:
    """Why an object is of no known shape; names of fields are told, never their content."""
    ours = [name for name in ("stream_id", "seq", "text") if name in fields]
    if ours:
        missing = [name for name in ("stream_id", "seq", "text") if name not in fields]
        return (
            f"looks like token/1 but lacks {', '.join(missing)}" if missing else "looks like token/1 but is not valid"
        )
    return f"an object of no known shape; known are token/1 and {KNOWN}"


def _word(value: object) -> str:
    words = {list: "array", str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
    return words.get(type(value), "value")
