"""Formats in use → their literals; and whether the literals of a new entry would stand in for one of them.

A stream's text is read by the marker that matches, so an entry whose opener is, holds, or is a part of another's marker
would take over text that belongs to it. Such an entry is refused, whatever it proves.
"""

import re
from collections.abc import Iterable

from processors.learning.induce import Induced
from processors.learning.literals import strength
from processors.segmenting.format import Format

CHARS_MIN = 3
"""Shorter literals, such as a bracket, stand in many formats and in prose; the proof's other conditions bar those."""
_PLACEHOLDER = re.compile(r"\$(?:[a-z]+|\([^)]*\))")


def literals_of(formats: Iterable[Format]) -> frozenset[str]:
    """The literal parts of all opening and closing markers."""
    templates = [template for entry in formats for markers in _markers(entry) for template in markers]
    found = {part.strip() for template in templates for part in _PLACEHOLDER.split(template)}
    return frozenset(literal for literal in found if _is_telling(literal))


def shadowed(induced: Induced, known: frozenset[str]) -> str:
    """A known literal that an opener of the entry equals, holds or is part of; empty if there is none.

    Reasoning openers may be shared: which text is reasoning is the same for both, and the proof looks at the rest.
    """
    shape, frame = induced.shape, induced.frame
    openers = [shape.open, shape.section_open, frame.open]
    telling = [opener.strip() for opener in openers if _is_telling(opener.strip())]
    for opener in telling:
        found = [literal for literal in known if opener in literal or _holds(opener, literal)]
        if found:
            return min(found)
    return ""


def _holds(opener: str, literal: str) -> bool:
    """Whether the literal stands in the opener, and not as the beginning of a longer word."""
    at = opener.find(literal)
    behind = opener[at + len(literal) :][:1]
    return at >= 0 and not (literal[-1].isalnum() and (behind.isalnum() or behind == "_"))


def _is_telling(literal: str) -> bool:
    return len(literal) >= CHARS_MIN and strength(literal) > 0


def _markers(entry: Format) -> Iterable[tuple[str, ...]]:
    for call in entry.calls:
        yield from (call.section_open, call.section_close, call.open, call.close)
    if entry.reasoning is not None:
        yield from (entry.reasoning.open, entry.reasoning.close)
    if entry.content is not None:
        yield from (entry.content.open, entry.content.close)
