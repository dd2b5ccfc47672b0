"""One run's outputs and tool results → a conversation for training: ShareGPT or OpenAI form. Pure.

Only what is clean and whole becomes training data: a run with a call whose arguments could not be read is told apart
with the reason, never filled in. Calls that another call replaced or repeated are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import EXECUTABLE

EXECUTABLE_NAMES = frozenset(str(status) for status in EXECUTABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One stream: its output as JSON, and the results of its calls by call id."""

    output: JsonObject
    results: dict[str, JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run: its streams in order of time."""

    run_id: str
    started_at: str
    outcome: str
    turns: Sequence[Turn]


def unfit(run: Run) -> str:
    """Why a run is no training data; empty when it is."""
    if not run.turns:
        return "no_output"
    if not any(_user(turn) for turn in run.turns):
        return "no_user_message"
    for turn in run.turns:
        for call in turn.output.get("tool_calls", ()):
            if _counts(call) and call.get("status") not in EXECUTABLE_NAMES:
                return f"call_{call.get('status')}"
            if _counts(call) and not isinstance(call.get("arguments"), dict):
                return "call_without_arguments"
    if run.outcome in {"open", "partial"}:
        return run.outcome
    return ""


def sharegpt(run: Run, tools: Sequence[str]) -> JsonObject:
    """Hermes's reading of ShareGPT: think, tool_call and tool_response tags; figures for every tool of the export."""
    conversation: list[JsonObject] = []
    if schemas := _schemas(run):
        conversation.append(
            {"from": "system", "value": "Tools:\n<tools>\n" + "\n".join(map(_json, schemas)) + "\n</tools>"}
        )
    said = ""
    for turn in run.turns:
        if (user := _user(turn)) and user != said:
            conversation.append({"from": "human", "value": user})
            said = user
        _add(conversation, "gpt", _written(turn.output))
        answers = [_answer(turn, call) for call in _calls(turn.output) if call["id"] in turn.results]
        if answers:
            conversation.append({"from": "tool", "value": "\n".join(answers)})
    return {
        "id": run.run_id,
        "conversations": conversation,
        "model": _model(run),
        "timestamp": run.started_at,
        "completed": run.outcome in {"clean", "repaired"},
        "tool_stats": _figures(run, tools),
    }


def openai(run: Run, tools: Sequence[str]) -> JsonObject:
    """Chat messages as OpenAI's fine-tuning takes them; reasoning stands in `reasoning_content`."""
    messages: list[JsonObject] = []
    said = ""
    for turn in run.turns:
        if (user := _user(turn)) and user != said:
            messages.append({"role": "user", "content": user})
            said = user
        calls = _calls(turn.output)
        message: JsonObject = {"role": "assistant", "content": turn.output.get("response") or None}
        if reasoning := turn.output.get("reasoning", {}).get("text"):
            message["reasoning_content"] = reasoning
        if calls:
            message["tool_calls"] = [
                {"id": call["id"], "type": "function",
                 "function": {"name": call["name"], "arguments": _json(call["arguments"])}}
                for call in calls
            ]  # fmt: skip
        messages.append(message)
        for call in calls:
            if result := turn.results.get(call["id"]):
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result["text"]})
    return {
        "id": run.run_id, "messages": messages, "tools": _schemas(run), "model": _model(run),
        "timestamp": run.started_at, "tool_stats": _figures(run, tools),
    }  # fmt: skip


FORMS = {"sharegpt": sharegpt, "openai": openai}


def _written(output: JsonObject) -> str:
    """What the model wrote, in the tags that trainers know; in the order of writing."""
    pieces: list[tuple[int, str]] = []
    nodes = output.get("reasoning", {}).get("nodes", ())
    pieces += [(node["order"], f"<think>\n{node['text'].strip()}\n</think>") for node in nodes]
    for call in _calls(output):
        body = _json({"name": call["name"], "arguments": call["arguments"]})
        pieces.append((call["order"], f"<tool_call>\n{body}\n</tool_call>"))
    thoughts = [text for order, text in sorted(pieces) if text.startswith("<think>")]
    calls = [text for order, text in sorted(pieces) if text.startswith("<tool_call>")]
    response = (output.get("response") or "").strip()
    return "\n".join([*thoughts, *([response] if response else []), *calls])


def _answer(turn: Turn, call: JsonObject) -> str:
    result = turn.results[call["id"]]
    body = {"tool_call_id": call["id"], "name": call["name"], "content": result["text"]}
    return f"<tool_response>\n{_json(body)}\n</tool_response>"


def _add(conversation: list[JsonObject], who: str, value: str) -> None:
    """Trainers want turns to alternate: two outputs with nothing between them are one turn."""
    if conversation and conversation[-1]["from"] == who:
        conversation[-1]["value"] += "\n" + value
    else:
        conversation.append({"from": who, "value": value})


def _figures(run: Run, tools: Sequence[str]) -> JsonObject:
    figures = {name: {"count": 0, "success": 0, "failure": 0} for name in tools}
    for turn in run.turns:
        for call in _calls(turn.output):
            figure = figures.setdefault(call["name"], {"count": 0, "success": 0, "failure": 0})
            figure["count"] += 1
            if result := turn.results.get(call["id"]):
                figure["success" if result["status"] == "ok" else "failure"] += 1
    return figures


def _calls(output: JsonObject) -> list[JsonObject]:
    return [call for call in output.get("tool_calls", ()) if _counts(call) and call.get("status") in EXECUTABLE_NAMES]


def _counts(call: JsonObject) -> bool:
    return not call.get("duplicate_of") and not call.get("superseded_by")


def _schemas(run: Run) -> list[JsonObject]:
    found = {_json(schema): schema for turn in run.turns for schema in _meta(turn).get("tools") or ()}
    return list(found.values())


def _model(run: Run) -> str:
    return next((model for turn in run.turns if (model := _meta(turn).get("model"))), "")


def _user(turn: Turn) -> str:
    return _meta(turn).get("user") or ""


def _meta(turn: Turn) -> JsonObject:
    return turn.output.get("meta") or {}


def _json(value: Json) -> str:
    return orjson.dumps(value).decode()
