"""Repairs of a call → how far its arguments can be trusted."""

from collections.abc import Iterable

from schemas.toolcall import Repair


def confidence_of(repairs: Iterable[Repair]) -> float:
    """Product of the codes' rates."""
    return 0.95 ** len(list(repairs))
