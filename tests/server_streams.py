"""The same answer as the servers' streams have it: reasoning, a sentence, two parallel calls. Written for the tests."""


def _delta(delta: dict, **more) -> dict:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-x", "usage": None,
            "choices": [{"index": 0, "delta": delta, "finish_reason": None, **more}]}  # fmt: skip


def _call(index: int, arguments: str, **more) -> dict:
    return {"index": index, "function": {"arguments": arguments, **more}}


CHAT = [
    _delta({"role": "assistant", "content": ""}),
    _delta({"reasoning_content": "Two cities. Ask for "}),
    _delta({"reasoning_content": "both </think> at once."}),
    _delta({"content": "Looking "}),
    _delta({"content": "both up."}),
    _delta({"tool_calls": [{**_call(0, "", name="get_weather"), "id": "call_a", "type": "function"}]}),
    _delta({"tool_calls": [_call(0, '{"city": ')]}),
    _delta({"tool_calls": [_call(0, '"Oslo"}')]}),
    _delta({"tool_calls": [{**_call(1, '{"ci', name="get_weather"), "id": "call_b", "type": "function"}]}),
    _delta({"tool_calls": [_call(1, 'ty": "北京"}')]}),
    _delta({}, finish_reason="tool_calls"),
    {"id": "chatcmpl-1", "model": "gpt-x", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 30}},
]


def _item(index: int, call_id: str, arguments: str, kind: str) -> dict:
    item = {"type": "function_call", "id": f"fc_{index}", "call_id": call_id, "name": "get_weather"}
    return {"type": f"response.output_item.{kind}", "output_index": index, "item": {**item, "arguments": arguments}}


RESPONSES = [
    {"type": "response.created", "response": {"id": "resp_1", "model": "gpt-x", "usage": None}},
    {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "Two cities. Ask for both "},
    {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "</think> at once."},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Looking both up."},
    _item(2, "call_a", "", "added"),
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"city": "Os'},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": 'lo"}'},
    {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": '{"city": "Oslo"}'},
    _item(2, "call_a", '{"city": "Oslo"}', "done"),
    _item(3, "call_b", "", "added"),
    _item(3, "call_b", '{"city": "北京"}', "done"),
    {"type": "response.completed", "response": {"id": "resp_1", "model": "gpt-x",
     "usage": {"input_tokens": 9, "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 8}}}},
]  # fmt: skip


def _block(kind: str, index: int, **more) -> dict:
    return {"type": f"content_block_{kind}", "index": index, **more}


ANTHROPIC = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": [],
            "usage": {"input_tokens": 9, "output_tokens": 1},
        },
    },
    _block("start", 0, content_block={"type": "thinking", "thinking": "", "signature": ""}),
    _block("delta", 0, delta={"type": "thinking_delta", "thinking": "Two cities. Ask for both </think>"}),
    _block("delta", 0, delta={"type": "thinking_delta", "thinking": " at once."}),
    _block("delta", 0, delta={"type": "signature_delta", "signature": "xyz"}),
    _block("stop", 0),
    {"type": "ping"},
    _block("start", 1, content_block={"type": "text", "text": ""}),
    _block("delta", 1, delta={"type": "text_delta", "text": "Looking both up."}),
    _block("stop", 1),
    _block("start", 2, content_block={"type": "tool_use", "id": "toolu_a", "name": "get_weather", "input": {}}),
    _block("delta", 2, delta={"type": "input_json_delta", "partial_json": '{"city": "Os'}),
    _block("delta", 2, delta={"type": "input_json_delta", "partial_json": 'lo"}'}),
    _block("stop", 2),
    _block("start", 3, content_block={"type": "tool_use", "id": "toolu_b", "name": "get_weather", "input": {}}),
    _block("delta", 3, delta={"type": "input_json_delta", "partial_json": '{"city": "北京"}'}),
    _block("stop", 3),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30}},
    {"type": "message_stop"},
]


def _ollama(message: dict, **more) -> dict:
    return {"model": "llama-x", "message": {"role": "assistant", "content": "", **message}, "done": False, **more}


OLLAMA = [
    _ollama({"thinking": "Two cities. Ask for both </think> at once."}),
    _ollama({"content": "Looking "}),
    _ollama({"content": "both up."}),
    _ollama({"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}]}),
    _ollama({"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "北京"}}}]}),
    _ollama({}, done=True, done_reason="stop", eval_count=30, prompt_eval_count=9),
]


def _gemini(*parts: dict, **more) -> dict:
    return {"modelVersion": "gemini-x", "candidates": [{"content": {"parts": list(parts)}, **more}]}


GEMINI = [
    _gemini({"thought": True, "text": "Two cities. Ask for both </think> at once."}),
    _gemini({"text": "Looking both up."}),
    _gemini({"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}),
    {**_gemini({"functionCall": {"name": "get_weather", "args": {"city": "北京"}}}, finishReason="STOP"),
     "usageMetadata": {"promptTokenCount": 9}},
]  # fmt: skip

LLAMA_CPP = [
    {"content": "It is ", "stop": False},
    {"content": "7 °C.", "stop": False},
    {"content": "", "stop": True, "stop_type": "eos"},
]
TGI = [
    {"token": {"id": 1, "text": "It is ", "special": False}},
    {"token": {"id": 2, "text": "7 °C.", "special": False}},
    {"token": {"id": 3, "text": "</s>", "special": True}, "generated_text": "It is 7 °C.",
     "details": {"finish_reason": "eos_token", "generated_tokens": 3}},
]  # fmt: skip
