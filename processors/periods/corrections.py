"""Periods that the speaker takes back → left out: not today, tomorrow; Monday, no wait, Tuesday; 不是明天，是后天."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from processors.periods.found import Skip
from processors.periods.lexicon import cues
from processors.periods.literals import Token
from processors.periods.reading import Value

_BETWEEN = r"[的\s,，、;；.。!！:：—–-]*"
_TO_SECOND = r"(?:(?:but|it's|it is|rather|make it|for|on|in|at|to|the|而是|是|要|改成|改到|我要)\s*)*"
TURN_CHARS = 24
NEAR_CHARS = 12
"""How far before a period the word that denies it may begin."""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A denial right before a period; what stands between a slip and the right period."""
    table = cues()
    latin, chinese = (pattern.pattern for pattern in table["denied"])
    denials = rf"(?:(?<!if )(?<!why )(?<!or )(?<![a-z])(?:{latin})|(?<![是要]){chinese})"
    words = "|".join(pattern.pattern for pattern in table["corrected"])
    return (
        re.compile(rf"{denials}\s*(?:(?:for|on|in|at|the)\s+)*\Z"),
        re.compile(rf"{_BETWEEN}(?:(?:{words}){_BETWEEN})+{_TO_SECOND}"),
    )


@cache
def _turns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    before, after = (tuple(pattern.pattern for pattern in cues()[cue]) for cue in ("turned_before", "turned_after"))
    return (
        re.compile(rf"(?:{before[0]}|{before[1]})\s*(?:the\s+)?\Z"),
        re.compile(rf"\s*(?:{after[0]}|{after[1]})"),
    )


def is_turned(text: str, start: int, end: int) -> bool:
    """Whether the words right before or behind a period make another one of it: all but March, 上个月以外."""
    before, after = _turns()
    return bool(before.search(text, max(0, start - TURN_CHARS), start) or after.match(text, end))


def is_denied(text: str, start: int) -> bool:
    """Whether the words right before a period say that it is not meant."""
    return bool(_patterns()[0].search(text, max(0, start - NEAR_CHARS), start))


def without_slips(tokens: Sequence[Token], text: str) -> list[Token]:
    """The tokens, with each period that the next one corrects as time words that name none."""
    _, to_right = _patterns()
    found = list(tokens)
    places = [place for place, token in enumerate(found) if isinstance(token.held, Value)]
    for here, there in pairwise(places):
        one, other = found[here], found[there]
        if to_right.fullmatch(text, one.end, other.start):
            found[here] = one._replace(kind="Skip", held=Skip())
    if len(places) > 1:
        excepted = {token.end for token in found if token.kind == "except"}
        for place in places:
            token = found[place]
            if is_denied(text, token.start) and not any(0 <= token.start - end <= 1 for end in excepted):
                found[place] = token._replace(kind="Skip", held=Skip())
    return found if any(isinstance(token.held, Value) for token in found) else list(tokens)
