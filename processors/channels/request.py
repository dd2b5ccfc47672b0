"""The arguments of a request to a model server → what a stream's `Meta` says: model, what the person asked, tools."""

from collections.abc import Mapping

from processors.channels.part import fields_of, items_of, text_of, word_of
from schemas.jsonvalue import JsonObject
from schemas.token import Meta


def meta_of_request(request: Mapping[str, object]) -> Meta:
    """Of OpenAI's chat or responses, Anthropic's messages, LiteLLM's or Ollama's; unknown arguments are passed over."""
    tools = [found for item in items_of(request.get("tools")) if (found := _tool(fields_of(item)))]
    return Meta(model=word_of(request.get("model")), user=_user(request), tools=tuple(tools))


def _user(request: Mapping[str, object]) -> str | None:
    """The last message of the person; a result of a tool is none."""
    for key in ("messages", "input"):
        for item in reversed(items_of(request.get(key))):
            message = fields_of(item)
            if message.get("role") == "user" and (text := _content(message.get("content"))):
                return text
    return word_of(request.get("input")) or word_of(request.get("prompt"))


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (text_of(fields_of(item).get("text")) for item in items_of(content))))


def _tool(tool: Mapping[str, object]) -> JsonObject | None:
    """A tool in OpenAI's function form, of either of its APIs' forms or Anthropic's; None for a server's own tool."""
    function = fields_of(tool.get("function")) or tool
    name = word_of(function.get("name"))
    parameters = function.get("parameters", function.get("input_schema"))
    if name is None or not (isinstance(parameters, dict) or parameters is None):
        return None
    described = {"description": words} if (words := text_of(function.get("description"))) else {}
    return {"type": "function", "function": {"name": name, **described, "parameters": parameters or {}}}
