"""An output → its calls executed, each at most once if it has side effects → what came of each.

Off unless started, and then nothing with side effects runs that was not permitted by name. A call is taken under a
lease (streams/leases.py) before anything happens; its result is kept before it is given back, and given again when the
output is read again. A tool that failed with system errors several times in a row is skipped for a while; nothing is
tried again by itself.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from processors.dispatch import HeldBack, Plan, Planned, held_result, plan
from processors.dispatching.bounds import Bounds, bound_met, handover
from processors.dispatching.errors import ErrorClass, Fault, class_of
from processors.dispatching.policy import Reason, ToolRule
from processors.pii.redact import redact, redact_json
from processors.strategies.match import StrategyIndex
from schemas.output import Output
from schemas.toolcall import ToolCall, ToolResult
from schemas.wire import decode, encode
from streams.executing.protocol import Answer, Tool, plain
from streams.leases import Leases, Taken, Terms
from streams.llm_repair import Breaker
from streams.settings import ConfigError
from streams.strategist import Strategist

ERROR_CHARS_MAX = 2_000
BUSY_S_MAX = 0.5
"""Longest wait before a call that somebody else runs is asked about again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchOptions:
    """How a dispatcher works."""

    bounds: Bounds = field(default_factory=Bounds)
    permitted: frozenset[str] = frozenset()
    """Tools whose side effects may happen."""
    is_dry_run: bool = False
    """Plan and validate, execute nothing, keep nothing."""
    lease_s: float = 10.0
    """A call whose worker died is known to be lost after this time; it is renewed while the worker lives."""
    failures_max: int = 3
    """System errors in a row after which a tool is skipped."""
    rest_s: float = 30.0
    """How long it is skipped; then one call tries it."""


@dataclass(slots=True)
class Dispatcher:
    """Executes calls with the tools it was given."""

    tools: Mapping[str, Tool]
    leases: Leases
    options: DispatchOptions
    strategies: Callable[[], StrategyIndex] = StrategyIndex
    """The strategies of the registry as it is now."""
    rules: dict[str, ToolRule] = field(init=False)
    _breakers: dict[str, Breaker] = field(init=False)
    _slots: asyncio.Semaphore = field(init=False)
    _strategist: Strategist = field(init=False)

    def __post_init__(self) -> None:
        options = self.options
        if unknown := sorted(options.permitted - self.tools.keys()):
            raise ConfigError(f"permitted, but there is no such tool: {unknown[0]}")
        # Permission is the operator's alone: what a tool says about its own is not asked.
        self.rules = {
            name: replace(tool.rule, is_permitted=name in options.permitted) for name, tool in self.tools.items()
        }
        self._breakers = {name: Breaker(options.failures_max, options.rest_s) for name in self.tools}
        self._slots = asyncio.Semaphore(options.bounds.parallel_max)
        execute = partial(outcome, s_max=options.bounds.step_s_max)
        self._strategist = Strategist(self.strategies, self.tools, self.rules, execute)

    async def dispatch(self, output: Output) -> list[ToolResult]:
        """What came of each call of an output, those that were held back among them."""
        found = plan(output, self.rules)
        results = [result for held in found.held if (result := held_result(held))]
        is_going_on = True
        for place, wave in enumerate(found.waves):
            if not is_going_on:
                results += _held(wave, Reason.EARLIER_FAILED)
                continue
            left = [one.call for later in found.waves[place:] for one in later]
            came = await asyncio.gather(*(self._run(one, found, left) for one in wave))
            results += came
            pairs = zip(wave, came, strict=True)
            is_going_on = all(result.status == "ok" or self._may_fail(one, result) for one, result in pairs)
        return results

    def _may_fail(self, planned: Planned, result: ToolResult) -> bool:
        """Whether calls written after this one may run although it gave no answer."""
        is_dry = result.status == "not_run" and self.options.is_dry_run
        return is_dry or self.rules[planned.call.name or ""].is_independent

    async def _run(self, planned: Planned, found: Plan, left: Sequence[ToolCall]) -> ToolResult:
        async with self._slots:
            if self.options.is_dry_run:
                return self._dry(planned)
            terms = Terms(self.options.bounds, int(self.options.lease_s * 1000))
            taken = await self.leases.take(planned, found, terms)
            while taken.word == "busy":
                await asyncio.sleep(min(taken.wait_ms / 1000 + 0.001, BUSY_S_MAX))
                taken = await self.leases.take(planned, found, terms)
            match taken.word:
                case "done":
                    return _kept(taken.result)
                case "bound":
                    return self._over(planned.call, found, taken, left)
                case "other":
                    said = "another call was executed at this place of the stream; this one was not run"
                    return _result(planned.call, "not_run", error=said)
                case "lost":
                    said = "its worker died while it ran; whether it took effect is not known, and it is not run again"
                    return await self._finish(planned, found, taken, _result(planned.call, "system_error", error=said))
            return await self._finish(planned, found, taken, await self._leased(planned, found, taken))

    def _dry(self, planned: Planned) -> ToolResult:
        wrong = self.tools[planned.call.name or ""].validate(planned.call.arguments or {})
        if wrong:
            return _result(planned.call, "param_error", error=wrong)
        return _result(
            planned.call,
            "not_run",
            content={"reason": Reason.DRY_RUN.value, "execution_id": planned.execution_id},
            error="dry run",
        )

    def _over(self, call: ToolCall, found: Plan, taken: Taken, left: Sequence[ToolCall]) -> ToolResult:
        bounds = self.options.bounds
        bound = bound_met(bounds, taken.spent) or "steps_max"
        record = handover(found.task, bound, bounds, taken.spent, [one for one in left if one.order >= call.order])
        content = {"reason": Reason.BOUND.value, "handover": record}
        return _result(call, "not_run", content=content, error=f"the task met its bound {bound}")

    async def _finish(self, planned: Planned, found: Plan, taken: Taken, result: ToolResult) -> ToolResult:
        kept = await self.leases.finish(planned, found, taken.fence, (encode(result), result.cost_usd or 0.0))
        if kept:
            return _kept(kept)
        said = "its lease was lost while it ran; its result is not kept"
        return _result(planned.call, "system_error", error=said)

    async def _leased(self, planned: Planned, found: Plan, taken: Taken) -> ToolResult:
        renewing = asyncio.create_task(self._renew(planned, found, taken))
        try:
            result = await self._strategist.carried(planned, lambda: self._executed(planned))
            return _cleaned(result) if result.strategies else result
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing

    async def _renew(self, planned: Planned, found: Plan, taken: Taken) -> None:
        lease_s = self.options.lease_s
        is_ours = True
        while is_ours:
            await asyncio.sleep(lease_s / 3)
            is_ours = await self.leases.renew(planned, found, taken.fence, int(lease_s * 1000))

    async def _executed(self, planned: Planned) -> ToolResult:
        call, name = planned.call, planned.call.name or ""
        tool, breaker = self.tools[name], self._breakers[name]
        arguments = call.arguments or {}
        if wrong := tool.validate(arguments):
            return _result(call, "param_error", content={"parameters": tool.describe()["parameters"]}, error=wrong)
        if not breaker.may_ask(time.monotonic()):
            said = f"skipped: {name} had {breaker.failures} system errors in a row"
            return _result(call, "system_error", content={"rule": "breaker"}, error=said)
        began = time.monotonic()
        came = await outcome(tool.execute(arguments, planned.execution_id), self.options.bounds.step_s_max)
        result = _judged(call, came, tool)
        if result.status == "system_error":
            breaker.failed(time.monotonic())
        else:
            breaker.answered()
        return replace(result, duration_ms=round((time.monotonic() - began) * 1000, 3))


