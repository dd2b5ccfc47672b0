"""An output → its calls executed, each at most once if it has side effects → what came of each.

Off unless started, and then nothing with side effects runs that was not permitted by name. A call is taken under a
lease (streams/leases.py) before anything happens; its result is kept before it is given back, and given again when the
output is read again. A tool that failed with system errors several times in a row is skipped for a while; nothing is
tried again by itself.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from processors.dispatch import HeldBack, Plan, Planned, held_result, plan
from processors.dispatching.bounds import Bounds
from processors.dispatching.errors import ErrorRule, Fault
from processors.dispatching.policy import Reason, ToolRule
from processors.strategies.match import StrategyIndex
from schemas.jsonvalue import JsonObject
from schemas.output import Output
from schemas.toolcall import ToolCall, ToolResult
from schemas.wire import encode
from streams.circuits import Limits
from streams.executing.protocol import Answer, Tool, endpoint_of
from streams.executing.results import cleaned, explained, judged, kept_result, outcome, result_of, wrong_arguments
from streams.executing.telling import Tell, Teller, silent
from streams.leases import Kept, Leases, Taken, Terms
from streams.settings import ConfigError
from streams.strategist import Strategist

WAIT_S = 0.05
"""Between two questions whether an endpoint that had a failure may be called."""
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
    """System errors in a row after which an endpoint is skipped."""
    rest_s: float = 30.0
    """How long it is skipped; then one call tries it."""
    error_rules: tuple[ErrorRule, ...] = ()
    """The operator's own rules about errors; they come before those of the tools."""

    @property
    def circuit(self) -> Limits:
        """When an endpoint is left alone."""
        call_ms = int((self.bounds.step_s_max + 1) * 1000)
        return Limits(failures_max=self.failures_max, rest_ms=int(self.rest_s * 1000), call_ms=call_ms)


@dataclass(frozen=True, slots=True)
class _Going:
    """One output that is being dispatched."""

    plan: Plan
    teller: Teller
    begun: set[str] = field(default_factory=set)
    """Calls that run, or ran before."""
    given_up: set[str] = field(default_factory=set)
    """Calls that took longer than a step may."""

    def left_from(self, call: ToolCall) -> list[ToolCall]:
        """A call and those that come after it, without what was begun."""
        planned = [one.call for wave in self.plan.waves for one in wave]
        return [one for one in planned if one.order >= call.order and one.id not in self.begun]


