"""Right calls → damaged calls with known answers: the rows on which the repair is measured and calibrated.

Each fault is a function of one call; it says what the right answer stays, or which refusal code is right. Seeds make
sets, so the order in which the tables list their faults is part of a set.
"""

import copy
import random

from benchmarks.damage import (
    around,
    choices,
    containers,
    cuts,
    dates,
    forms,
    kinds,
    marks,
    names,
    numbers,
    quotes,
    refused,
    strings,
)
from benchmarks.damage.calls import Row, fresh
from benchmarks.damage.faults import dumped

VALUE = {
    **numbers.FAULTS,
    **choices.FAULTS,
    **dates.FAULTS,
    **kinds.FAULTS,
    **containers.FAULTS,
    **refused.FAULTS,
    **names.FAULTS,
    **strings.FAULTS,
}
"""Change the arguments; `want` holds what stays right."""
SYNTAX = {**quotes.FAULTS, **marks.FAULTS, **cuts.FAULTS}
"""Change the text of the arguments."""
AROUND = around.FAULTS
FORMS = forms.FAULTS


def damaged(rng: random.Random, number: int) -> dict:
    """One row: a tenth clean, else one to three faults."""
    while True:
        row = fresh(rng)
        row.want = copy.deepcopy(row.args)
        count = 0 if number % 12 == 0 else rng.choice([1, 1, 1, 2, 2, 3])
        plan = planned(rng, count)
        if all(applied(row, name, table) for name, table in plan):
            if not row.text:
                row.text = dumped(row.args, rng, indent=rng.choice([None, None, 2]) if count == 0 else None)
            expect = None if row.why else row.want
            out = {
                "id": f"g{number:05d}",
                "raw": row.text,
                "tool": row.tool,
                "expect": expect,
                "faults": [name for name, _ in plan],
            }
            return out | ({"why": row.why} if row.why else {})


def planned(rng: random.Random, count: int) -> list[tuple[str, dict]]:
    tables = [VALUE, SYNTAX, AROUND, FORMS]
    weights = [len(table) for table in tables]
    chosen = rng.choices(tables, weights, k=count)
    unique = [table for table in tables if table in chosen]
    if FORMS in unique and VALUE in unique:
        return [(rng.choice([name for name in VALUE if name not in TYPED]), VALUE), (rng.choice(list(FORMS)), FORMS)]
    if FORMS in unique:
        unique = [table for table in unique if table not in (SYNTAX, AROUND)]
    return [(rng.choice(list(table)), table) for table in unique]


def applied(row: Row, name: str, table: dict) -> bool:
    if table is not VALUE and table is not FORMS and not row.text:
        row.text = dumped(row.args, row.rng)
    if not row.args or (row.why and name in REFUSALS):
        return False
    before = row.why
    if row.why is not None and table is SYNTAX and name.startswith("missing_closers"):
        return False
    return bool(table[name](row)) and not (before and row.why != before)


TYPED = {"array_for_scalar", "array_for_scalar_many"}
"""Faults that a grammar without types cannot show: there, text stays text."""


REFUSALS = {
    "truncated_free_text",
    "truncated_number",
    "truncated_in_array",
    "truncated_before_required",
    "concat_different",
    "duplicate_key_conflict",
    "unclosed_string_known_value",
}


def rows(seed: int, count: int) -> list[dict]:
    """A set of damaged calls; the same seed gives the same set."""
    rng = random.Random(seed)
    return [damaged(rng, number) for number in range(count)]
