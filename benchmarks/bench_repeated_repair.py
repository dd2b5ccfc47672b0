"""How much cheaper is a repair the next time, when its rule is known?

Run: python benchmarks/bench_repeated_repair.py

The same damaged call is repaired without rules and with the rule that a person or a tool's success would confirm, among
100,000 other rules. Printed: CPU µs of the whole repair of a call (read, checked, coerced), before and after; and the
ratio of what the repair adds to a call that needs none, which is what a rule can save. Times are the best of the repeats,
before, after and undamaged measured in turn in one run.
"""

import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from processors.repair import NO_RULES, Rules, compile_tool, repair, rules_of
from schemas.pattern import Pattern, PatternKind, PatternState

OTHERS = 100_000
ROUNDS = 2_000
REPEATS = 7
HEADS = ("Alder", "Birch", "Cedar", "Drift", "Ember", "Fjord", "Gannet", "Heron", "Islet", "Juniper", "Kelp", "Lark")
TAILS = ("bay", "cliff", "dale", "east", "ford", "gate", "haven", "inlet", "jetty", "key", "landing", "mouth", "north",
         "oaks", "point", "quay", "rocks", "sound", "tower", "village")  # fmt: skip
HARBOURS = [f"{head} {tail}" for head in HEADS for tail in TAILS]
TOOL = {
    "function": {
        "name": "book_ferry",
        "parameters": {
            "type": "object",
            "properties": {
                "route": {"type": "string", "enum": ["express", "southern", "northern", "coastal"]},
                "harbour": {"type": "string", "enum": HARBOURS},
                "departure_day": {"type": "string", "format": "date"},
                "passengers": {"type": "integer", "minimum": 1, "maximum": 40},
                **{f"{name}_preference": {"type": "string"} for name in ("cabin", "meal", "deck", "seat", "guide")},
            },
            "required": ["route", "departure_day"],
        },
    }
}
RIGHT = {"route": "express", "harbour": HARBOURS[107], "departure_day": "2031-05-04", "passengers": 2}


@dataclass(frozen=True)
class Case:
    """One repair: what the model wrote, and the rule it becomes."""

    name: str
    written: dict
    kind: str
    word: str
    action: dict
    param: str


CASES = (
    Case("misspelt enum, 4 values", {**RIGHT, "route": "exprss"}, "value_alias", "exprss", {"set": "express"}, "/route"),
    Case("misspelt enum, 240 values", {**RIGHT, "harbour": "Fjrd inlett"}, "value_alias", "fjrdinlett",
         {"set": HARBOURS[107]}, "/harbour"),
    Case("misspelt parameter", {"rout": "express", "harbour": HARBOURS[107], "departure_day": "2031-05-04", "passengers": 2},
         "param_alias", "rout", {"rename": "route"}, ""),
    Case("date in words", {**RIGHT, "departure_day": "May 4th, 2031"}, "value_alias", "may4th2031",
         {"set": "2031-05-04"}, "/departure_day"),
)  # fmt: skip


def rule(name: str, kind: str, word: str, action: dict, **scope: str) -> Pattern:
    """An active rule."""
    definition = {"kind": kind, "match": {"folded": word}, "action": action, "scope": {"tool": "book_ferry", **scope}}
    return Pattern(id=name, version=1, kind=PatternKind.REPAIR_RULE, definition=definition, state=PatternState.ACTIVE)


def clock(work: Callable[[], object]) -> float:
    """CPU µs of one call of it."""
    began = time.process_time()
    for _ in range(ROUNDS):
        work()
    return (time.process_time() - began) / ROUNDS * 1e6


def main() -> None:
    """Print one line for each repair."""
    schema = compile_tool(TOOL)
    others = [rule(f"o{n}", "value_alias", f"word{n}", {"set": "x"}, param=f"/other{n % 500}") for n in range(OTHERS)]
    mine = [rule(case.name, case.kind, case.word, case.action, param=case.param) for case in CASES]
    rules = rules_of([*others, *mine])
    print(
        f"{platform.machine()}, Python {platform.python_version()}; {len(rules.table):,} rules; CPU µs, best of {REPEATS}"
    )
    print(f"{'':28s} {'before':>8s} {'after':>8s} {'ratio':>6s} {'undamaged':>10s} {'ratio of what is added':>23s}")
    for case in CASES:
        raw, right = json.dumps(case.written), json.dumps(RIGHT)

        def repaired(text: str, known: Rules) -> Callable[[], object]:
            return lambda: repair(text, schema, rules=known)

        work = (repaired(raw, NO_RULES), repaired(raw, rules), repaired(right, rules))
        answers = [one() for one in work[:2]]
        assert answers[0].arguments == answers[1].arguments == RIGHT, case.name
        before, after, plain = (min(times) for times in zip(*(map(clock, work) for _ in range(REPEATS)), strict=True))
        added = (before - plain) / max(after - plain, 0.1)
        print(f"{case.name:28s} {before:8.1f} {after:8.1f} {before / after:6.1f} {plain:10.1f} {added:23.1f}")


if __name__ == "__main__":
    main()
