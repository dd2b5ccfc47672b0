"""Events → rows of the tables in streams/sql: plain tuples in the order of the column lists here.

A row is a pure function of the event and of where its stream was placed, so a replay makes the same row. Texts longer
than a preview go to `blobs` under the hash of their content. Nothing here talks to a database.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

import orjson

from schemas.failure import Failure
from schemas.jsonvalue import Json, JsonObject
from schemas.output import Output
from schemas.pattern import Pattern
from schemas.toolcall import EXECUTABLE, ToolResult
from schemas.trajectory import Step
from schemas.wire import encode

PREVIEW_CHARS = 200
"""Kept in the row itself, so that lists and waterfalls never touch blobs."""
DETAIL_CHARS_MAX = 4_000
"""A longer detail goes to blobs."""
TITLE_CHARS = 120
TOOL_RESULT_PART = 65_535
"""A tool result stands beside its call: same order, this part."""
CLOSED_REV = 1 << 40
"""Revision of a closed stream's row; open rows count upwards from 1 and never get here."""
NOT_AN_ERROR = frozenset({"ok", "repaired", "renamed", "superseded", "duplicate"})
MENDED = frozenset({"repaired", "leaked_token", "missing_close"})
"""Failure codes that only report a repair: as steps they aren't errors."""
DEFAULT_TENANT = "default"

Row = tuple[Json, ...]
_PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]{0,40}?)_REDACTED\]")


@dataclass(slots=True, kw_only=True)
class Place:
    """Where a stream's rows belong; `hour_ms` is fixed when the stream is first seen, for it is part of a key."""

    tenant: str
    run_id: str
    hour_ms: int
    started_ms: int
    ended_ms: int = 0
    session_id: str = ""
    goal_id: str = ""
    model: str = ""
    format: str = ""
    steps: int = 0
    rev: int = 0
    calls: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Order and tool name of each call, by its id."""


def text_hash(text: str) -> str:
    """Key of a text in blobs."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def as_json(value: Json) -> str:
    """JSON text of a value; lone surrogates and what JSON has no form for are replaced."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return orjson.dumps(without_surrogates(value), default=repr).decode()


def step_row(step: Step, place: Place, blobs: dict[tuple[str, str], str]) -> Row:
    """One step's row; long texts are added to `blobs`, and a call is noted in the place for its result.

    On the sink's hot path: nothing is called for a short, plain step but the JSON encoder.
    """
    detail, kind, status, text = step.detail, str(step.kind), str(step.status), step.text
    name = strategy = call_id = pattern_id = error = content_hash = detail_text = detail_hash = ""
    repairs: list[str] = []
    args_hash = 0
    pii: dict[str, int] = {}
    if kind == "tool_call":
        name, strategy, call_id = _name(detail), str(detail.get("strategy") or ""), str(detail.get("id") or "")
        if detail.get("repairs"):
            repairs, pattern_id = _repairs(detail["repairs"], detail.get("rules"))
        args_hash = _args_hash(name, detail.get("arguments"))
        place.calls[call_id] = (step.order, name)
    elif detail:
        name = str(detail.get("label") or detail.get("source") or detail.get("stage") or "")
    if detail:
        detail_text = as_json(detail)
        if len(detail_text) > DETAIL_CHARS_MAX:
            detail_hash = _kept(detail_text, place.tenant, blobs)
    if "_REDACTED]" in text or "_REDACTED]" in detail_text:
        pii = pii_counts(text, detail_text)
    if status != "ok":
        error = _error_class(kind, status, detail)
    chars = len(text)
    if chars > PREVIEW_CHARS:
        content_hash = _kept(text, place.tenant, blobs)
    return (
        place.tenant, place.run_id, step.stream_id, step.order, step.part, step.rev, place.session_id, place.goal_id,
        kind, name, status, error, step.model or place.model, step.format or place.format, strategy, call_id, repairs,
        pattern_id, args_hash, pii, place.started_ms if step.ts is None else int(step.ts), 0, None, step.confidence,
        step.span[0], step.span[1], chars, text[:PREVIEW_CHARS], content_hash, "" if detail_hash else detail_text,
        detail_hash,
    )  # fmt: skip


def result_row(result: ToolResult, place: Place, blobs: dict[tuple[str, str], str]) -> Row:
    """The row of a tool's result, beside its call; `place.calls` must know the call."""
    order, name = place.calls[result.call_id]
    text = result.content if isinstance(result.content, str) else as_json(result.content)
    detail = as_json({"error": result.error}) if result.error else ""
    content_hash = _kept(text, place.tenant, blobs) if len(text) > PREVIEW_CHARS else ""
    detail_hash = _kept(detail, place.tenant, blobs) if len(detail) > DETAIL_CHARS_MAX else ""
    error = "" if result.status == "ok" else result.status
    return (
        place.tenant, place.run_id, result.stream_id, order, TOOL_RESULT_PART, 0, place.session_id, place.goal_id,
        "tool_result", name, result.status, error, place.model, place.format, "", result.call_id, [], "", 0,
        pii_counts(text, detail), place.started_ms, round(result.duration_ms or 0), result.cost_usd, 1.0, 0, 0,
        len(text), text[:PREVIEW_CHARS], content_hash, "" if detail_hash else detail, detail_hash,
    )  # fmt: skip


