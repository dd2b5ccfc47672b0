"""The leftover guard: a settled period beside time words that no rule read is not settled."""

from collections.abc import Sequence
from dataclasses import replace

from processors.periods.found import Part
from processors.periods.literals import Token
from processors.periods.reading import Item, Sure

GUARD_CHARS = {True: 22, False: 8}
"""How near unread time words may stand to a period: characters of Latin text, of Chinese text."""
GUARDS = frozenset({
    "unit", "hunit", "mon", "wd", "weekend", "weekday", "business", "season", "rel", "ytd", "tonight",
    "lastnight", "samep", "samepu", "fest", "vfest", "Part", "fullunit", "decadeword", "ago", "hence",
    "thistime", "eod", "fiscal", "q", "h", "fy", "since", "noon", "midnight", "ttm", "century", "yearago",
    "rest", "half", "zhou", "tian", "geyue", "nian", "niandu", "yue", "ji", "bannian", "banyue", "several",
    "dayrel", "eveningrel", "morningrel", "yearrel", "lastunit", "last2unit", "last3unit", "thisunit",
    "nextunit", "next2unit", "next3unit", "halfyear", "halfmonth", "xun", "unitedge", "edgeday", "wdn", "sofar",
    "yilai", "zhiqian", "zhihou", "holiday", "workday", "weizhi", "asof",
})  # fmt: skip
"""Classes that are time words by themselves: left unread beside a period, they may change it."""
ADJACENT_GUARDS = frozenset({"edge", "qian", "hou", "nei", "lai", "laishort", "during", "thistime", "qi"})
"""Classes that change a period only right behind it."""


def guarded(item: Item, tokens: Sequence[Token], text: str, *, has_now: bool) -> Item:
    """The item, unread if time words that no rule read stand close to it, or if it needs a `now` that isn't there."""
    start, end = item.span
    if not has_now and item.confidence != Sure.LITERAL:
        return replace(item, kind="unread", start=None, end=None, why="no `now`", confidence=Sure.UNREAD)
    if item.kind not in ("date", "range", "datetime"):
        return item
    for token in tokens:
        if token.kind in ADJACENT_GUARDS and token.start == end:
            why = f"unread: {text[token.start : token.end]}"
            return replace(item, kind="unread", start=None, end=None, why=why, confidence=Sure.UNREAD)
        if token.kind in GUARDS or isinstance(token.held, Part):
            between = text[token.end : start] if token.end <= start else text[end : token.start]
            reach = GUARD_CHARS[between.isascii()]
            if -reach <= token.end - start <= 0 or 0 <= token.start - end <= reach:
                why = f"unread: {text[token.start : token.end]}"
                return replace(item, kind="unread", start=None, end=None, why=why, confidence=Sure.UNREAD)
    return item
