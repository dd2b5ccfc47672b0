"""Is the cause of a failure found, and is anything learned from what was only jitter?

Usage: python benchmarks/bench_incidents.py [COUNT] [SEED]

Causes: COUNT (default 420) incidents, each in a simulated world of its own (incidents.py) with messages of incident_words.py.
Every call of the world goes through the attributor in order of time. Right: the cause of the incident's last failure is
the one put in. Messages and weights are by the same hand: the messages were written after the signs, in other words, and
errors of seeds 1 and 2 were looked at while the weights were set; other seeds draw worlds, not words, anew. Those of the
tier `late` were written after that, and nothing was changed since.

Strategies: each incident's failure is looked back at, against three contracts, with 1,200 earlier good calls for the
proof. Canaries: COUNT / 2 strategies that passed their proof, half of them doing harm in use in 35 to 100 % of cases
(harm.py).
"""

import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.harm import Played, played
from benchmarks.incident_words import WORDS
from benchmarks.incidents import CAUSES, TIERS, Simulated, incidents
from processors.attribute import Attributor
from processors.attribution.causes import shipped_tree
from processors.attribution.seen import Seen
from processors.attribution.signs import borne, normal, shipped_signs
from processors.dispatching.errors import Fault
from processors.dispatching.policy import ToolRule
from processors.retrospect import Memory, Question, retrospect
from processors.retrospection.contract import REVIEW, Contract
from processors.strategies.match import StrategyIndex
from processors.strategies.prove import Case
from processors.strategies.strategy import Strategy
from schemas.attribution import Attribution
from schemas.pattern import Pattern, PatternKind, PatternState

TICK_MS = 500.0
"""How often the worker asks what is due."""


def attribution_of(one: Simulated) -> tuple[Attribution, float]:
    """What is said about the incident's failure, and after how many ms."""
    attributor = Attributor(one.upstreams)
    clock = 0.0
    for seen in one.calls:
        while clock + TICK_MS <= seen.at_ms:
            clock += TICK_MS
            for found in attributor.due(clock):
                if found.call_id == one.judged:
                    return found, clock - (found.ts or 0.0)
        for found in (*attributor.due(seen.at_ms), *attributor.feed(seen)):
            if found.call_id == one.judged:
                return found, seen.at_ms - (found.ts or 0.0)
    return next(found for found in attributor.close() if found.call_id == one.judged), 3_000.0


def shared_words() -> list[str]:
    """What the messages must not share with the tree's data: examples, and in the tier `held` any word of a sign."""
    examples = {normal(one.text) for sign in shipped_signs() for one in (*sign.positives, *sign.negatives)}
    examples |= {
        normal(one.text) for node in shipped_tree().nodes.values() for one in (*node.positives, *node.negatives)
    }
    examples = {text for text in examples if len(text) > 3}
    found = []
    for tiers in WORDS.values():
        for tier, texts in tiers.items():
            for text in texts:
                read = normal(text.format(key="", value="", host="", n=0))
                if any(example in read for example in examples) or (tier == "held" and borne(Fault(text=read))):
                    found.append(text)
    return found


def strategy_from(one: Simulated, contract: Contract) -> str | None:
    """Id of the strategy that is made of an incident's failure, if any; with 1,200 earlier good calls to prove it on."""
    cases = [_case(seen) for seen in one.calls]
    judged = next(case for case in cases if case.id.endswith("/" + one.judged))
    like = [case for case in cases if case.tool == judged.tool and case.is_good]
    if not like:
        return None
    earlier = [
        replace(like[n % len(like)], id=f"h{n}/c", at_ms=like[0].at_ms - 3_600_000 - n * 1_000) for n in range(1_200)
    ]
    memory = Memory(
        chain=(judged,), cases=[*earlier, *cases], contracts={judged.tool: contract.model_copy(update={"tool": judged.tool})},
        rules={tool: ToolRule(is_permitted=True) for tool in one.upstreams},
    )  # fmt: skip
    found = retrospect(Question(case_id=judged.id, trigger="implicit"), memory)
    return found.entry.id if found and found.entry else None


