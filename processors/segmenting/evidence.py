"""Marks that were seen → which format the stream is in, and how sure that is."""

from collections import Counter

from processors.segmenting.format import Format
from processors.segmenting.marks import Mark, MarkKind

_WEIGHTS = {
    MarkKind.CALL: 8,
    MarkKind.EMPTY_SECTION: 4,
    MarkKind.REASONING_OPEN: 4,
    MarkKind.REASONING_CLOSE: 3,
    MarkKind.CONTENT_OPEN: 4,
    MarkKind.CONTENT_CLOSE: 2,
    MarkKind.LEAK: 1,
    MarkKind.END: 1,
}


class Evidence:
    """Collects the marks of one stream."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: dict[Mark, None] = {}

    def add(self, mark: Mark) -> None:
        """A mark was read as markup."""
        self._seen[mark] = None

    def verdict(self, formats: dict[str, Format], hint: str | None) -> tuple[str | None, float]:
        """The format that explains most and promises least besides; its share among equals.

        A hint decides between equals, and is believed alone when nothing was seen.
        """
        if not self._seen:
            return (hint, 0.5) if hint in formats else (None, 0.0)
        scores: Counter[str] = Counter()
        for mark in self._seen:
            for name in mark.formats:
                scores[name] += _WEIGHTS[mark.kind]
        if not scores:
            return None, 0.0
        best = max(scores.values())
        equal = sorted(name for name, score in scores.items() if score == best)
        if hint in equal:
            return hint, 1.0
        least = min(_promises(formats[name]) for name in equal)
        simplest = [name for name in equal if _promises(formats[name]) == least]
        return simplest[0], round(1 / len(equal), 4)


def _promises(entry: Format) -> int:
    return (entry.reasoning is not None) + (entry.content is not None) + len(entry.calls)
