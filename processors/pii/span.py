"""PiiSpan: where personal data or a secret stands in a text, of which type, found by which rule."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PiiSpan:
    """Half-open character offsets into the text that was given, escapes and full-width forms included."""

    start: int
    end: int
    type: str
    """Lower case: `phone`, `id_card`, `email`, …; the placeholder is its upper case."""
    rule: str
    """Id of the rule that found it."""