def _case(seen: Seen) -> Case:
    content = {"kind": seen.fault.kind, "code": seen.fault.code} if seen.is_failed else None
    return Case(
        id=f"{seen.stream_id}/{seen.call_id}", tool=seen.tool, arguments=seen.arguments, status=seen.status, at_ms=seen.at_ms,
        content=content, error=seen.fault.text,
    )  # fmt: skip


def causes(count: int, seed: int) -> None:
    """The table of causes."""
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    latest = 0.0
    began = time.process_time()
    for one in incidents(count, seed):
        found, waited = attribution_of(one)
        is_right = found.cause == one.cause
        latest = max(latest, waited)
        for name in (one.cause, one.tier, f"hard: {one.hard or 'no'}", "all"):
            seen[name] += 1
            right[name] += is_right
        if not is_right:
            wrong[one.cause, found.cause] += 1
    spent = time.process_time() - began
    for name in (*CAUSES, *TIERS, *sorted(key for key in seen if key.startswith("hard")), "all"):
        print(f"{name:16} {right[name]:4} of {seen[name]:4}  {right[name] / seen[name]:.1%}")
    print("wrong:", ", ".join(f"{is_} as {said} {times}" for (is_, said), times in wrong.most_common(12)) or "none")
    print(f"from failure to attribution: at most {latest / 1000:.1f} s of the simulated clock")
    print(f"CPU of an incident with all its calls: {spent / count * 1000:.0f} ms")


def learned(count: int, seed: int) -> None:
    """Strategies made of incidents, by cause; of jitter there must be none."""
    contracts = (Contract(tool="", after_failure=REVIEW), Contract(tool="", after_failure="export"), Contract(tool=""))
    made: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for one in incidents(count, seed):
        for contract in contracts:
            tried[one.cause] += 1
            made[one.cause] += strategy_from(one, contract) is not None
    print("strategies made:", ", ".join(f"{cause} {made[cause]} of {tried[cause]}" for cause in CAUSES))


def canaries(count: int, seed: int) -> None:
    """What became of canaries that do harm, and of those that do none."""
    harmful: list[Played] = []
    harmless: list[Played] = []
    for one in played(count, seed):
        (harmful if one.harm else harmless).append(one)
    for name, group in (("harmful", harmful), ("harmless", harmless)):
        active = sum(one.was_active for one in group)
        print(
            f"{name} strategies in canary: {len(group)}, became active {active}, states {dict(Counter(str(one.state) for one in group))}"
        )


def matching() -> None:
    """Time to match a call against 10,000 strategies: over 100 tools, and all of one tool, 100 of them by no value."""
    for name, tools in (("100 tools", 100), ("one tool", 1)):
        index = StrategyIndex(
            [
                *(_strategy(n, tools, is_filed=True) for n in range(9_900)),
                *(_strategy(n, tools, is_filed=False) for n in range(100)),
            ]
        )
        spent = []
        for n in range(2_000):
            began = time.process_time()
            index.matching(f"t{n % tools}", {"id": f"v{n}", "amount": -1}, 0.0)
            spent.append((time.process_time() - began) * 1000)
        spent.sort()
        print(
            f"matching, {index.size} strategies, {name}, CPU: median {spent[1_000]:.3f} ms, p99 {spent[1_980]:.3f} ms"
        )


def _strategy(number: int, tools: int, *, is_filed: bool) -> Pattern:
    context = {"path": "id", "value": f"v{number}"} if is_filed else {"path": "amount", "op": "gt", "value": number}
    strategy = Strategy.model_validate(
        {
            "schema": "strategy/1", "id": f"{'f' if is_filed else 'u'}{number}", "trigger": {"tool": f"t{number % tools}", "context": [context]},
            "action": {"kind": "skip"},
        }
    )  # fmt: skip
    return Pattern(
        id=strategy.id, version=1, kind=PatternKind.STRATEGY, definition=strategy.dump(), state=PatternState.ACTIVE
    )


def main(count: int = 420, seed: int = 1) -> None:
    if shared := shared_words():
        raise SystemExit(f"messages share words with the tree's data: {shared}")
    causes(count, seed)
    learned(count, seed)
    canaries(count // 2, seed)
    matching()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