def open_row(stream_id: str, place: Place) -> Row:
    """The provisional row of a stream that has steps and no output yet."""
    return (
        place.tenant, place.hour_ms // 1000, place.run_id, stream_id, place.session_id, place.goal_id, "open", "open",
        place.started_ms, max(place.ended_ms, place.started_ms), 0.0, "", place.model, "", "", place.format, [], "",
        place.steps, 0, 0, 0, 0, {}, 0, 0, 0.0, None, None, None, None, None, 0, "", place.rev,
    )  # fmt: skip


def output_row(output: Output, place: Place, blobs: dict[tuple[str, str], str]) -> Row:
    """The row of a stream that has its output; the output itself goes to blobs."""
    meta, calls = output.meta, output.tool_calls
    text = encode(output).decode()
    output_hash = _kept(text, place.tenant, blobs)
    standing = [call for call in calls if not call.superseded_by and not call.duplicate_of]
    errors = sum(call.status not in EXECUTABLE for call in standing)
    usage = _usage(output.extra.get("usage"))
    is_truncated = output.metadata.truncated
    ended_ms = place.started_ms if output.ts is None else int(output.ts)
    attrs = meta.attrs if meta else {}
    return (
        place.tenant, place.hour_ms // 1000, place.run_id, output.stream_id, place.session_id, place.goal_id,
        "truncated" if is_truncated else "closed", _outcome(errors, is_truncated, output.metadata.repairs_applied),
        place.started_ms, max(ended_ms, place.started_ms), output.latency_ms or 0.0, _title(output),
        place.model, (meta.provider if meta else None) or "", str(attrs.get("agent") or ""), output.format.id or "",
        list(dict.fromkeys(call.name or call.requested_name or "" for call in calls)),
        str(output.extra.get("finish_reason") or ""), output.metadata.segments, len(calls), errors,
        output.metadata.repairs_applied, len(output.failures), output.pii, len(output.reasoning.text or ""),
        len(output.response), output.metadata.parse_confidence, *usage, output.metadata.registry_version,
        output_hash, CLOSED_REV + output.rev,
    )  # fmt: skip


def failure_row(failure: Failure, place: Place) -> Row:
    """The row of one failure; its id is a hash of what it says."""
    context = failure.context or {}
    identity = f"{failure.stream_id}\0{failure.stage}\0{failure.code}\0{failure.span}\0{failure.found}"
    return (
        place.tenant, place.started_ms, text_hash(identity), place.run_id, failure.stream_id, str(failure.stage),
        str(failure.code), failure.signature, failure.state, failure.found, failure.expected, failure.span[0],
        failure.span[1], place.model, str(context.get("format") or place.format), str(context.get("rule") or ""),
        as_json(context) if context else "", 1 if context else 0,
    )  # fmt: skip


