"""How many damaged calls come back right, how many silently wrong, and what does a call cost, next to the libraries?

    python benchmarks/bench_repair.py [CORPUS.jsonl] [--rows 1500]

Without a corpus: calls of our own (benchmarks/damage, seed 301, which nothing was tuned or calibrated on). A corpus has
one object a line: `raw`, `tool`, `expect` (null: must be refused), optional `why`. Every reader gets the same texts in the
same run; times are CPU time, the best of the repeats. A library that isn't installed is left out. `composed` is what an
afternoon makes of libraries: fences off, json_repair, names folded, simple types coerced, jsonschema-rs.
"""

import argparse
import json
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module, util
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.damage import rows
from processors.repair import ToolSchema, compile_tool, repair, rules_of
from schemas.pattern import Pattern, PatternKind, PatternState

REPEATS = 3
FENCE = re.compile(r"^.*?```\w*\n|\n?```.*$", re.DOTALL)
Reader = Callable[[str, ToolSchema], object]


def ours(raw: str, schema: ToolSchema) -> object:
    return repair(raw, schema).arguments


def strictly(raw: str, schema: ToolSchema) -> object:
    value = orjson.loads(raw)
    return value if schema.is_valid(value) else None


def validated(load: Callable[[str], object]) -> Reader:
    def read(raw: str, schema: ToolSchema) -> object:
        value = load(raw)
        return value if isinstance(value, dict) and schema.is_valid(value) else None

    return read


def composed(load: Callable[[str], object]) -> Reader:
    def read(raw: str, schema: ToolSchema) -> object:
        value = load(FENCE.sub("", raw) if "```" in raw else raw)
        while (
            isinstance(value, dict)
            and len(value) <= 2
            and isinstance(inner := value.get("arguments") or value.get("parameters"), dict | str)
        ):
            value = load(inner) if isinstance(inner, str) else inner
        if not isinstance(value, dict):
            return None
        value = coerced(value, schema.root)
        return value if schema.is_valid(value) else None

    return read


def coerced(value: dict, spec: object) -> dict:
    names = {key.replace("_", "").casefold(): key for key in spec.properties}
    out = {}
    for key, inner in value.items():
        known = names.get(re.sub(r"[\W_]", "", key).casefold())
        if known:
            out[known] = scalar(inner, spec.properties[known])
        elif not spec.closed:
            out[key] = inner
    return out


def scalar(value: object, spec: object) -> object:
    if isinstance(value, str) and spec.types & {"integer", "number"}:
        try:
            return int(value) if "integer" in spec.types else float(value)
        except ValueError:
            return value
    if isinstance(value, str) and "boolean" in spec.types and value.casefold() in {"true", "yes", "false", "no"}:
        return value.casefold() in {"true", "yes"}
    if isinstance(value, str) and spec.enum:
        return next((one for one in spec.enum if one.casefold() == value.strip().casefold()), value)
    if isinstance(value, int | float) and not isinstance(value, bool) and spec.types == {"string"}:
        return str(value)
    if isinstance(value, str) and spec.types & {"array", "object"} and value[:1] in "[{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return [value] if spec.types == {"array"} and not isinstance(value, list) else value


def readers() -> dict[str, Reader]:
    found: dict[str, Reader] = {"ours": ours, "orjson": strictly}
    for module, name in (
        ("json_repair", "loads"),
        ("fast_json_repair", "loads"),
        ("repairjson", "loads"),
        ("partial_json_parser", "loads"),
    ):
        try:
            found[module] = validated(getattr(import_module(module), name))
        except ImportError:
            print(f"not installed, left out: {module}")
    try:
        library = import_module("json_repair")
    except ImportError:
        return found
    if util.find_spec("jsonschema") is None:
        print("not installed, left out: jsonschema, which json_repair needs for its schema mode")
    else:
        found["json_repair + schema"] = lambda raw, schema: validated(
            lambda text: library.loads(text, schema=schema.parameters, schema_repair_mode="salvage")
        )(raw, schema)
    found["composed"] = composed(library.loads)
    return found


def answer(read: Reader, raw: str, schema: ToolSchema) -> object:
    try:
        return read(raw, schema)
    except (
        ValueError,
        TypeError,
        RecursionError,
        KeyError,
        AttributeError,
        IndexError,
        AssertionError,
    ):  # what the libraries raise
        return None


