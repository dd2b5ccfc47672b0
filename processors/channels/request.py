"""The arguments of a request to a model server → what a stream's `Meta` says: model, what the person asked, tools."""

from collections.abc import Iterator, Mapping

from processors.channels.part import fields_of, items_of, text_of, word_of
from schemas.jsonvalue import JsonObject
from schemas.token import GivenResult, Meta

RESULTS_CHARS_MAX = 20_000
"""Characters of tools' answers taken along; the latest ones that fit."""
_CALL_IDS = ("tool_call_id", "tool_use_id", "call_id")


def meta_of_request(request: Mapping[str, object]) -> Meta:
    """Of OpenAI's chat or responses, Anthropic's messages, LiteLLM's or Ollama's; unknown arguments are passed over."""
    tools = [found for item in items_of(request.get("tools")) if (found := _tool(fields_of(item)))]
    return Meta(
        model=word_of(request.get("model")), user=_user(request), tools=tuple(tools), results=tuple(_results(request))
    )


def _user(request: Mapping[str, object]) -> str | None:
    """The last message of the person; a result of a tool is none."""
    for key in ("messages", "input"):
        for item in reversed(items_of(request.get(key))):
            message = fields_of(item)
            if message.get("role") == "user" and (text := _content(message.get("content"))):
                return text
    return word_of(request.get("input")) or word_of(request.get("prompt"))


def _results(request: Mapping[str, object]) -> list[GivenResult]:
    """The latest answers of tools, in order, as far as they fit."""
    found: list[GivenResult] = []
    left = RESULTS_CHARS_MAX
    for part in _answers(request):
        call_id = next((word for key in _CALL_IDS if (word := word_of(part.get(key)))), None)
        text = (_content(part.get("content")) or text_of(part.get("output")))[:left]
        if call_id and text:
            left -= len(text)
            found.append(GivenResult(call_id=call_id, name=word_of(part.get("name")), content=text))
    return found[::-1]


def _answers(request: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """From the last: messages of role `tool`, `function_call_output`s, and `tool_result` blocks in messages."""
    for item in reversed([*items_of(request.get("messages")), *items_of(request.get("input"))]):
        message = fields_of(item)
        yield from (block for part in reversed(items_of(message.get("content"))) if (block := fields_of(part)))
        yield message


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
