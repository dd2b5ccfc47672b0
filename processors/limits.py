"""Every limit of the processors, with its unit and why this number."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds within which a processor works; running into one is a Failure, never an exception."""

    stream_chars_max: int = 128_000_000
    """Longest stream read: beyond the 100 MB that a user may send, so that only a runaway model meets it."""
    held_chars_max: int = 16_000_000
    """Longest single segment held in memory before it is closed with `held_too_long`."""
    calls_max: int = 1_000
    """Most tool calls of one stream: 60 times the longest agent step seen."""
    nesting_max: int = 200
    """Deepest JSON or literal nesting read: recorded calls stay under 20."""
    user_chars_max: int = 20_000
    """Longest text of a person in which periods are read: ten pages; a longer one is a document, not a request."""
    repair_tokens_max: int = 100_000
    """Most pairs, items and places looked at in one damaged argument text: 1 MB of the worst text stays under 1 s."""
    excerpt_chars_max: int = 500
    """Longest excerpt in a failure."""


LIMITS = Limits()

ENDING_CHARS = 40
"""Of a call without its closing marker: the end of its text, as an excerpt."""
