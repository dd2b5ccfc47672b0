"""How often is a repair right? Damaged calls with known answers → processors/repair/rates.toml.

    python benchmarks/calibrate_repair.py                    measure on 30,000 calls of our own, write the rates
    python benchmarks/calibrate_repair.py --check [FILE …]   calibration of the rates in force, on other seeds or on files

A code's line is `code = [start, uses, right]`: the starting value, how many accepted calls the code took part in, and
how many of those were right. The rate is the starting value, weighted as 20 uses, with the counts added.
Rows of a file need `raw`, `tool` and `expect` (null: must be refused).
"""

import argparse
import collections
import json
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.damage import rows
from processors.repair import Repaired, compile_tool, repair
from processors.repair.confidence import START

TARGET = Path(__file__).parent.parent / "processors" / "repair" / "rates.toml"
TRAIN_SEEDS, CHECK_SEEDS = range(100, 110), range(200, 205)
ROWS_PER_SEED = 3_000


def answered(cases: list[dict]) -> list[tuple[dict, Repaired]]:
    schemas = {key: compile_tool(json.loads(key)) for key in {json.dumps(case["tool"]) for case in cases}}
    return [(case, repair(case["raw"], schemas[json.dumps(case["tool"])])) for case in cases]


def is_right(case: dict, got: Repaired) -> bool:
    return case["expect"] is not None and got.arguments == case["expect"]


def measure() -> None:
    uses: collections.Counter[str] = collections.Counter()
    right: collections.Counter[str] = collections.Counter()
    for seed in TRAIN_SEEDS:
        for case, got in answered(rows(seed, ROWS_PER_SEED)):
            for code in {one.code for one in got.repairs} if got.arguments is not None else ():
                uses[code] += 1
                right[code] += is_right(case, got)
    head = TARGET.read_text(encoding="utf-8").split("[codes]")[0]
    known = tomllib.loads(TARGET.read_text(encoding="utf-8"))["codes"]
    lines = [
        f"{code} = [{known.get(code, [START])[0]}, {uses[code]}, {right[code]}]"
        for code in sorted(known.keys() | uses.keys())
    ]
    TARGET.write_text(head + "[codes]\n" + "\n".join(lines) + "\n", encoding="utf-8")
    print(
        f"{sum(uses.values())} uses of {len(uses)} codes, {sum(uses.values()) - sum(right.values())} in wrong calls → {TARGET.name}"
    )


def check(files: list[str]) -> None:
    sets = [
        (Path(file).name, [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()])
        for file in files
    ]
    for name, cases in sets or [(f"seed {seed}", rows(seed, ROWS_PER_SEED)) for seed in CHECK_SEEDS]:
        bins = [[0, 0, 0.0] for _ in range(10)]
        for case, got in answered(cases):
            if got.arguments is not None:
                one = bins[min(9, int(got.confidence * 10))]
                one[0] += 1
                one[1] += is_right(case, got)
                one[2] += got.confidence
        accepted = sum(one[0] for one in bins)
        error = sum(abs(one[1] - one[2]) for one in bins) / max(1, accepted)
        low = min((one[2] / one[0] for one in bins if one[0]), default=1.0)
        print(
            f"{name:24s} accepted {accepted:5d}  right {sum(one[1] for one in bins) / max(1, accepted):.4f}  ECE {error:.4f}  lowest bin {low:.2f}"
        )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", nargs="*", default=None, metavar="FILE")
    chosen = options.parse_args()
    if chosen.check is None:
        measure()
    else:
        check(chosen.check)
