"""Hits that overlap or touch → spans apart, and the text as it will stand around them."""

from collections.abc import Iterable

from processors.pii.matching import PLACEHOLDER_END, Hit
from processors.pii.span import PiiSpan

CJK_ADDRESS_CHARS = 10
"""The Chinese part of an address that may follow a value, and its `@`."""
_JOINING = frozenset(".'")
_TOUCHING = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@+-&#$%^*~")


def settled(hits: list[Hit]) -> list[Hit]:
    """Hits without overlaps: of two that claim a place the lower rank keeps it, then the longer, and covers both.

    What a hit of a rule that is `exact` leaves to its right is no value: behind a URL's credentials stands the host.
    """
    if len(hits) < 2:
        return hits
    hits.sort(key=lambda hit: (hit[0], -hit[1]))
    kept: list[Hit] = []
    for hit in hits:
        if not kept or hit[0] >= kept[-1][1]:
            kept.append(hit)
        else:
            start, end, rule = kept.pop()
            if not rule.is_exact:
                end = max(hit[1], end)
            kept.append((start, end, rule if rule.rank <= hit[2].rank else hit[2]))
    return kept


def masked(text: str, hits: list[Hit]) -> str:
    """The text with something like a placeholder, of the same length, for each hit."""
    parts: list[str] = []
    seen = 0
    for start, end, _ in hits:
        chars = end - start
        parts += (
            text[seen:start],
            "[",
            (PLACEHOLDER_END if chars > len(PLACEHOLDER_END) else "]").rjust(chars - 1, "X"),
        )
        seen = end
    parts.append(text[seen:])
    return "".join(parts)


def touches(text: str, hit: Hit) -> bool:
    """Whether a character stands directly before or after a value that belongs to values, with no quotation between."""
    start, end, rule = hit
    after = text[end : end + 1]
    if after in _TOUCHING or (start and text[start - 1] in _TOUCHING):
        return not rule.is_exact
    if after in _JOINING:
        return text[end + 1 : end + 2].isalnum()
    return after >= "\u3040" and "@" in text[end : end + CJK_ADDRESS_CHARS]


def merged(spans: list[PiiSpan], more: Iterable[PiiSpan]) -> list[PiiSpan]:
    """Both in order; where two overlap, the one that begins first grows over the other."""
    kept: list[PiiSpan] = []
    for span in sorted([*spans, *more], key=lambda span: span.start):
        if kept and span.start < kept[-1].end:
            kept[-1] = kept[-1]._replace(end=max(kept[-1].end, span.end))
        else:
            kept.append(span)
    return kept
