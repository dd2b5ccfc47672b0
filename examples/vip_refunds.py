"""Tools of the first story in docs/retrospection.md: refunds, whose fast lane for VIP customers forgot the fallback.

A refund that the bank refuses is put on a person's desk, so it never fails, unless the customer is a VIP: the fast
lane was written later, and there the refusal comes out as a failure.
"""

from typing import Literal

from streams.executing.python_tool import BusinessFailure, tool

BANK_REFUSES_FROM = 100
"""The bank takes smaller refunds only."""
desk: list[str] = []


@tool()
def refund(order: str, amount: float, tier: Literal["normal", "plus", "vip"]) -> dict[str, str]:
    """Give a customer the money of an order back.

    When to use: the customer asks for it and the order was paid.
    Side effects: money moves.

    Args:
        order: as on the invoice
        amount: in EUR
        tier: of the customer
    """
    if tier == "vip":
        raise BusinessFailure(f"instant settlement of {order} declined")
    if amount >= BANK_REFUSES_FROM:
        desk.append(order)
        return {"state": "on the desk"}
    return {"state": "refunded"}