def pattern_row(pattern: Pattern, now_ms: int) -> Row:
    """One change of one registry entry."""
    return (
        pattern.id, pattern.version, pattern.registry_version, str(pattern.kind), str(pattern.state), pattern.priority,
        as_json(pattern.definition), as_json(list(pattern.evidence)), pattern.counters, list(pattern.positives),
        list(pattern.negatives), now_ms if pattern.ts is None else int(pattern.ts),
    )  # fmt: skip


def is_time(value: float | None, now_ms: int, days_back: int = 90) -> bool:
    """Whether a time in ms can be true: not older than `days_back`, not more than a day ahead. None is."""
    day = 86_400_000
    return value is None or (math.isfinite(value) and now_ms - days_back * day <= value <= now_ms + day)


def pii_counts(*texts: str) -> dict[str, int]:
    """Placeholders by PII type: what cleaning left in the texts. A detail that repeats its text counts once."""
    holding = [text for text in texts if "_REDACTED]" in text]
    if not holding:
        return {}
    found: Counter[str] = Counter()
    for text in holding:
        found |= Counter(_PLACEHOLDER.findall(text))
    return dict(found)


def without_surrogates(value: Json) -> Json:
    """The value with what UTF-8 has no place for replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {str(without_surrogates(key)): without_surrogates(item) for key, item in value.items()}
    return value


def _kept(text: str, tenant: str, blobs: dict[tuple[str, str], str]) -> str:
    key = text_hash(text)
    blobs[tenant, key] = text
    return key


def _name(detail: JsonObject) -> str:
    return str(detail.get("name") or detail.get("requested_name") or "")


def _repairs(given: Json, rules: Json) -> tuple[list[str], str]:
    """Codes, and the learned rule if one was used; a repair is a code or an object with code and rule."""
    codes, rule = [], str(rules[0]) if rules else ""
    for repair in given or ():
        if isinstance(repair, dict):
            codes.append(str(repair.get("code") or ""))
            rule = str(repair.get("rule") or rule)
        else:
            codes.append(str(repair))
    return codes, rule


def _args_hash(name: str, arguments: Json) -> int:
    if arguments is None:
        return 0
    try:
        body = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except TypeError:
        body = as_json(arguments).encode()
    digest = blake2b(body, digest_size=8, key=name.encode("utf-8", "replace")[:64]).digest()
    return int.from_bytes(digest, "little")


def _error_class(kind: str, status: str, detail: JsonObject) -> str:
    if status in NOT_AN_ERROR or (kind == "failure" and status in MENDED):
        return ""
    refusal = detail.get("refusal")
    return str((refusal.get("code") if isinstance(refusal, dict) else refusal) or status)


def _outcome(errors: int, is_truncated: bool, repairs: int) -> str:
    if errors:
        return "failed"
    if is_truncated:
        return "partial"
    return "repaired" if repairs else "clean"


def _usage(usage: Json) -> tuple[int | None, int | None, int | None, int | None, float | None]:
    """Prompt, completion, reasoning, cached tokens and cost, from the field names that servers use."""
    given = usage if isinstance(usage, dict) else {}
    inner = [given, *(value for value in given.values() if isinstance(value, dict))]

    def number(*names: str) -> Json:
        values = (table.get(name) for table in inner for name in names)
        return next((v for v in values if isinstance(v, int | float) and not isinstance(v, bool) and v >= 0), None)

    counts = (
        number("prompt_tokens", "input_tokens", "input"), number("completion_tokens", "output_tokens", "output"),
        number("reasoning_tokens", "reasoning"), number("cached_tokens", "cache_read_input_tokens", "cached"),
    )  # fmt: skip
    whole = [None if count is None else int(count) for count in counts]
    return whole[0], whole[1], whole[2], whole[3], number("cost_usd", "cost")


def _title(output: Output) -> str:
    return " ".join(output.response[: TITLE_CHARS * 4].split())[:TITLE_CHARS]