async def outcome(work: Awaitable[Answer | Fault], s_max: float) -> Answer | Fault:
    """What a tool gave, or its exception as a Fault; one that takes longer is given up.

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
        return Fault(kind="TimeoutError", text=f"no answer within {s_max:g} s")
    if task.cancelled():
        return Fault(kind="CancelledError", text="the tool gave up")
    # Asked for, not caught: tools may raise anything, and whatever it is, it is theirs.
    if (error := task.exception()) is not None:
        return Fault(kind=type(error).__name__, text=str(error))
    return task.result()


def _judged(call: ToolCall, came: Answer | Fault, tool: Tool) -> ToolResult:
    if isinstance(came, Answer):
        cost = came.cost_usd if came.cost_usd is not None and 0 <= came.cost_usd < math.inf else None
        return _result(call, "ok", content=plain(came.content), cost_usd=cost)
    found, rule = class_of(came, tool.error_rules)
    content = {"rule": rule, "kind": came.kind, "code": came.code}
    if found is ErrorClass.PARAM:
        content["parameters"] = tool.describe()["parameters"]
    return _result(call, found.value, content=content, error=came.text or came.kind)


def _result(call: ToolCall, status: str, **more: object) -> ToolResult:
    """A result that is fit for a public topic: without personal data, of bounded size."""
    return _cleaned(ToolResult(stream_id=call.stream_id, call_id=call.id, status=status, **more))  # type: ignore[arg-type]


def _cleaned(result: ToolResult) -> ToolResult:
    error = result.error
    try:
        if error is not None:
            error = redact(error[:ERROR_CHARS_MAX].encode("utf-8", "replace").decode()).text
        return replace(result, error=error, content=redact_json(result.content)[0])
    except (ValueError, LookupError, ArithmeticError, RecursionError):
        # What cleaning raises on text that nobody thought of. The call has run: its status is kept, its words are not.
        said = error and "what the tool said could not be cleaned"
        return replace(result, error=said, content={"reason": "clean_failed"})


def _held(wave: Sequence[Planned], reason: Reason) -> list[ToolResult]:
    return [result for one in wave if (result := held_result(HeldBack(one.call, reason)))]


def _kept(data: bytes) -> ToolResult:
    found = decode(data)
    assert isinstance(found, ToolResult), "only results are kept"
    return found
