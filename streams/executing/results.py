"""A tool's work → what came of it within its time, as a result that is fit for a public topic."""

import asyncio
import math
from collections.abc import Awaitable
from dataclasses import replace

from processors.dispatching.errors import ErrorClass, Fault, class_of
from processors.pii.redact import redact, redact_json
from schemas.jsonvalue import JsonObject
from schemas.toolcall import ToolCall, ToolResult
from schemas.wire import decode
from streams.executing.protocol import Answer, Tool, plain

ERROR_CHARS_MAX = 2_000


async def outcome(work: Awaitable[Answer | Fault], s_max: float) -> tuple[Answer | Fault, bool]:
    """What a tool gave, or its exception as a Fault; and whether it was given up because it took longer.

    A function in a thread can't be stopped: it may still take effect after it was given up.
    """
    task = asyncio.ensure_future(work)
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


def judged(call: ToolCall, came: Answer | Fault, tool: Tool) -> ToolResult:
    """The result of a call that ran: its answer, or whose fault its error is."""
    if isinstance(came, Answer):
        cost = came.cost_usd if came.cost_usd is not None and 0 <= came.cost_usd < math.inf else None
        return result_of(call, "ok", content=plain(came.content), cost_usd=cost)
    found, rule = class_of(came, tool.error_rules)
    content: JsonObject = {"rule": rule, "kind": came.kind, "code": came.code}
    if found is ErrorClass.PARAM:
        content["parameters"] = tool.describe()["parameters"]
    return result_of(call, found.value, content=content, error=came.text or came.kind)


def result_of(call: ToolCall, status: str, **more: object) -> ToolResult:
    """A result that is fit for a public topic: without personal data, of bounded size."""
    return cleaned(ToolResult(stream_id=call.stream_id, call_id=call.id, status=status, **more))  # type: ignore[arg-type]


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
