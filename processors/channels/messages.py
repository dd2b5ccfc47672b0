"""Anthropic messages event → part. Events that an SDK derives from others (`text`, `input_json`) carry nothing new."""

from collections.abc import Mapping

from processors.channels.chat import json_of
from processors.channels.part import CallPiece, Part, fields_of, numbers_of, text_of, word_of

MESSAGE_EVENTS = frozenset(
    {
        "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
        "message_stop",
    }
)  # fmt: skip
DERIVED_EVENTS = frozenset({"ping", "text", "thinking", "signature", "input_json", "citation", "error"})
_CALLS = frozenset({"tool_use", "server_tool_use"})


def read_message_event(event: Mapping[str, object]) -> Part:
    """One event, by its `type`."""
    kind = event["type"]
    key = str(event.get("index", 0))
    if kind == "content_block_delta":
        return _delta(fields_of(event.get("delta")), key)
    if kind == "content_block_start":
        return _block(fields_of(event.get("content_block")), key)
    if kind == "content_block_stop":
        return Part(calls=(CallPiece(key, is_end=True),))
    if kind == "message_start":
        message = fields_of(event.get("message"))
        model, response_id = word_of(message.get("model")), word_of(message.get("id"))
        return Part(model=model, response_id=response_id, usage=numbers_of(message.get("usage")))
    if kind == "message_delta":
        reason = word_of(fields_of(event.get("delta")).get("stop_reason"))
        return Part(finish_reason=reason, usage=numbers_of(event.get("usage")))
    return Part(is_end=True)


def _delta(delta: Mapping[str, object], key: str) -> Part:
    kind = delta.get("type")
    if kind == "text_delta":
        return Part(text=text_of(delta.get("text")))
    if kind == "thinking_delta":
        return Part(reasoning=text_of(delta.get("thinking")))
    if kind == "input_json_delta":
        return Part(calls=(CallPiece(key, arguments=text_of(delta.get("partial_json"))),))
    return Part()


def _block(block: Mapping[str, object], key: str) -> Part:
    kind = text_of(block.get("type"))
    if kind in _CALLS:
        given = fields_of(block.get("input"))
        arguments = json_of(given) if given else ""
        return Part(calls=(CallPiece(key, text_of(block.get("name")), text_of(block.get("id")), arguments),))
    return Part(text=text_of(block.get("text")), reasoning=text_of(block.get("thinking")))
