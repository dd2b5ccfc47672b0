"""Learning of unknown formats: how many are learned, how exact they then read, what prose teaches, what it costs.

Run: python benchmarks/bench_learn.py [--corpus FILE.jsonl] [--seeds N] [--pools N]

Pools are outputs of one notation that no catalogue knows, mixed into ordinary texts. Exact: calls, reasoning and content
all as they were rendered, on outputs that the learner did not see; only for runs that learned. Times are CPU times of
this process; `peer` is the same pool with nothing learned, so the share of outputs that are exact without learning.
A corpus has one output a line: `format`, `text`, `tools` and, for scoring only, `expect`.
"""

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from processors.catalog import load_formats
from processors.knowledge import shipped_knowledge
from processors.learn import Learner
from processors.learning.rehearse import Rehearsal
from processors.learning.sample import sample
from processors.learning.shadowing import literals_of
from schemas.output import Output
from schemas.toolcall import CallStatus
from tests.notations import NAMES, NOTATIONS, PARAMETERS, drawn, sentence
from tests.plain_texts import texts

SIZES = (5, 10, 20)
ORDINARY = 100
TESTED = 40


@dataclass
class Figures:
    """Sums over runs."""

    runs: int = 0
    learned: int = 0
    outputs: int = 0
    exact: int = 0
    without: int = 0
    calls: int = 0
    calls_right: int = 0
    calls_wrong: int = 0
    seconds: list[float] = field(default_factory=list)


def ordinary(seed: str, count: int) -> list[dict]:
    """Own texts that hold no call, some of which name tools and parameters."""
    draw = random.Random(seed)
    tools = [
        {
            "function": {
                "name": name,
                "parameters": {"properties": {key: {"type": kind} for key, kind in PARAMETERS.items()}},
            }
        }
        for name in NAMES
    ]
    plain = texts()
    found = []
    for number in range(count):
        name, key = draw.choice(NAMES), draw.choice(sorted(PARAMETERS))
        written = (
            draw.choice(plain),
            f"{sentence(draw)} Use {name} with {key}. {sentence(draw)}",
            f"## {name}\n\n| parameter | type |\n|---|---|\n| {key} | {PARAMETERS[key]} |\n",
            f"The call `{name}({key}=…)` is explained below.\n\n1. {sentence(draw)}\n2. {sentence(draw)}",
            f"```python\n{name}({key}=1)\n```\n{sentence(draw)}",
        )
        found.append({"id": f"o{seed}-{number}", "text": draw.choice(written), "tools": tools})
    return found


def learned_from(requests: list[dict]) -> tuple[Rehearsal, int, float]:
    """A learner fed with requests in order: what it knows then, how many formats, CPU seconds of the learner alone."""
    rehearsal = Rehearsal(shipped_knowledge())
    learner = Learner(rehearsal.run, literals_of(load_formats()))
    accepted, spent = set(), 0.0
    for request in [*requests, None]:
        began = time.process_time()
        if request is None:
            attempts = learner.finish()
        else:
            item = sample(request)
            output = rehearsal.run(item, None)
            began = time.process_time()
            attempts = learner.take(item, output)
        spent += time.process_time() - began
        for attempt in attempts:
            if attempt.accepted:
                rehearsal.adopt(attempt.pattern.definition)
                accepted.add(attempt.pattern.id)
    return rehearsal, len(accepted), spent


def read_calls(output: Output) -> list[tuple]:
    """Calls that were read whole; one that was cut off is no call."""
    return [(call.name, call.arguments) for call in output.tool_calls if call.status is not CallStatus.TRUNCATED]


def is_exact(output: Output, expected: tuple) -> bool:
    """Whether calls, reasoning and content are as written."""
    reasoning, content, calls = expected
    return (
        read_calls(output) == list(calls)
        and (output.reasoning.text or "").strip() == (reasoning or "").strip()
        and output.response.strip() == (content or "").strip()
    )


