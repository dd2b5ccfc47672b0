"""Steps of a trace → signs that something was left out, which similarity doesn't see.

Two signs: a numbered list or `step n` that skips a number, and a value spoken of as already found (`the 28 we got`,
`得到的 28`) that nothing before it said. Both are hints: they say where to look, not that reasoning is wrong.
"""

import re
from collections.abc import Sequence

from processors.reasoning.references import Introduced, values_of

_NUMBERED = re.compile(r"^\W{0,6}(?:step |第)?(\d{1,2})(?:[.)：:、](?!\d)|步)", re.IGNORECASE)
_FOUND = re.compile(
    r"\b(?:we|i) (?:got|found|obtained|computed|calculated|saw)\b|"
    r"\b(?:returned|obtained|earlier|above|previous|found before)\b|得到的|返回的|查到的|前面的|算出的|上面的|之前的",
    re.IGNORECASE,
)
_MAKES = re.compile(r"=|≈|\bequals?\b|\bgives?\b|等于|得出|约为|就是")


def skipped_numbers(steps: Sequence[str]) -> dict[int, str]:
    """Joint → `skipped_number:2`, where the numbers of steps go on with a hole of at most three."""
    found: dict[int, str] = {}
    last: int | None = None
    for place, step in enumerate(steps):
        numbered = _NUMBERED.match(step)
        if numbered is None:
            continue
        number = int(numbered[1])
        if last is not None and last + 2 <= number <= last + 4 and place:
            found[place - 1] = f"skipped_number:{last + 1}"
        last = number
    return found


def unknown_values(steps: Sequence[str], known: Introduced) -> dict[int, str]:
    """Joint → `never_introduced:28`, for a value that a step takes as found and nothing before it said.

    What the steps themselves say is added to `known`.
    """
    found: dict[int, str] = {}
    for place, step in enumerate(steps):
        if place and _FOUND.search(step[:400]) and not _MAKES.search(step[:400]):
            unknown = [value for value in values_of(step) if value[0].isdigit() and not known.has(value)]
            if unknown:
                found[place - 1] = f"never_introduced:{unknown[0][:40]}"
        known.add("steps", step)
    return found
