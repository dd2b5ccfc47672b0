"""OpenAI chat-completions chunk → parts; also the older completions, a whole answer, and those who send the same.

LiteLLM, vLLM, SGLang, llama.cpp's server and most hosts send these fields; where they differ (`reasoning_content`,
`reasoning`, content as a list of parts), all spellings are read.
"""

from collections.abc import Mapping, Sequence

import orjson

from processors.channels.part import CallPiece, Part, fields_of, items_of, numbers_of, text_of, whole_of, word_of


def read_chat(chunk: Mapping[str, object]) -> tuple[Part, ...]:
    """A chunk with `choices` → a part for each choice; usage that comes alone is of the first."""
    choices = items_of(chunk["choices"])
    usage = numbers_of(chunk.get("usage")) if chunk.get("usage") is not None else None
    awaits_usage = "usage" in chunk and usage is None
    model, response_id = word_of(chunk.get("model")), word_of(chunk.get("id"))
    if not choices:
        return (Part(usage=usage, model=model, response_id=response_id, is_end=usage is not None),)
    return tuple(
        _choice(fields_of(choice), usage, (model, response_id), awaits_usage=awaits_usage) for choice in choices
    )


def _choice(
    choice: Mapping[str, object],
    usage: dict[str, object] | None,
    names: tuple[str | None, str | None],
    *,
    awaits_usage: bool,
) -> Part:
    whole = choice.get("message")
    delta = fields_of(choice.get("delta") if whole is None else whole)
    text, reasoning = channels_of(delta)
    finish_reason = word_of(choice.get("finish_reason"))
    has_calls = delta.get("tool_calls") or delta.get("function_call")
    return Part(
        text=text or text_of(choice.get("text")),
        reasoning=reasoning,
        calls=_calls(delta, is_whole=whole is not None) if has_calls else (),
        finish_reason=finish_reason,
        usage=usage,
        model=names[0],
        response_id=names[1],
        choice=whole_of(choice.get("index")),
        is_end=finish_reason is not None and not awaits_usage,
    )


def channels_of(delta: Mapping[str, object]) -> tuple[str, str]:
    """Text and reasoning of a delta or a message."""
    content = delta.get("content")
    reasoning = text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning"))
    reasoning = reasoning or text_of(delta.get("thinking"))
    if isinstance(content, str):
        return content, reasoning
    text = ""
    for item in items_of(content):
        part = fields_of(item)
        if text_of(part.get("type")) in {"thinking", "reasoning"}:
            reasoning += _thought(part)
        else:
            text += text_of(part.get("text"))
    return text or text_of(delta.get("refusal")), reasoning


def _thought(part: Mapping[str, object]) -> str:
    inner = part.get("thinking", part.get("text", part.get("reasoning")))
    return text_of(inner) or "".join(text_of(fields_of(item).get("text")) for item in items_of(inner))


def _calls(delta: Mapping[str, object], *, is_whole: bool) -> tuple[CallPiece, ...]:
    found = delta.get("tool_calls")
    if found:
        return calls_of(items_of(found), is_whole=is_whole)
    alone = fields_of(delta.get("function_call"))
    if not alone:
        return ()
    arguments = text_of(alone.get("arguments"))
    return (CallPiece("0", text_of(alone.get("name")), "", arguments, is_end=is_whole, is_whole=is_whole),)


def calls_of(items: Sequence[object], *, is_whole: bool = False) -> tuple[CallPiece, ...]:
    """Entries of `tool_calls`; an entry's place is its index, where it has none its order."""
    pieces = []
    for place, item in enumerate(items):
        call = fields_of(item)
        function = fields_of(call.get("function")) or call
        index = call.get("index")
        arguments = function.get("arguments", call.get("args"))
        written = arguments if isinstance(arguments, str) else json_of(arguments) if arguments is not None else ""
        pieces.append(
            CallPiece(
                key=str(index) if isinstance(index, int) else "" if is_whole else str(place),
                name=text_of(function.get("name")),
                call_id=text_of(call.get("id")),
                arguments=written,
                is_end=is_whole,
                is_whole=is_whole,
            )
        )
    return tuple(pieces)


def json_of(value: object) -> str:
    """A value as JSON text; what JSON has no place for becomes its own text."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # nested too deep, a lone surrogate, a number of more than 64 bits
        return "{}"
