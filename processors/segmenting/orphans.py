"""Response text → what in it looks like markup that nothing knows, with its neighbourhood: material for the learner."""

import re
from collections.abc import Iterable, Iterator

from schemas.jsonvalue import Json

_NEIGHBOURHOOD_CHARS = 120
_TEXT_CHARS_MAX = 20_000
_ORPHANS_MAX = 8
MAY_HOLD = re.compile(r"<[|｜]|</?[A-Za-z][\w.\-]*[:|｜_]|\[/?[A-Z]{2}|⟦|◁|@@")
"""Found in every text that holds such a marker, in few others, and fast: each way begins with a rare character."""
_CODE_OR_MARKER = re.compile(
    r"(?P<code>(?P<fence>`{3,})[^\n]*\n(?:.|\n)*?(?:\n(?P=fence)|\Z)|`[^`\n]{1,400}`)"
    r"|<[|｜]/?[\w ▁.:\-]{1,60}[|｜]>|</?[A-Za-z][\w.\-]*[:|｜][\w.\-]{1,60}[^<>\n]{0,80}>|\[/?[A-Z]{2,}(?:_[A-Z]+)*\]"
    r"|(?<![\w<])</?[a-z]+_[a-z_]+>|⟦[^⟧\n]{1,60}⟧|◁[^▷\n]{1,60}▷|(?m:^)@@\w{1,40}"
)


def orphans_in(text: str) -> Iterator[tuple[int, str, dict[str, Json]]]:
    """Marker-like text outside of code: place, marker, neighbourhood; each marker once."""
    seen: set[str] = set()
    for found in _CODE_OR_MARKER.finditer(text):
        if found["code"] is None and found[0] not in seen:
            seen.add(found[0])
            before = text[max(0, found.start() - _NEIGHBOURHOOD_CHARS) : found.start()]
            after = text[found.end() : found.end() + _NEIGHBOURHOOD_CHARS]
            yield found.start(), found[0], {"before": before, "after": after}
        if len(seen) >= _ORPHANS_MAX:
            return


def call_like(text: str, names: Iterable[str]) -> tuple[str, dict[str, Json]] | None:
    """A registered tool that a plain response names, with the text and all such names."""
    found = [name for name in names if name in text]
    return (min(found), {"text": text[:_TEXT_CHARS_MAX], "tools": sorted(found)}) if found else None
