"""How often is a wrong tool name matched to the right tool, and what does a call cost with 10 to 10,000 tools?

    python benchmarks/bench_match_tool.py [CORPUS.jsonl]

The corpus has one object a line: `name`, `expect` (a tool's name or null), `tools`, optional `kind`. Without one, only the
cost is measured, on made tools. Compared with one rapidfuzz scan over all names, which is what most projects do.
"""

import json
import platform
import random
import sys
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

from rapidfuzz import fuzz, process

sys.path.insert(0, str(Path(__file__).parent.parent))

from processors.match_tool import EDIT_SCORE_MIN, ToolIndex
from processors.tools.toolbox import function_of

VERBS = ("get", "list", "create", "update", "delete", "search", "send", "start", "stop", "export", "import", "merge")
NOUNS = ("invoice", "ticket", "order", "user", "device", "report", "playlist", "flight", "room", "message", "note")
REPEATS = 5


def accuracy(path: str) -> None:
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    indexes: dict[str, tuple[ToolIndex, list[str]]] = {}
    for row in rows:
        key = json.dumps(row["tools"])
        if key not in indexes:
            tools = [function_of(tool) for tool in row["tools"]]
            indexes[key] = ToolIndex(tools), [tool["name"] for tool in tools]
        index, names = indexes[key]
        match = index.match(row["name"])
        scan = process.extractOne(row["name"], names, scorer=fuzz.ratio, score_cutoff=EDIT_SCORE_MIN)
        for who, tool in (("this index", match.tool), ("scan, ratio 80", scan[0] if scan else None)):
            count(totals[who], row["expect"], tool)
        totals["this index"]["top3"] += row["expect"] in [candidate.name for candidate in match.candidates]
    print(f"{'':16} {'recall':>8} {'false accept':>13} {'wrong tool':>11} {'top 3':>7}   n = {len(rows)}")
    for who, total in totals.items():
        shares = total["right"] / total["positive"], total["accepted"] / max(1, total["negative"])
        top = f"{total['top3'] / total['positive']:7.3f}" if "top3" in total else "      -"
        print(f"{who:16} {shares[0]:8.3f} {shares[1]:13.3f} {total['wrong'] / len(rows):11.3f} {top}")


def count(total: Counter[str], expected: str | None, tool: str | None) -> None:
    total["positive" if expected else "negative"] += 1
    total["right"] += bool(expected) and tool == expected
    total["accepted"] += not expected and tool is not None
    total["wrong"] += tool is not None and tool != expected


def made_tools(size: int) -> list[dict[str, object]]:
    rng = random.Random(size)
    names = list(dict.fromkeys(f"{verb}_{noun}" for verb in VERBS for noun in NOUNS))
    rng.shuffle(names)
    while len(names) < size:
        more = f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}_{''.join(rng.choices('aeioubcdfgklmnprst', k=6))}"
        names.append(more)
    return [{"name": name, "description": f"Tool to {name.replace('_', ' the ')}"} for name in names[:size]]


def cost() -> None:
    print(f"\n{'tools':>7} {'build ms':>9} {'us a call':>10} {'scan us':>9} {'ratio':>6}   CPU time, best of {REPEATS}")
    for size in (10, 200, 10_000):
        tools = made_tools(size)
        rng = random.Random(1)
        wrong = [mistyped(str(rng.choice(tools)["name"]), rng) for _ in range(200)]
        started = time.process_time()
        index = ToolIndex(tools)
        built = time.process_time() - started
        names = [tool["name"] for tool in tools]
        ours = best(index.match, wrong)
        scan = best(partial(process.extract, choices=names, scorer=fuzz.ratio, limit=3), wrong)
        print(f"{size:7} {built * 1e3:9.1f} {ours * 1e6:10.1f} {scan * 1e6:9.1f} {ours / scan:6.2f}")


def mistyped(name: str, rng: random.Random) -> str:
    place = rng.randrange(1, len(name) - 1)
    return name[:place] + name[place + 1] + name[place] + name[place + 2 :]


def best(match, wrong: list[str]) -> float:
    """CPU seconds a call."""
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        for name in wrong:
            match(name)
        times.append(time.process_time() - started)
    return min(times) / len(wrong)


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, {platform.machine()}, one core")
    for corpus in sys.argv[1:]:
        accuracy(corpus)
    cost()
