"""The leftover guard: a settled period beside time words that no rule read is not settled."""

import re
from collections.abc import Sequence
from dataclasses import replace

from processors.periods.corrections import is_denied, is_turned
from processors.periods.found import Part
from processors.periods.literals import Token
from processors.periods.reading import Item, Sure

GUARD_CHARS = {True: 22, False: 8}
"""How near unread time words may stand to a period: characters of Latin text, of Chinese text."""
GUARDS = frozenset({
    "solarterm",
    "unit", "hunit", "mon", "wd", "weekend", "weekday", "season", "rel", "ytd", "tonight",
    "lastnight", "samep", "samepu", "fest", "vfest", "Part", "fullunit", "decadeword", "ago", "hence",
    "thistime", "eod", "fiscal", "q", "h", "fy", "since", "noon", "midnight", "ttm", "century", "yearago",
    "rest", "half", "zhou", "tian", "geyue", "nian", "niandu", "yue", "ji", "bannian", "banyue", "several",
    "dayrel", "eveningrel", "morningrel", "yearrel", "lastunit", "last2unit", "last3unit", "thisunit",
    "nextunit", "next2unit", "next3unit", "halfyear", "halfmonth", "xun", "unitedge", "edgeday", "wdn", "sofar",
    "yilai", "zhiqian", "zhihou", "workday", "weizhi", "asof",
})  # fmt: skip
"""Classes that are time words by themselves: left unread beside a period, they may change it."""
UNITS = frozenset({"unit", "hunit"})
NO_TIME = frozenset({"x", "stop", "comma"})
JOINTS = frozenset({"dash", "to", "till", "until", "slash"})
WEEKDAY_LETTERS = frozenset("一二三四五六日")
ENDS = frozenset({"n", "ord", "y4", "y2", "mon", "wmon", "q", "h"})
"""What stands at a joint of a span that was read by half."""
OPENERS = frozenset({"from", "between", "starting"})
FROM_CHARS = 40
"""How far before an open end a `from` may stand that belongs to it."""
TOUCHING = frozenset({"past", "wmon", "about"})
"""Classes that change a period right before it."""
EXCEPT_GAP = re.compile(r"\s*(?:(?:for|in|on|the|that|of|from)\s+)*")
"""What may stand between an exception and its period."""
DAYPART_GAPS = frozenset({"", "of", "at", "in the", "in", "的"})
"""What may stand between a period and a part of its days."""
ADJACENT_GUARDS = frozenset(
    {"edge", "qian", "hou", "nei", "lai", "laishort", "during", "thistime", "qi", "inclusive", "holiday"}
)
"""Classes that change a period only right behind it."""


def guarded(item: Item, tokens: Sequence[Token], text: str) -> Item:
    """The item, unread if time words that no rule read stand close to it."""
    start, end = item.span
    if item.kind not in ("date", "range", "datetime"):
        return item
    if _is_cut_span(item, tokens):
        return _unread(item, "a span's other end")
    if item.grain == "day" and WEEKDAY_LETTERS.issuperset(text[end - 1 : end + 1]) and end < len(text):
        return _unread(item, text[end : end + 1])
    if is_denied(text, start):
        return _unread(item, "a denial")
    if is_turned(text, start, end):
        return _unread(item, "what turns it into another")
    for place, token in enumerate(tokens):
        if token.kind in ADJACENT_GUARDS and (token.start == end or text[end : token.start] == "的"):
            return _unread(item, text[token.start : token.end])
        gap = text[token.end : start] if token.end <= start else text[end : token.start] if token.start >= end else None
        if token.kind == "daypart" and gap is not None and gap.strip() in DAYPART_GAPS:
            return _unread(item, text[token.start : token.end])
        if token.kind == "except" and EXCEPT_GAP.fullmatch(text, token.end, max(token.end, start)):
            return _unread(item, text[token.start : token.end])
        is_touching = token.kind in TOUCHING or (token.kind in ("pre", "post") and item.grain == "year")
        if is_touching and not text[token.end : start].strip(" '") and token.end <= start:
            return _unread(item, text[token.start : token.end])
        if token.kind == "zone" and "T" in f"{item.start}{item.end}" and token.start - end in (0, 1):
            return _unread(item, text[token.start : token.end])
        if token.kind == "approx" and not text[token.end : start].strip() and token.end <= start:
            return _unread(item, text[token.start : token.end])
        if token.kind == "orso" and token.start - end in (0, 1):
            return _unread(item, text[token.start : token.end])
        if (token.kind in GUARDS and not _is_named(tokens, place)) or isinstance(token.held, Part):
            between = text[token.end : start] if token.end <= start else text[end : token.start]
            reach = GUARD_CHARS[between.isascii()]
            if -reach <= token.end - start <= 0 or 0 <= token.start - end <= reach:
                return _unread(item, text[token.start : token.end])
    return item


def _is_named(tokens: Sequence[Token], place: int) -> bool:
    """Whether a unit is the end of a name, with no time word beside it: the pay day, a busy month."""
    if tokens[place].kind not in UNITS or place == 0 or tokens[place - 1].kind != "x":
        return False
    return place + 1 == len(tokens) or tokens[place + 1].kind in NO_TIME


def _unread(item: Item, words: str) -> Item:
    return replace(item, kind="unread", start=None, end=None, why=f"unread: {words}", confidence=Sure.UNREAD)


def _is_cut_span(item: Item, tokens: Sequence[Token]) -> bool:
    """Whether a span's one end was read and the other wasn't: 23 – [27 March], from … [until yesterday]."""
    before = [token for token in tokens if token.end <= item.span[0]][-2:]
    after = [token for token in tokens if token.start >= item.span[1]][:2]
    for joint, number in ((before[-1:], before[:-1]), (after[:1], after[1:])):
        if joint and number and joint[0].kind in JOINTS and number[0].kind in ENDS:
            return True
    if (
        before[-1:]
        and before[-1].kind == "of"
        and before[:-1]
        and before[0].kind in ("ord", "second", "last", "final", "half")
    ):
        return True
    if item.start is not None:
        return False
    return any(token.kind in OPENERS and 0 <= item.span[0] - token.end <= FROM_CHARS for token in tokens)
