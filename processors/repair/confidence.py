"""Repairs of a call → how far its arguments can be trusted: the product of its codes' rates.

Each rate is measured (rates.toml has its counts), smoothed towards a starting value. A code counts once however many
values it changed: the same decision made a hundred times is right or wrong together.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from schemas.toolcall import Repair

START = 0.9
"""Starting value of a code that has none of its own."""
SMOOTHING = 20
"""Uses that the starting value weighs as many as."""


def _read() -> dict[str, float]:
    table = tomllib.loads((Path(__file__).parent / "rates.toml").read_text(encoding="utf-8"))["codes"]
    return {code: (right + SMOOTHING * start) / (uses + SMOOTHING) for code, (start, uses, right) in table.items()}


RATES = _read()


def confidence_of(repairs: Iterable[Repair]) -> float:
    """Product of the rates of the distinct codes, to four places."""
    product = 1.0
    for code in sorted({repair.code for repair in repairs}):  # in one order, so that the product is the same bits
        product *= RATES.get(code, START)
    return round(product, 4)
