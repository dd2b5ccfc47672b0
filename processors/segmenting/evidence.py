"""Marks that were seen → which format the stream is in, and how sure that is."""

from collections import Counter
from collections.abc import Collection

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
    MarkKind.RESULT: 1,
    MarkKind.CALL_CLOSE: 1,
}


_VERDICTS_MAX = 10_000
"""Remembered verdicts: far more than formats combine to in practice."""


class Judge:
    """Tells a stream's format from the marks that were seen; shared by all streams, remembers its verdicts."""

    def __init__(self, formats: dict[str, Format]) -> None:
        self._formats = formats
        self._verdicts: dict[tuple[frozenset[Mark], frozenset[str]], tuple[str | None, float]] = {}

    def verdict(self, seen: Collection[Mark], hints: frozenset[str]) -> tuple[str | None, float]:
        """The format that explains most and promises least besides, then the most used; its share among equals.

        Hints decide between equals, and are believed alone, by half, when nothing was seen.
        """
        if not seen:
            return (min(hints), round(0.5 / len(hints), 4)) if hints else (None, 0.0)
        key = (frozenset(seen), hints)
        verdict = self._verdicts.get(key)
        if verdict is None:
            if len(self._verdicts) >= _VERDICTS_MAX:
                self._verdicts.clear()
            verdict = self._verdicts[key] = self._judge(seen, hints)
        return verdict

    def _judge(self, seen: Collection[Mark], hints: frozenset[str]) -> tuple[str | None, float]:
        scores: Counter[str] = Counter()
        for mark in seen:
            for name in mark.formats:
                scores[name] += _WEIGHTS[mark.kind]
        if not scores:
            return None, 0.0
        best = max(scores.values())
        equal = sorted(name for name, score in scores.items() if score == best)
        equal = [name for name in equal if name in hints] or equal
        simplest = min(equal, key=lambda name: (_promises(self._formats[name]), -self._formats[name].rank, name))
        return simplest, round(1 / len(equal), 4)


def _promises(entry: Format) -> int:
    return (entry.reasoning is not None) + (entry.content is not None) + len(entry.calls)
