"""One object of any server's stream → its parts, recognised by its fields alone."""

from collections.abc import Mapping

from processors.channels.chat import read_chat
from processors.channels.messages import DERIVED_EVENTS, MESSAGE_EVENTS, read_message_event
from processors.channels.others import read_gemini, read_langchain, read_llama_cpp, read_ollama, read_tgi
from processors.channels.part import Part, fields_of
from processors.channels.responses import read_response_event

KNOWN = (
    "an OpenAI chat or completions chunk (`choices`), an OpenAI responses event or an Anthropic event (`type`), "
    "an object of Ollama (`done`), llama.cpp (`content`, `stop`), TGI (`token`) or Gemini (`candidates`)"
)
"""For people: what is recognised."""


def read_object(value: object) -> tuple[Part, ...] | None:
    """Parts of one object; none for one that says nothing about the answer, None for one of no known shape."""
    fields = fields_of(value)
    if "choices" in fields:
        return read_chat(fields)
    kind = fields.get("type")
    if isinstance(kind, str) and (found := _by_type(fields, kind)) is not None:
        return found
    if "tool_call_chunks" in fields:
        return (read_langchain(fields),)
    if "done" in fields and ("message" in fields or "response" in fields):
        return (read_ollama(fields),)
    if "content" in fields and "stop" in fields:
        return (read_llama_cpp(fields),)
    if fields_of(fields.get("token")):
        return (read_tgi(fields),)
    return read_gemini(fields) if "candidates" in fields else None


def _by_type(fields: Mapping[str, object], kind: str) -> tuple[Part, ...] | None:
    if kind in MESSAGE_EVENTS:
        return (read_message_event(fields),)
    if kind.startswith("response."):
        return (read_response_event(fields),)
    return () if kind in DERIVED_EVENTS else None
