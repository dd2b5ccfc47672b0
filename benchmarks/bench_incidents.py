"""Is the cause of a failure found, and is anything learned from what was only jitter?

Usage: python benchmarks/bench_incidents.py [COUNT] [SEED]

COUNT (default 420) incidents, each in a simulated world of its own (incidents.py) with messages of incident_words.py.
Every call of the world goes through the attributor in order of time. Right: the cause of the incident's last failure is
the one put in. Time: of the simulated clock, from the failure to its attribution, plus the CPU time that took.
"""

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.incident_words import WORDS
from benchmarks.incidents import CAUSES, TIERS, Simulated, incidents
from processors.attribute import Attributor
from processors.attribution.causes import shipped_tree
from processors.attribution.signs import borne, normal, shipped_signs
from processors.dispatching.errors import Fault
from schemas.attribution import Attribution

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
        for found in attributor.feed(seen):
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


def main(count: int = 420, seed: int = 1) -> None:
    if shared := shared_words():
        raise SystemExit(f"messages share words with the tree's data: {shared}")
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
    print(
        f"longest from failure to attribution {latest / 1000:.1f} s (simulated clock); {spent / count * 1000:.0f} ms CPU an incident, all its calls"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
