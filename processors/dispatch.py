"""An output → which of its calls run, in which order, and why the others don't.

Calls run in waves: those of one wave beside each other, a wave after the one before it. Calls that change nothing share
a wave; a call with side effects has its own, because what was written before it may be what it builds on, and what was
written after it may build on it. A rule may say that a tool's side effects are independent.

Pure: whether a call ran before, and what the task has used, is asked elsewhere, for each call, when its turn comes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from processors.dispatching.identity import call_key, execution_id
from processors.dispatching.policy import Reason, ToolRule, reason_against
from schemas.output import Output
from schemas.toolcall import CallStatus, ToolCall, ToolResult

SILENT = frozenset({Reason.DUPLICATE, Reason.SUPERSEDED})
"""Reasons of which nobody is told: another call's result is the answer."""
_MODEL_CAN_ACT = frozenset({CallStatus.REFUSED, CallStatus.UNKNOWN_TOOL, CallStatus.UNPARSEABLE, CallStatus.TRUNCATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One call that may run."""

    call: ToolCall
    key: str
    """The call's place: at most one execution belongs to it."""
    execution_id: str
    has_side_effects: bool


@dataclass(frozen=True, slots=True)
class HeldBack:
    """One call that does not run, and why."""

    call: ToolCall
    reason: Reason


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done about an output."""

    task: str
    """The run, or the stream if it belongs to none."""
    tokens: int
    """Tokens of the model's response, as its server counted them."""
    waves: tuple[tuple[Planned, ...], ...]
    held: tuple[HeldBack, ...]
    stream_id: str
    tenant: str | None


def plan(output: Output, rules: Mapping[str, ToolRule]) -> Plan:
    """The plan for an output; the same output and rules give the same plan."""
    waves: list[list[Planned]] = []
    held: list[HeldBack] = []
    seen: set[str] = set()
    is_closed = True
    for call in sorted(output.tool_calls, key=lambda one: one.order):
        rule = rules.get(call.name or "")
        reason = reason_against(call, rule)
        if reason is None and call.id in seen:  # an id stands for one call; a second one can't be told from it
            reason = Reason.DUPLICATE
        if rule is None or reason is not None:
            held.append(HeldBack(call, reason or Reason.NOT_SERVED))
            continue
        seen.add(call.id)
        is_barrier = rule.has_side_effects and not rule.is_independent
        if is_barrier or is_closed:
            waves.append([])
        is_closed = is_barrier
        waves[-1].append(_planned(call, rule))
    meta, stream_id = output.meta, output.stream_id
    task = (meta.run_id if meta else None) or stream_id
    tenant = meta.tenant if meta else None
    return Plan(task, _tokens(output), tuple(map(tuple, waves)), tuple(held), stream_id, tenant)


def held_result(held: HeldBack) -> ToolResult | None:
    """What is said about a call that does not run; None where another call's result is the answer."""
    call, reason = held.call, held.reason
    if reason in SILENT:
        return None
    is_for_model = reason is Reason.STATUS and call.status in _MODEL_CAN_ACT
    said = call.refusal.message if call.refusal and call.refusal.message else _said(held)
    return ToolResult(
        stream_id=call.stream_id,
        call_id=call.id,
        status="param_error" if is_for_model else "not_run",
        content={
            "reason": reason.value,
            "call_status": call.status.value,
            "warnings": [warning.message for warning in call.warnings],
        },
        error=said,
    )


def _said(held: HeldBack) -> str:
    call = held.call
    if held.reason is Reason.STATUS:
        return f"the call is {call.status.value} and was not run"
    return f"{call.name} was not run: {held.reason.value}"


def _planned(call: ToolCall, rule: ToolRule) -> Planned:
    return Planned(
        call=call, key=call_key(call), execution_id=execution_id(call), has_side_effects=rule.has_side_effects
    )


def _tokens(output: Output) -> int:
    """What the model's server counted, else 0: a guess would end tasks for no reason."""
    usage = output.extra.get("usage")
    if not isinstance(usage, dict):
        return 0
    for names in (("total_tokens",), ("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")):
        found = [usage.get(name) for name in names]
        counted = [value for value in found if isinstance(value, int) and not isinstance(value, bool) and value > 0]
        if counted:
            return sum(counted)
    return 0