def measured(name: str, read: Reader, cases: list[tuple[dict, ToolSchema]]) -> None:
    total: Counter[str] = Counter()
    for case, schema in cases:
        got = answer(read, case["raw"], schema)
        want = case["expect"]
        total["right"] += got == want if want is not None else got is None
        total["wrong"] += got is not None and got != want
        total["false"] += got is None and want is not None
        total["must"] += want is None
        total["refused"] += got is None and want is None
    best = min(timed(read, cases) for _ in range(REPEATS))
    share = lambda count, of: f"{100 * count / max(1, of):6.1f}"  # noqa: E731 - one format for a table
    n = len(cases)
    print(f"{name:22s} {share(total['right'], n)} {share(total['wrong'], n)} {share(total['false'], n - total['must'])} "
          f"{share(total['refused'], total['must'])} {best / n * 1e6:8.1f} {n / best:10,.0f}")  # fmt: skip


def timed(read: Reader, cases: list[tuple[dict, ToolSchema]]) -> float:
    start = time.process_time()
    for case, schema in cases:
        answer(read, case["raw"], schema)
    return time.process_time() - start


def strict_speed(cases: list[tuple[dict, ToolSchema]]) -> None:
    clean = [
        (case, schema)
        for case, schema in cases
        if not case.get("faults") and repair(case["raw"], schema).status == "ok"
    ] * 20
    calls = len(clean) / min(timed(ours, clean) for _ in range(REPEATS))
    plain = len(clean) / min(timed(strictly, clean) for _ in range(REPEATS))
    size = sum(len(case["raw"]) for case, _ in clean) / len(clean)
    print(
        f"\nstrict path, {size:.0f} characters a call: {calls:,.0f} calls/s (orjson and the validator alone: {plain:,.0f})"
    )


def long_texts(schema: ToolSchema) -> None:
    head = next(key for key, spec in schema.root.properties.items() if spec.types == {"string"})
    pieces = {
        "one text, valid": (f'{{"{head}": "', "word, ", '"}'), "inner quotes": (f'{{"{head}": "', 'a "b", ', '"}'), "quotes": (f'{{"{head}": "', '"', ""),
        "quote, comma": (f'{{"{head}": "', '", ', ""), "escapes": (f'{{"{head}": "', "\\u4e2d", ""), "openers": ("", '{"a":', ""), "keys": ("{", '"a":1,', ""),
        "half keys": ("{", '"a: ', ""), "apostrophes": (f"{{'{head}': '", "it's ", "'}"), "tags": ("", "<a>", ""), "calls": ("", "f(a=1) ", ""), "lines": ("", f"{head}: x\n", ""),
    }  # fmt: skip
    print("\n1 MB of one damage, CPU ms")
    for name, (start, piece, end) in pieces.items():
        raw = start + piece * (1_000_000 // len(piece)) + end
        best = 9e9
        for _ in range(REPEATS):
            began = time.process_time()
            repair(raw, schema)
            best = min(best, time.process_time() - began)
        print(f"  {name:18s} {best * 1e3:8.0f}")


def rule_speed() -> None:
    patterns = [
        Pattern(
            id=f"r{number}", version=1, kind=PatternKind.REPAIR_RULE, state=PatternState.ACTIVE,
            definition={"kind": "value_alias", "scope": {"tool": f"t{number % 500}", "param": "/unit"},
                        "match": {"folded": f"word{number}"}, "action": {"set": "x"}},
        )
        for number in range(100_000)
    ]  # fmt: skip
    rules = rules_of(patterns)
    for said, name in (("word777", "found"), ("Word 777 ", "found, other spelling"), ("nothing", "not found")):
        best = 9e9
        for _ in range(REPEATS):
            start = time.process_time()
            for _ in range(100_000):
                rules.find("value_alias", "t277", "/unit", said)
            best = min(best, (time.process_time() - start) / 100_000)
        print(f"  rule look-up among {len(rules.table):,}, {name}: {best * 1e6:.2f} µs")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpus", nargs="?")
    options.add_argument("--rows", type=int, default=1_500)
    chosen = options.parse_args()
    found = (
        [json.loads(line) for line in Path(chosen.corpus).read_text(encoding="utf-8").splitlines()]
        if chosen.corpus
        else rows(301, chosen.rows)
    )
    schemas = {key: compile_tool(json.loads(key)) for key in {json.dumps(case["tool"]) for case in found}}
    cases = [(case, schemas[json.dumps(case["tool"])]) for case in found[: chosen.rows] if case.get("user") is None]
    print(
        f"{platform.machine()}, Python {platform.python_version()}; {len(cases)} calls, {len(schemas)} tools; CPU time, best of {REPEATS}\n"
    )
    print(f"{'':22s} {'right':>6s} {'wrong':>6s} {'false':>6s} {'must':>6s} {'µs':>8s} {'calls/s':>10s}")
    print(f"{'':22s} {'%':>6s} {'%':>6s} {'ref. %':>6s} {'ref. %':>6s} {'a call':>8s}")
    for name, read in readers().items():
        measured(name, read, cases)
    strict_speed(cases)
    long_texts(cases[0][1])
    print()
    rule_speed()


if __name__ == "__main__":
    main()
