"""What a dispatcher does about the calls of one output → snapshots, one for each change of a call's state."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import orjson

from processors.dispatch import HeldBack, Plan, Planned
from processors.dispatching.bounds import Bounds, Ending, Spent, handover
from processors.pii.redact import redact_json
from schemas.execution import Execution, Handover
from schemas.jsonvalue import JsonObject
from schemas.toolcall import ToolCall, ToolResult
from schemas.wire import encode

Tell = Callable[[Execution | Handover], Awaitable[None]]
SUMMARY_CHARS = 300
"""Of arguments and of messages: more is in the call's step and in its result."""


async def silent(_: Execution | Handover) -> None:
    """Tell nobody."""


class Teller:
    """Tells of one plan."""

    def __init__(self, plan: Plan, tell: Tell) -> None:
        self._plan, self._tell = plan, tell
        self._planned: dict[str, Execution] = {}
        """By call id: arguments are made clean and short once, not at each change."""
        self._is_handed_over = False

    async def planned(self) -> None:
        """Each call that may run, in order."""
        for wave in self._plan.waves:
            for one in wave:
                self._planned[one.call.id] = self._of(one.call, one.execution_id)
                await self._tell(self._planned[one.call.id])

    async def running(self, planned: Planned) -> None:
        """A call has its lease."""
        await self._tell(replace(self._planned[planned.call.id], state="running", ts=_now_ms()))

    async def ended(self, call: ToolCall, result: ToolResult, *, is_again: bool = False) -> None:
        """A call has its result."""
        await self._tell(
            replace(
                self._planned.get(call.id) or self._of(call), state="ended", ts=_now_ms(),
                status=result.status, reason=_reason(result), is_again=is_again,
                error=(result.error or "")[:SUMMARY_CHARS], duration_ms=result.duration_ms, cost_usd=result.cost_usd,
                strategies=tuple(one.id for one in result.strategies if one.is_served),
            )
        )  # fmt: skip

    async def held(self, held: HeldBack, result: ToolResult) -> None:
        """A call that does not run."""
        await self.ended(held.call, result)

    async def hand_over(self, bounds: Bounds, spent: Spent, left: Sequence[ToolCall]) -> JsonObject:
        """The record that ends the task, told once for each output; as JSON for the results it stands in."""
        plan = self._plan
        ending = Ending(stream_id=plan.stream_id, task=plan.task, tenant=plan.tenant, ts=_now_ms())
        record = handover(ending, bounds, spent, left)
        if not self._is_handed_over:
            self._is_handed_over = True
            await self._tell(record)
        fields: JsonObject = orjson.loads(encode(record))
        return {name: value for name, value in fields.items() if name not in {"schema", "stream_id", "tenant"}}

    def _of(self, call: ToolCall, execution_id: str = "") -> Execution:
        return Execution(
            stream_id=call.stream_id, call_id=call.id, task=self._plan.task, tenant=self._plan.tenant,
            tool=call.name or call.requested_name or "", order=call.order, arguments=_summary(call), state="planned",
            execution_id=execution_id, tokens=self._plan.tokens, ts=_now_ms(),
        )  # fmt: skip


def _now_ms() -> float:
    return time.time() * 1000


def _summary(call: ToolCall) -> str:
    """A call's arguments, clean and short."""
    if call.arguments is None:
        return ""
    try:
        clean = redact_json(call.arguments)[0]
        return orjson.dumps(clean, default=str, option=orjson.OPT_NON_STR_KEYS).decode()[:SUMMARY_CHARS]
    except (TypeError, ValueError, LookupError, ArithmeticError, RecursionError):
        # TypeError: a lone surrogate or too great an integer; the others: what cleaning raises on odd text.
        return "(can't be shown)"


def _reason(result: ToolResult) -> str:
    content = result.content if isinstance(result.content, dict) and result.status != "ok" else {}
    return str(content.get("reason") or content.get("rule") or "")
