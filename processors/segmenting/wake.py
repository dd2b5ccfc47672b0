"""When reading goes on: a wake is called with each piece of text and gives None while the piece does not matter."""

import re
from collections.abc import Callable

Wake = Callable[[str], object]

always: Wake = re.compile("").search
at_solid: Wake = re.compile(r"\S").search


def after(count: int) -> Wake:
    """Wakes when so many characters have come."""
    if count <= 1:
        return always

    def wake(text: str) -> bool | None:
        nonlocal count
        count -= len(text)
        return None if count > 0 else True

    return wake
