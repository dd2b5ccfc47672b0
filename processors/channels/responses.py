"""OpenAI responses event → part. Types not named here carry nothing that the text of an answer needs."""

from collections.abc import Mapping

from processors.channels.chat import json_of
from processors.channels.part import CallPiece, Part, fields_of, numbers_of, text_of, word_of

_TEXT = frozenset({"response.output_text.delta", "response.refusal.delta"})
_REASONING = frozenset({"response.reasoning_text.delta", "response.reasoning_summary_text.delta"})
_ARGUMENTS = frozenset({"response.function_call_arguments.delta", "response.mcp_call_arguments.delta"})
_ENDS = {
    "response.completed": "stop",
    "response.incomplete": "length",
    "response.failed": "error",
    "response.cancelled": "cancelled",
}


def read_response_event(event: Mapping[str, object]) -> Part:
    """One event, by its `type`."""
    kind, delta = text_of(event.get("type")), event.get("delta")
    if kind in _TEXT:
        return Part(text=text_of(delta))
    if kind in _REASONING:
        return Part(reasoning=text_of(delta))
    if kind in _ARGUMENTS:
        return Part(calls=(CallPiece(_key(event), arguments=text_of(delta)),))
    if kind in {"response.output_item.added", "response.output_item.done"}:
        return _item(event, is_end=kind.endswith("done"))
    if kind == "response.created" or kind in _ENDS:
        return _frame(event, kind)
    return Part()


def _key(event: Mapping[str, object]) -> str:
    return str(event.get("output_index", 0))


def _item(event: Mapping[str, object], *, is_end: bool) -> Part:
    """A call begins with its name, and ends with all its arguments, which outrank the deltas."""
    item = fields_of(event.get("item"))
    kind = item.get("type")
    if kind == "function_call":
        written = text_of(item.get("arguments"))
    elif kind == "custom_tool_call":
        written = json_of({"input": text_of(item.get("input"))})
    else:
        return Part()
    name, call_id = text_of(item.get("name")), text_of(item.get("call_id")) or text_of(item.get("id"))
    arguments = written if is_end else ""
    return Part(calls=(CallPiece(_key(event), name, call_id, arguments, is_end=is_end, is_whole=is_end),))


def _frame(event: Mapping[str, object], kind: str) -> Part:
    response = fields_of(event.get("response"))
    reason = word_of(fields_of(response.get("incomplete_details")).get("reason"))
    return Part(
        finish_reason=(reason or _ENDS[kind]) if kind in _ENDS else None,
        usage=numbers_of(response.get("usage")),
        model=word_of(response.get("model")),
        response_id=word_of(response.get("id")),
        is_end=kind in _ENDS,
    )