@dataclass(slots=True)
class Dispatcher:
    """Executes calls with the tools it was given."""

    tools: Mapping[str, Tool]
    leases: Leases
    options: DispatchOptions
    strategies: Callable[[], StrategyIndex] = StrategyIndex
    """The strategies of the registry as it is now."""
    tell: Tell = silent
    """Told of each change of a call's state, and of tasks that ended at a bound."""
    rules: dict[str, ToolRule] = field(init=False)
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
        self._slots = asyncio.Semaphore(options.bounds.parallel_max)
        self._strategist = Strategist(self.strategies, self.tools, self.rules, self._outcome)

    async def dispatch(self, output: Output) -> list[ToolResult]:
        """What came of each call of an output, those that were held back among them."""
        found = plan(output, self.rules)
        going = _Going(found, Teller(found, silent if self.options.is_dry_run else self.tell))
        results = await self._held(found.held, going)
        await going.teller.planned()
        is_going_on = True
        for wave in found.waves:
            if not is_going_on:
                results += await self._held([HeldBack(one.call, Reason.EARLIER_FAILED) for one in wave], going)
                continue
            came = await asyncio.gather(*(self._run(one, going) for one in wave))
            results += came
            pairs = zip(wave, came, strict=True)
            is_going_on = all(result.status == "ok" or self._may_fail(one, result) for one, result in pairs)
        return results

    async def _held(self, found: Sequence[HeldBack], going: _Going) -> list[ToolResult]:
        results = []
        for one in found:
            if held := held_result(one):
                result = explained(held, one.call, self.tools)
                await going.teller.held(one, result)
                results.append(result)
        return results

    def _may_fail(self, planned: Planned, result: ToolResult) -> bool:
        """Whether calls written after this one may run although it gave no answer."""
        is_dry = result.status == "not_run" and self.options.is_dry_run
        return is_dry or self.rules[planned.call.name or ""].is_independent

    async def _run(self, planned: Planned, going: _Going) -> ToolResult:
        async with self._slots:
            if self.options.is_dry_run:
                return self._dry(planned)
            terms = Terms(self.options.bounds, int(self.options.lease_s * 1000))
            taken = await self.leases.take(planned, going.plan, terms)
            while taken.word == "busy":
                await asyncio.sleep(min(taken.wait_ms / 1000 + 0.001, BUSY_S_MAX))
                taken = await self.leases.take(planned, going.plan, terms)
            if taken.word != "bound":
                going.begun.add(planned.call.id)
            result = await self._taken(planned, going, taken)
            await going.teller.ended(planned.call, result, is_again=taken.word == "done")
            return result

    async def _taken(self, planned: Planned, going: _Going, taken: Taken) -> ToolResult:
        match taken.word:
            case "done":
                return kept_result(taken.result)
            case "bound":
                return await self._over(planned.call, going)
            case "other":
                said = "another call was executed at this place of the stream; this one was not run"
                return result_of(planned.call, "not_run", error=said)
            case "lost":
                said = "its worker died while it ran; whether it took effect is not known, and it is not run again"
                result = result_of(planned.call, "system_error", content={"rule": "lost"}, error=said)
                return await self._finish(
                    planned, going, taken, Kept(encode(result), snapshot=_snapshot(planned, result))
                )
        await going.teller.running(planned)
        return await self._finish(planned, going, taken, await self._leased(planned, going, taken))

    def _dry(self, planned: Planned) -> ToolResult:
        tool = self.tools[planned.call.name or ""]
        if wrong := tool.validate(planned.call.arguments or {}):
            return wrong_arguments(planned.call, wrong, tool)
        return result_of(
            planned.call,
            "not_run",
            content={"reason": Reason.DRY_RUN.value, "execution_id": planned.execution_id},
            error="dry run",
        )

    async def _over(self, call: ToolCall, going: _Going) -> ToolResult:
        spent = await self.leases.spent(going.plan)
        record = await going.teller.hand_over(self.options.bounds, spent, going.left_from(call))
        content = {"reason": Reason.BOUND.value, "handover": record}
        return result_of(call, "not_run", content=content, error=f"the task met its bound {record['bound']}")

    async def _finish(self, planned: Planned, going: _Going, taken: Taken, kept: Kept) -> ToolResult:
        counts = await self.leases.finish(planned, going.plan, taken.fence, kept)
        if counts:
            return kept_result(counts)
        said = "its lease was lost while it ran; its result is not kept"
        return result_of(planned.call, "system_error", error=said)

    async def _leased(self, planned: Planned, going: _Going, taken: Taken) -> Kept:
        renewing = asyncio.create_task(self._renew(planned, going.plan, taken))
        try:
            result = await self._strategist.carried(planned, lambda: self._executed(planned, going))
            result = cleaned(result) if result.strategies else result
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
        over_s = 0.0
        if planned.call.id in going.given_up and result.status == "system_error":  # no strategy had another answer
            over_s = self.options.bounds.step_s_max
            spent = replace(await self.leases.spent(going.plan), step_s=over_s)
            record = await going.teller.hand_over(self.options.bounds, spent, going.left_from(planned.call))
            result = replace(result, content={**(result.content or {}), "handover": record})
        return Kept(encode(result), result.cost_usd or 0.0, over_s, _snapshot(planned, result))

    async def _outcome(self, work: Awaitable[Answer | Fault]) -> Answer | Fault:
        return (await outcome(work, self.options.bounds.step_s_max))[0]

    async def _renew(self, planned: Planned, found: Plan, taken: Taken) -> None:
        lease_s = self.options.lease_s
        is_ours = True
        while is_ours:
            await asyncio.sleep(lease_s / 3)
            is_ours = await self.leases.renew(planned, found, taken.fence, int(lease_s * 1000))

    async def _executed(self, planned: Planned, going: _Going) -> ToolResult:
        call, arguments = planned.call, planned.call.arguments or {}
        tool = self.tools[call.name or ""]
        if wrong := tool.validate(arguments):
            return wrong_arguments(call, wrong, tool)
        options, endpoint, circuits = self.options, endpoint_of(tool), self.leases.circuits
        if skipped := await self._skipped(planned, endpoint):
            return skipped
        began, is_well = time.monotonic(), False
        try:
            came, is_over = await outcome(tool.execute(arguments, planned.execution_id), options.bounds.step_s_max)
            if is_over:
                going.given_up.add(call.id)
            result = judged(call, came, tool, options.error_rules)
            is_well = result.status != "system_error"
        finally:
            await circuits.leave(endpoint, planned.execution_id, options.circuit, is_well=is_well)
        return replace(result, duration_ms=round((time.monotonic() - began) * 1000, 3))

    async def _skipped(self, planned: Planned, endpoint: str) -> ToolResult | None:
        """The result of a call whose endpoint is broken; None: it may be called."""
        limits, deadline = self.options.circuit, time.monotonic() + self.options.bounds.step_s_max
        word, failures = await self.leases.circuits.enter(endpoint, planned.execution_id, limits)
        while word == "wait" and time.monotonic() < deadline:
            await asyncio.sleep(WAIT_S)
            word, failures = await self.leases.circuits.enter(endpoint, planned.execution_id, limits)
        if word == "go":
            return None
        said = f"skipped: {endpoint} had {failures} system errors in a row"
        return result_of(planned.call, "system_error", content={"rule": "breaker"}, error=said)


def _snapshot(planned: Planned, result: ToolResult) -> JsonObject:
    return {
        "stream_id": result.stream_id, "call_id": result.call_id, "tool": planned.call.name, "status": result.status,
        "duration_ms": result.duration_ms, "cost_usd": result.cost_usd,
    }  # fmt: skip
