"""A whole chat answer → the same with its tool calls checked and repaired, in the shape in which it came.

What the model wrote as text and was meant as a call becomes a call. Only executable calls are written; if there is
none, the answer goes back as it was. Nothing is cleaned: the answer is the asker's own.
"""

from dataclasses import replace

import orjson

from processors.channels.items import ItemReader
from processors.channels.part import Part
from processors.channels.render import Renderer
from processors.channels.request import meta_of_request
from processors.knowledge import shipped_knowledge
from processors.pipeline import PipelineOptions, run
from schemas.jsonvalue import JsonObject
from schemas.output import Output
from streams.client.outputs import executable

OPTIONS = PipelineOptions(is_clean=False)


def repaired(body: bytes, asked: JsonObject, stream_id: str) -> tuple[bytes, str]:
    """The new body and its content type."""
    is_events = not body.lstrip().startswith(b"{")
    reader = ItemReader()
    parts = reader.read(body + b"\n") if is_events else reader.read(_loads(body))
    first = [part for part in parts if part.choice == 0]
    if len(first) != len(parts):  # several answers: left as they are
        return body, _kind(is_events=is_events)
    output = _output(first, asked, stream_id)
    if not executable(output):
        return body, _kind(is_events=is_events)
    return _events(output, first) if is_events else _whole(output, _loads(body))


def _loads(body: bytes) -> JsonObject:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _kind(*, is_events: bool) -> str:
    return "text/event-stream" if is_events else "application/json"


def _output(parts: list[Part], asked: JsonObject, stream_id: str) -> Output:
    renderer = Renderer()
    text = "".join([*(renderer.feed(part) for part in parts), renderer.close()])
    meta = meta_of_request(asked)
    model = next((part.model for part in parts if part.model), None)
    return run(stream_id, [text], replace(meta, model=meta.model or model), shipped_knowledge(), OPTIONS)


def _message(output: Output) -> JsonObject:
    calls = [
        {
            "index": index,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": orjson.dumps(call.arguments).decode()},
        }
        for index, call in enumerate(executable(output))
    ]
    message: JsonObject = {"role": "assistant", "content": output.response or None, "tool_calls": calls}
    return message | ({"reasoning_content": output.reasoning.text} if output.reasoning.text else {})


def _whole(output: Output, body: JsonObject) -> tuple[bytes, str]:
    message = _message(output)
    for call in message["tool_calls"]:
        del call["index"]
    choice = {**body["choices"][0], "message": message, "finish_reason": "tool_calls"}
    return orjson.dumps({**body, "choices": [choice]}), _kind(is_events=False)


def _events(output: Output, parts: list[Part]) -> tuple[bytes, str]:
    about = {
        "id": next((part.response_id for part in parts if part.response_id), output.stream_id),
        "object": "chat.completion.chunk",
        "created": 0,
        "model": next((part.model for part in parts if part.model), ""),
    }
    choices = [
        [{"index": 0, "delta": _message(output), "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
    ]
    chunks: list[JsonObject] = [{**about, "choices": choice} for choice in choices]
    usage = next((part.usage for part in reversed(parts) if part.usage), None)
    if usage is not None:
        chunks.append({**about, "choices": [], "usage": usage})
    lines = [b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks]
    return b"".join([*lines, b"data: [DONE]\n\n"]), _kind(is_events=True)
