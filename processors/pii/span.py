"""PiiSpan: where personal data or a secret stands in a text, of which type, found by which rule."""

from typing import NamedTuple


class PiiSpan(NamedTuple):
    """Half-open character offsets into the text that was given, escapes and full-width forms included.

    A named tuple, because a text full of values makes many: it is made in a third of a frozen dataclass's time.
    """

    start: int
    end: int
    type: str
    """Lower case: `phone`, `id_card`, `email`, …; the placeholder is its upper case."""
    rule: str
    """Id of the rule that found it."""
