"""How many texts with a period are read right, how many silently wrong, and what does a text cost, next to the libraries?

    python benchmarks/bench_periods.py [CORPUS.jsonl]

Without a corpus: the sentences of tests/processors/periods/said_*.txt, which the rules were written for, so those figures
say that the table is wired right, not how much of a language it covers. A corpus has one object a line: `user`, `now`,
`lang`, `expect` (kind, start, end, alts), optional `policy`. right: settled texts with the usual or another listed reading.
silently wrong: one confident answer where the text says another, several, or none. Times are CPU time of
one run over the texts after a warm-up of 50 (some libraries keep answers, so a second run says little); every reader gets
the same texts in the same run. A library that isn't installed is left out; dateparser's spans end with the last date it
finds, and timefhuman reads English only.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module, util
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from processors.periods.read import read_periods
from processors.periods.reading import DEFAULT_POLICY, Policy, read_moment, read_policy

ROOT = Path(__file__).parent.parent
WARM_TEXTS = 50
NOW = "2026-03-18T10:30:00"
Answer = tuple[str | None, str | None] | None


@dataclass(frozen=True)
class Case:
    user: str
    now: datetime
    lang: str
    policy: Policy
    readings: tuple[tuple[str | None, str | None], ...]
    """The usual reading and the other listed ones; none if the text settles nothing."""


def said() -> list[Case]:
    cases = []
    for name in ("en", "zh"):
        text = (ROOT / "tests" / "processors" / "periods" / f"said_{name}.txt").read_text(encoding="utf-8")
        for line in text.splitlines():
            if line and not line.startswith("#"):
                user, *expected = (part.strip() for part in line.split(" | "))
                pair = tuple(None if part == "-" else part for part in expected)
                cases.append(Case(user, read_moment(NOW), name, DEFAULT_POLICY, (pair,) if len(pair) == 2 else ()))
    return cases


def corpus(path: str) -> list[Case]:
    cases = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        expect = row["expect"]
        settled = expect["kind"] not in ("ambiguous", "none")
        readings = [(expect["start"], expect["end"]), *map(tuple, expect.get("alts", ()))] if settled else []
        cases.append(
            Case(row["user"], read_moment(row["now"]), row["lang"], read_policy(row.get("policy")), tuple(readings))
        )
    return cases


def ours(case: Case) -> Answer:
    reading = read_periods(case.user, case.now, policy=case.policy)
    return (reading.start, reading.end) if reading.is_settled else None


def dateparser() -> Callable[[Case], Answer]:
    search = import_module("dateparser.search").search_dates

    def read(case: Case) -> Answer:
        found = search(case.user, languages=[case.lang], settings={"RELATIVE_BASE": case.now.replace(tzinfo=None)})
        days = sorted(moment.date().isoformat() for _, moment in found or ())
        return (days[0], days[-1]) if days else None

    return read


def timefhuman() -> Callable[[Case], Answer]:
    module = import_module("timefhuman")
    config = import_module("timefhuman.utils").tfhConfig

    def read(case: Case) -> Answer:
        found = module.timefhuman(case.user, config=config(now=case.now.replace(tzinfo=None)))
        if not found:
            return None
        first = found[0]
        ends = first if isinstance(first, tuple) else (first, first)
        if not all(isinstance(end, date) for end in ends):
            return None
        return ends[0].isoformat()[:10], ends[1].isoformat()[:10]

    return read


LANGUAGES = {"timefhuman": ("en",)}
LIBRARIES = {"dateparser": dateparser, "timefhuman": timefhuman}


def measured(read: Callable[[Case], Answer], cases: list[Case]) -> tuple[list[Answer], float]:
    for case in cases[:WARM_TEXTS]:
        answered(read, case)
    begin = time.process_time()
    answers = [answered(read, case) for case in cases]
    return answers, time.process_time() - begin


def answered(read: Callable[[Case], Answer], case: Case) -> Answer:
    try:
        return read(case)
    except (ValueError, TypeError, AttributeError, IndexError, OverflowError):  # what the libraries raise on some texts
        return None


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("corpus", nargs="?")
    chosen = options.parse_args()
    cases = corpus(chosen.corpus) if chosen.corpus else said()
    settled = sum(bool(case.readings) for case in cases)
    print(f"{len(cases)} texts, {settled} settled; CPython {platform.python_version()}, {platform.machine()}\n")
    print(f"{'reader':24}{'settled right':>15}{'silently wrong':>16}{'µs a text':>12}{'× ours':>8}")
    readers = {"periods": ours} | {name: make() for name, make in LIBRARIES.items() if util.find_spec(name)}
    base = 0.0
    for name, read in readers.items():
        for lang in LANGUAGES.get(name, ("en", "zh")):
            chosen_cases = [case for case in cases if case.lang == lang]
            answers, seconds = measured(read, chosen_cases)
            pairs = list(zip(chosen_cases, answers, strict=True))
            right = sum(answer in case.readings for case, answer in pairs if case.readings)
            wrong = sum(answer is not None and answer not in case.readings for case, answer in pairs)
            here = sum(bool(case.readings) for case in chosen_cases)
            cost = 1e6 * seconds / max(1, len(chosen_cases))
            base = base or cost
            print(
                f"{name + ' ' + lang:24}{100 * right / max(1, here):14.1f}%{100 * wrong / max(1, len(pairs)):15.2f}%"
                f"{cost:12.0f}{cost / base:8.1f}"
            )


if __name__ == "__main__":
    main()