def measure(figures: Figures, pool: list[dict], tested: list[tuple[dict, tuple]]) -> None:
    """One run: learn from a pool, read the outputs kept apart."""
    rehearsal, count, spent = learned_from(pool)
    figures.runs += 1
    figures.seconds.append(spent)
    if not count:
        return
    figures.learned += 1
    plain = Rehearsal(shipped_knowledge())
    for request, expected in tested:
        output = rehearsal.run(sample(request), None)
        figures.outputs += 1
        figures.exact += is_exact(output, expected)
        figures.without += is_exact(plain.run(sample(request), None), expected)
        read = read_calls(output)
        figures.calls += len(expected[2])
        figures.calls_right += sum(call in read for call in expected[2])
        figures.calls_wrong += sum(call not in list(expected[2]) for call in read)


def cases_of(rows: list[dict]) -> list[tuple[dict, tuple]]:
    """Rows of a corpus → requests with what is expected of them.

    Rows with state in comments are left out: a comparison of their content would measure how state is cut out.
    """
    found = []
    for row in rows:
        if any(tag.startswith("state") for tag in row.get("tags", ())):
            continue
        expect = row["expect"]
        calls = [(call["name"], call["arguments"]) for call in expect["tool_calls"]]
        request = {key: row[key] for key in ("id", "text", "tools")}
        found.append((request, (expect["reasoning"], expect["content"], calls)))
    return found


def show(title: str, figures: Figures) -> None:
    """One line of the table."""
    share = [f"{100 * part / whole:5.1f}" if whole else "    –" for part, whole in (
        (figures.exact, figures.outputs), (figures.without, figures.outputs), (figures.calls_right, figures.calls),
    )]  # fmt: skip
    times = sorted(figures.seconds)
    print(
        f"{title:<24} {figures.learned:>3}/{figures.runs:<3} {share[0]} {share[1]} {share[2]} "
        f"{figures.calls_wrong:>3}/{figures.calls:<5} {times[len(times) // 2]:6.2f} {times[-1]:6.2f}",
        flush=True,
    )


def shuffled(pool: list[dict], seed: str) -> list[dict]:
    """The pool in an order of its own."""
    random.Random(seed).shuffle(pool)
    return pool


def main() -> None:
    """Print the tables."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--corpus", type=Path)
    asked.add_argument("--seeds", type=int, default=2)
    asked.add_argument("--pools", type=int, default=20)
    options = asked.parse_args()
    print("learned from             runs    exact  peer calls wrong     s p50  s max   (exact, peer, calls: %)")
    for size in SIZES:
        figures = Figures()
        for notation in NOTATIONS:
            tested = [(request, expected) for request, *expected in drawn(notation, 900, TESTED)]
            for seed in range(options.seeds):
                own = [request for request, *_ in drawn(notation, seed, size)]
                measure(figures, shuffled([*own, *ordinary(f"{notation}{seed}", ORDINARY)], str(seed)), tested)
        show(f"own notations, {size}", figures)
    if options.corpus:
        groups = defaultdict(list)
        for line in options.corpus.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            groups[row["format"]].append(row)
        for size in SIZES:
            figures = Figures()
            for name, rows in sorted(groups.items()):
                for seed in range(options.seeds):
                    cases = cases_of(rows)
                    random.Random(f"{name}{seed}").shuffle(cases)
                    own = [request for request, _ in cases[:size]]
                    measure(figures, shuffled([*own, *ordinary(f"{name}{seed}", ORDINARY)], str(seed)), cases[size:])
            show(f"corpus, {size}", figures)
    false = sum(learned_from(ordinary(f"pool{number}", ORDINARY))[1] for number in range(options.pools))
    print(f"formats learned from {options.pools} pools of {ORDINARY} ordinary texts: {false}")
    for count in (50, 100, 200):
        own = [request for request, *_ in drawn("table rows", 7, count)]
        print(f"CPU time of the learner on {count} outputs of one format: {learned_from(own)[2]:.2f} s")


if __name__ == "__main__":
    main()
