"""A tool's work → what came of it within its time, as a result that is fit for a public topic."""

import asyncio
import math
from collections.abc import Awaitable, Mapping
from dataclasses import replace

from processors.dispatching.errors import ErrorClass, ErrorRule, Fault, rule_for
from processors.dispatching.usage import usage_of, usage_of_unknown
from processors.pii.redact import redact, redact_json
from schemas.jsonvalue import JsonObject
from schemas.toolcall import ToolCall, ToolResult
from schemas.wire import decode
from streams.executing.protocol import Answer, Tool, plain

ERROR_CHARS_MAX = 2_000


async def outcome(work: Awaitable[Answer | Fault], s_max: float) -> tuple[Answer | Fault, bool]:
    """What a tool gave, as bounded JSON, or its exception as a Fault; and whether it was given up as it took longer.

    A function in a thread can't be stopped: it may still take effect after it was given up.
    """
    task = asyncio.create_task(_fit(work))
    try:
        await asyncio.wait({task}, timeout=s_max)
    finally:
        is_done = task.done()
        if not is_done:
            task.cancel()
    if not is_done:
        return Fault(kind="TimeoutError", text=f"no answer within {s_max:g} s"), True
    if task.cancelled():
        return Fault(kind="CancelledError", text="the tool gave up"), False
    # Asked for, not caught: tools may raise anything, and whatever it is, it is theirs.
    if (error := task.exception()) is not None:
        return Fault(kind=type(error).__name__, text=str(error)), False
    return task.result(), False


async def _fit(work: Awaitable[Answer | Fault]) -> Answer | Fault:
    """Part of the work, because what an object says of itself is the tool's code too, and may raise."""
    came = await work
    if isinstance(came, Fault):
        return came
    is_cost = came.cost_usd is not None and 0 <= came.cost_usd < math.inf
    return Answer(plain(came.content), came.cost_usd if is_cost else None)


def judged(call: ToolCall, came: Answer | Fault, tool: Tool, own: tuple[ErrorRule, ...] = ()) -> ToolResult:
    """The result of a call that ran: its answer, or whose fault its error is.

    own: rules of this dispatcher's operator; they come first, then those of the tool.
    """
    if isinstance(came, Answer):
        return result_of(call, "ok", content=came.content, cost_usd=came.cost_usd)
    rule = rule_for(came, (*own, *tool.error_rules), call.name or "")
    found = rule.error if rule else ErrorClass.SYSTEM
    content: JsonObject = {"rule": rule.id if rule else "unknown", "kind": came.kind, "code": came.code}
    if found is ErrorClass.PARAM:
        content |= right_usage(tool, rule.usage if rule else "")
    return result_of(call, found.value, content=content, error=came.text or came.kind)


def wrong_arguments(call: ToolCall, wrong: str, tool: Tool) -> ToolResult:
    """The result of a call whose arguments its tool does not take."""
    return result_of(call, "param_error", content={"rule": "schema"} | right_usage(tool), error=wrong)


def right_usage(tool: Tool, hint: str = "") -> JsonObject:
    """How a tool is called, for the model that called it wrongly."""
    definition = tool.describe()
    return {"usage": usage_of(definition, tool.validate, hint), "parameters": definition["parameters"]}


def explained(result: ToolResult, call: ToolCall, tools: Mapping[str, Tool]) -> ToolResult:
    """The result of a call that was held back, with the right usage where the model can call again."""
    if result.status != "param_error" or not isinstance(result.content, dict):
        return result
    tool = tools.get(call.name or "")
    usage = right_usage(tool) if tool else {"usage": usage_of_unknown(list(tools))}
    return replace(result, content=result.content | usage)


def result_of(call: ToolCall, status: str, **more: object) -> ToolResult:
    """A result that is fit for a public topic: without personal data, of bounded size."""
    return cleaned(ToolResult(stream_id=call.stream_id, call_id=call.id, status=status, **more))  # type: ignore[arg-type]  # names and types are ToolResult's


def cleaned(result: ToolResult) -> ToolResult:
    """The same without personal data, its message bounded."""
    error = result.error
    try:
        if error is not None:
            error = redact(error[:ERROR_CHARS_MAX].encode("utf-8", "replace").decode()).text
        return replace(result, error=error, content=redact_json(result.content)[0])
    except (ValueError, LookupError, ArithmeticError, RecursionError):
        # What cleaning raises on text that nobody thought of. The call has run: its status is kept, its words are not.
        said = error and "what the tool said could not be cleaned"
        return replace(result, error=said, content={"reason": "clean_failed"})


def kept_result(data: bytes) -> ToolResult:
    """A result as it was kept."""
    found = decode(data)
    assert isinstance(found, ToolResult), "only results are kept"
    return found
