"""Objects of Ollama, llama.cpp's own endpoint, TGI, LangChain and Gemini → parts."""

from collections.abc import Mapping

from processors.channels.chat import calls_of, channels_of, json_of
from processors.channels.part import CallPiece, Part, fields_of, items_of, numbers_of, text_of, whole_of, word_of


def read_ollama(chunk: Mapping[str, object]) -> Part:
    """`{"message": {…}, "done": …}` or `{"response": …, "done": …}`."""
    text, reasoning = channels_of(fields_of(chunk.get("message")))
    calls = calls_of(items_of(fields_of(chunk.get("message")).get("tool_calls")), is_whole=True)
    is_end = chunk.get("done") is True
    counts = {"prompt_eval_count": "prompt_tokens", "eval_count": "completion_tokens"}
    usage = {name: chunk[key] for key, name in counts.items() if isinstance(chunk.get(key), int)}
    return Part(
        text=text or text_of(chunk.get("response")),
        reasoning=reasoning or text_of(chunk.get("thinking")),
        calls=calls,
        finish_reason=word_of(chunk.get("done_reason")) or ("stop" if is_end else None),
        usage=usage or None,
        model=word_of(chunk.get("model")),
        is_end=is_end,
    )


def read_llama_cpp(chunk: Mapping[str, object]) -> Part:
    """`{"content": …, "stop": …}`."""
    is_end = chunk["stop"] is True
    return Part(
        text=text_of(chunk["content"]),
        finish_reason=(word_of(chunk.get("stop_type")) or "stop") if is_end else None,
        is_end=is_end,
    )


def read_tgi(chunk: Mapping[str, object]) -> Part:
    """`{"token": {"text": …, "special": …}, "details": …}`; special tokens are not part of the text."""
    token, details = fields_of(chunk["token"]), fields_of(chunk.get("details"))
    reason = word_of(details.get("finish_reason"))
    return Part(
        text="" if token.get("special") else text_of(token.get("text")),
        finish_reason=reason,
        usage={"completion_tokens": details["generated_tokens"]} if "generated_tokens" in details else None,
        is_end=reason is not None,
    )


def read_langchain(chunk: Mapping[str, object]) -> Part:
    """An `AIMessageChunk`: `content`, `tool_call_chunks`, `usage_metadata`."""
    extra, about = fields_of(chunk.get("additional_kwargs")), fields_of(chunk.get("response_metadata"))
    text, reasoning = channels_of({**extra, "content": chunk.get("content")})
    return Part(
        text=text,
        reasoning=reasoning,
        calls=calls_of(items_of(chunk["tool_call_chunks"])),
        finish_reason=word_of(about.get("finish_reason")) or word_of(about.get("stop_reason")),
        usage=numbers_of(chunk.get("usage_metadata")),
        model=word_of(about.get("model_name")),
        response_id=word_of(chunk.get("id")),
    )


def read_gemini(chunk: Mapping[str, object]) -> tuple[Part, ...]:
    """`{"candidates": [{"content": {"parts": […]}, "finishReason": …}], "usageMetadata": …}`."""
    usage = numbers_of(chunk.get("usageMetadata", chunk.get("usage_metadata")))
    model = word_of(chunk.get("modelVersion", chunk.get("model_version")))
    found = []
    for item in items_of(chunk["candidates"]):
        candidate = fields_of(item)
        text, reasoning = "", ""
        calls = []
        for entry in items_of(fields_of(candidate.get("content")).get("parts")):
            part = fields_of(entry)
            written = text_of(part.get("text"))
            text, reasoning = (text, reasoning + written) if part.get("thought") else (text + written, reasoning)
            call = fields_of(part.get("functionCall", part.get("function_call")))
            if call:
                calls.append(_gemini_call(call))
        reason = word_of(candidate.get("finishReason", candidate.get("finish_reason")))
        choice = whole_of(candidate.get("index"))
        is_end = reason is not None
        reason = reason.lower() if reason else None
        found.append(Part(text, reasoning, tuple(calls), reason, usage, model, choice=choice, is_end=is_end))
    return tuple(found)


def _gemini_call(call: Mapping[str, object]) -> CallPiece:
    name, arguments = text_of(call.get("name")), json_of(call.get("args") or {})
    return CallPiece("", name, text_of(call.get("id")), arguments, is_end=True, is_whole=True)
