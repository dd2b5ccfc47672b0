"""Simulated strategies in canary: good ones, and ones that passed their proof and then do harm. For bench_incidents.

Each is proved on 1,000 good calls and some failures, enters as a canary, and then meets a world that is another than the
one of its proof. Calls go through the strategist that the dispatcher uses, what it notes through the counts that move
strategies; only tools and clock are made up.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from processors.dispatch import Planned
from processors.dispatching.errors import Fault
from processors.dispatching.policy import ToolRule
from processors.snapshot import snapshot_of
from processors.strategies.fares import Fares
from processors.strategies.match import IN_PLAY, StrategyIndex
from processors.strategies.prove import Case, Known, proved
from processors.strategies.strategy import Strategy
from schemas.jsonvalue import JsonObject
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.toolcall import CallStatus, ToolCall, ToolResult
from streams.executing.protocol import Answer
from streams.strategist import Strategist

NOW_S = 1_700_000_000.0
DAY_S = 86_400.0
CALLS = 3_000
"""Calls of each world that the strategy fits: 150 of them in the canary."""
RULES = {
    "act": ToolRule(is_permitted=True),
    "other": ToolRule(is_permitted=True),
    "status": ToolRule(has_side_effects=False),
}
VIP: JsonObject = {"path": "tier", "op": "eq", "value": "vip"}
ACTIONS: dict[str, JsonObject] = {
    "require_review": {}, "skip": {},
    "pre_check": {"call": {"tool": "status"}, "expect": [{"path": "as_of", "op": "age_max_s", "value": DAY_S}]},
    "fallback": {"call": {"tool": "other", "arguments": {"all": "$"}}}, "add_step": {"call": {"tool": "other"}},
}  # fmt: skip
HARMS = {
    "require_review": ("calls go well by now",), "skip": ("calls go well by now",), "pre_check": ("stale list, calls go well",),
    "fallback": ("fallback fails", "fallback breaks its contract"), "add_step": ("step fails", "call fails after it", "slow"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Played:
    """One strategy's time in canary."""

    kind: str
    harm: str
    """Empty for one that does none."""
    was_active: bool
    state: PatternState
    served: int
    """Calls that it was served to before that was settled."""


def played(count: int, seed: int) -> Iterator[Played]:
    """Half of them do harm, each in turn in one of the ways of its kind."""
    kinds = sorted(ACTIONS)
    for number in range(count):
        kind = kinds[number // 2 % len(kinds)]
        harms = HARMS[kind]
        harm = harms[number // (2 * len(kinds)) % len(harms)] if number % 2 else ""
        yield asyncio.run(_World(Random(f"{seed}/{number}"), kind, harm).play())


class _Other:
    """The tool that strategies call: as the world says."""

    error_rules = ()

    def __init__(self, rule: ToolRule, answer: Answer | Fault) -> None:
        self.rule, self.answer = rule, answer

    def describe(self) -> JsonObject:
        return {}

    def validate(self, arguments: JsonObject) -> None:
        del arguments

    async def execute(self, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        del arguments, execution_id
        return self.answer


class _World:
    def __init__(self, random: Random, kind: str, harm: str) -> None:
        self._random, self._kind, self._harm = random, kind, harm
        self._share = random.uniform(0.35, 1.0)
        """How often the harm is done."""

    def entry(self) -> Pattern:
        """The strategy, which passed its proof."""
        strategy = Strategy.model_validate(
            {
                "schema": "strategy/1", "id": f"s{self._random.randint(0, 10**9)}", "trigger": {"tool": "act", "context": [VIP]},
                "action": {"kind": self._kind, **ACTIONS[self._kind]}, "side_effects": ["other"],
                "output_contract": [{"path": "done", "value": True}] if self._kind == "fallback" else [],
            }
        )  # fmt: skip
        stale = {"status": {"as_of": NOW_S - 3 * DAY_S}}
        good = [
            Case(
                id=f"g{n}", tool="act", arguments={"tier": "normal"}, status="ok", at_ms=NOW_S * 1000, before=("other",)
            )
            for n in range(1_000)
        ]
        failures = [
            Case(
                id=f"f{n}",
                tool="act",
                arguments={"tier": "vip"},
                status="business_failure",
                at_ms=NOW_S * 1000,
                looked=stale,
            )
            for n in range(3)
        ]
        proof = proved(strategy, failures, good, Known(rules=RULES, works={"other": (20, 20)}))
        assert proof.is_accepted, proof.reasons
        return Pattern(
            id=strategy.id, version=1, kind=PatternKind.STRATEGY, definition=strategy.dump(), state=PatternState.CANARY
        )

    def _other(self) -> Answer | Fault:
        is_harmed = self._random.random() < self._share
        if self._kind == "pre_check":
            return Answer({"as_of": NOW_S - 3 * DAY_S})
        if is_harmed and self._harm in {"fallback fails", "step fails"}:
            return Fault(kind="TimeoutError")
        return Answer({"done": not (is_harmed and self._harm == "fallback breaks its contract")})

    def _status(self, is_stepped: bool) -> str:
        """What comes of the call in hand when it runs."""
        random, harm = self._random, self._harm
        if self._kind in {"require_review", "skip", "pre_check"}:
            return "ok" if harm and random.random() < self._share else "business_failure"
        if self._kind == "fallback":
            return "system_error"
        if is_stepped:
            return "business_failure" if harm == "call fails after it" and random.random() < self._share else "ok"
        return "business_failure"

    async def play(self) -> Played:
        entry, fares, served, was_active = self.entry(), Fares(), 0, False
        index = StrategyIndex([entry])
        tools = {name: _Other(RULES[name], Answer()) for name in ("other", "status")}

        async def execute(work):
            return await work

        strategist = Strategist(lambda: index, tools, RULES, execute, now=lambda: NOW_S)
        fares.use([entry], NOW_S * 1000)
        for number in range(CALLS):
            for one in tools.values():
                one.answer = self._other()
            result = await strategist.carried(_planned(number), partial(self._run, number, index))
            if result.strategies and result.strategies[0].is_served:
                served += 1
                result = replace(result, duration_ms=9_000.0 if self._harm == "slow" else 20.0)
            for moved in fares.feed(result, NOW_S * 1000):
                entry = replace(moved, version=entry.version + 1)
                was_active |= entry.state is PatternState.ACTIVE
                entries = snapshot_of([entry], 1).of(PatternKind.STRATEGY, *IN_PLAY)
                index = StrategyIndex(entries)
                fares.use(entries, NOW_S * 1000)
        return Played(self._kind, self._harm, was_active, entry.state, served)

    async def _run(self, number: int, index: StrategyIndex) -> ToolResult:
        planned = _planned(number)
        fits = index.matching("act", planned.call.arguments or {}, NOW_S * 1000)
        is_stepped = self._kind == "add_step" and any(one.is_served(planned.call.stream_id) for one in fits)
        status = self._status(is_stepped)
        return ToolResult(stream_id=planned.call.stream_id, call_id="c", status=status, duration_ms=20.0)


def _planned(number: int) -> Planned:
    call = ToolCall(
        stream_id=f"r{number}", id="c", name="act", requested_name="act", arguments={"tier": "vip"}, raw="", order=0,
        span=(0, 0), status=CallStatus.OK, strategy="json", confidence=1.0,
    )  # fmt: skip
    return Planned(call=call, key="k", execution_id=f"e{number}", has_side_effects=True)
