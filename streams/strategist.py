"""A call that is about to run → run as strategies say: looked up first, held up, with a step before it, or replaced.

Strategies come from the registry; which ones a stream gets is decided by their state and a hash. Those that it does not
get are watched: what they would have done is noted on the result. Side effects happen only as the operator permitted
them, whatever a strategy says, and only where the call in hand runs at most once by itself.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from processors.dispatch import Planned
from processors.dispatching.errors import Fault
from processors.dispatching.policy import Reason, ToolRule
from processors.strategies.conditions import all_hold
from processors.strategies.decide import Did, Looked, after, before, wanted_call
from processors.strategies.match import Filed, StrategyIndex
from processors.strategies.strategy import ActionKind
from schemas.toolcall import AppliedStrategy, ToolResult
from streams.executing.protocol import Answer, Tool

Run = Callable[[], Awaitable[ToolResult]]
Execute = Callable[[Awaitable[Answer | Fault]], Awaitable[Answer | Fault]]
"""Waits for a tool, not for ever; gives its answer as bounded JSON, and what it raised as a Fault."""
DidWord = Literal["nothing", "review", "skip", "step", "fallback"]
_WORDS: dict[Did, DidWord] = {
    Did.NOTHING: "nothing", Did.REVIEW: "review", Did.SKIP: "skip", Did.STEP: "step", Did.FALLBACK: "fallback",
}  # fmt: skip
_REASONS = {Did.REVIEW: Reason.REVIEW, Did.SKIP: Reason.SKIPPED}


@dataclass(slots=True)
class _Course:
    """What strategies have done about one call so far."""

    planned: Planned
    notes: list[AppliedStrategy] = field(default_factory=list)
    cost_usd: float = 0.0

    def note(self, filed: Filed, did: Did, *, is_served: bool, answer: "Answer | Fault | None" = None) -> None:
        is_answered = None if answer is None else isinstance(answer, Answer)
        self.notes.append(
            AppliedStrategy(
                id=filed.pattern.id, version=filed.pattern.version, is_served=is_served, did=_WORDS[did],
                is_answered=is_answered,
            )
        )  # fmt: skip
        if isinstance(answer, Answer):
            self.cost_usd += answer.cost_usd or 0.0


@dataclass(slots=True)
class Strategist:
    """Applies strategies to calls of one dispatcher."""

    index: Callable[[], StrategyIndex]
    """The strategies now."""
    tools: Mapping[str, Tool]
    rules: Mapping[str, ToolRule]
    execute: Execute
    now: Callable[[], float] = time.time

    async def carried(self, planned: Planned, run: Run) -> ToolResult:
        """Run a call as the strategies say that fit it."""
        call = planned.call
        arguments = call.arguments or {}
        found = self.index().matching(call.name or "", arguments, self.now() * 1000, call.stream_id)
        if not found:
            return await run()
        began, course = time.monotonic(), _Course(planned)
        held = None
        for filed in found:
            held = await self._before(filed, course)
            if held is not None:
                break
        result = held if held is not None else await run()
        fallbacks = [filed for filed in found if filed.strategy.action.kind is ActionKind.FALLBACK]
        if held is None:
            for filed in fallbacks:
                result = await self._after(filed, course, result)
        spent = round((time.monotonic() - began) * 1000, 3)
        cost = (result.cost_usd or 0.0) + course.cost_usd
        return replace(
            result, strategies=tuple(course.notes), duration_ms=spent if held is None else result.duration_ms,
            cost_usd=cost or result.cost_usd,
        )  # fmt: skip

    async def _before(self, filed: Filed, course: _Course) -> ToolResult | None:
        """The result with which a strategy holds the call up; None: it does not."""
        strategy, planned = filed.strategy, course.planned
        kind = strategy.action.kind
        if kind is ActionKind.FALLBACK:
            return None
        is_served = filed.is_served(planned.call.stream_id)
        is_step = kind is ActionKind.ADD_STEP
        if is_step and not is_served:
            course.note(filed, Did.NOTHING, is_served=False)
            return None
        answer = await self._other(filed, course) if strategy.action.call is not None else None
        looked = Looked(answer.content, True) if isinstance(answer, Answer) else Looked(None, is_answered=False)
        did = before(strategy, planned.call.arguments or {}, looked if answer else None, self.now() * 1000)
        course.note(filed, did, is_served=is_served, answer=answer)
        if did not in _REASONS or not is_served:
            return None
        return _held_up(filed, planned, did)

    async def _after(self, filed: Filed, course: _Course, result: ToolResult) -> ToolResult:
        did = after(filed.strategy, result.status)
        is_served = filed.is_served(course.planned.call.stream_id)
        if did is Did.NOTHING or not is_served:
            course.note(filed, did, is_served=is_served)
            return result
        answer = await self._other(filed, course)
        is_kept = isinstance(answer, Answer) and all_hold(
            filed.strategy.output_contract, answer.content, self.now() * 1000
        )
        course.note(filed, did, is_served=True, answer=answer if is_kept else Fault(kind="contract"))
        if not is_kept or not isinstance(answer, Answer):
            return result
        return replace(result, status="ok", content=answer.content, error=None)

    async def _other(self, filed: Filed, course: _Course) -> Answer | Fault:
        """Make the strategy's own call, if that may be."""
        strategy, planned = filed.strategy, course.planned
        wanted = wanted_call(strategy, planned.call.arguments or {})
        tool, rule = (self.tools.get(wanted.tool), self.rules.get(wanted.tool)) if wanted else (None, None)
        if wanted is None or tool is None or rule is None:
            return Fault(kind="unknown_tool")
        if rule.has_side_effects and not self._may_have_effects(filed, planned, wanted.tool):
            return Fault(kind="not_permitted")
        if wrong := tool.validate(wanted.arguments):
            return Fault(kind="ArgumentError", text=wrong)
        return await self.execute(tool.execute(wanted.arguments, f"{planned.execution_id}-{strategy.id}"))

    def _may_have_effects(self, filed: Filed, planned: Planned, tool: str) -> bool:
        is_check = filed.strategy.action.kind is ActionKind.PRE_CHECK
        is_declared = tool in filed.strategy.side_effects and self.rules[tool].is_permitted
        return is_declared and not is_check and planned.has_side_effects


def _held_up(filed: Filed, planned: Planned, did: Did) -> ToolResult:
    call, strategy = planned.call, filed.strategy
    reason = _REASONS[did]
    why = strategy.action.reason or strategy.title or strategy.id
    return ToolResult(
        stream_id=call.stream_id,
        call_id=call.id,
        status="not_run",
        content={
            "reason": reason.value,
            "strategy": filed.pattern.id,
            "why": why,
            "call": {"name": call.name, "arguments": call.arguments, "execution_id": planned.execution_id},
        },
        error=f"{call.name} was not run: {reason.value} ({why})",
    )
