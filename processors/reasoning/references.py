"""Text → the values and names in it, by which one part of a stream is known to rest on another.

A value is a number of at least two digits with its unit, an identifier (`order_id`, `getWeather`, `a.b`), what stands
in quotes, or a capitalised word inside a sentence. Chinese has no capitals, so pairs of characters that are rare in
reasoning at large stand in for names; they count only two at a time.
"""

import re
from collections.abc import Iterable, Mapping

from processors.reasoning.gaps import rarity, words_of
from schemas.jsonvalue import Json

READ_CHARS_MAX = 20_000
"""Characters of one text that are read for values."""
VALUES_MAX = 500
"""Most values of one text."""
PAIR_RARITY_MIN = 4.0
"""Weight from which a Chinese pair is rare enough to name something (see gaps.rarity)."""

_VALUE = re.compile(
    r"(?P<quoted>`[^`\n]{2,60}`|\"[^\"\n]{2,60}\"|“[^”\n]{2,60}”|「[^」\n]{2,60}」)"
    r"|(?P<number>(?<![\w.])\d(?:[\d,]{0,20}\d)?(?:\.\d{1,15})?(?:-\d{1,2}-\d{1,2})?)"
    r"|(?P<name>(?<![\w.])[A-Za-z]{1,30}(?:[_.][A-Za-z0-9]{1,30}){1,4}|(?<!\w)[a-z]{1,20}[A-Z][a-z]\w{0,30})"
    r"|(?<=[a-z,;:，] )(?P<proper>[A-Z][a-z]{2,20})"
)
_CJK = re.compile(r"[\u3400-\u9fff]{2,200}")
_BACK = re.compile(
    r"\b(?:as (?:planned|said|noted|decided|computed|found)|earlier|above|previous(?:ly)?|"
    r"the plan|last step|from before|so far)\b|刚才|刚刚|前面|上面|之前|上一步|如前|按计划|先前",
    re.IGNORECASE,
)


def values_of(text: str) -> dict[str, None]:
    """Values of a text in order, each once, lower case."""
    found: dict[str, None] = {}
    for match in _VALUE.finditer(text[:READ_CHARS_MAX]):
        value = match[0].strip('`"“”「」').lower()
        if match.lastgroup == "number":
            value = value.replace(",", "")
            if len(value) < 2:
                continue
        found.setdefault(value)
        if len(found) == VALUES_MAX:
            break
    return found


def pairs_of(text: str) -> dict[str, None]:
    """Rare pairs of Chinese characters in order, each once."""
    weights = rarity()
    found: dict[str, None] = {}
    for run in _CJK.findall(text[:READ_CHARS_MAX]):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        for pair, bucket in zip(pairs, words_of(run), strict=True):
            if weights[bucket] >= PAIR_RARITY_MIN and len(found) < VALUES_MAX:
                found.setdefault(pair)
    return found


def leaves_of(value: Json) -> Iterable[str]:
    """The scalars of a JSON value as text, at most `VALUES_MAX`, without recursion."""
    waiting: list[Json] = [value]
    given = 0
    while waiting and given < VALUES_MAX:
        item = waiting.pop()
        if isinstance(item, Mapping):
            waiting += list(item.values())[:VALUES_MAX]
        elif isinstance(item, list | tuple):
            waiting += list(item)[:VALUES_MAX]
        elif item is not None and not isinstance(item, bool):
            given += 1
            yield str(item)[:READ_CHARS_MAX]


def looks_back(text: str) -> str | None:
    """The words with which a text refers to what came before, if any."""
    found = _BACK.search(text[:READ_CHARS_MAX])
    return found[0] if found else None


class Introduced:
    """Which part of a stream last said each value, in order of writing."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._pairs: dict[str, str] = {}

    def add(self, source: str, text: str) -> None:
        """A part of the stream says what stands in a text."""
        self._values |= dict.fromkeys(values_of(text), source)
        self._pairs |= dict.fromkeys(pairs_of(text), source)

    def add_value(self, source: str, value: str) -> None:
        """A part of the stream says a value, whatever its form."""
        if len(value) >= 2:
            self._values[value.lower()] = source
        self.add(source, value)

    def shared(self, text: str) -> dict[str, list[str]]:
        """Source → the values of a text that it said last."""
        found: dict[str, list[str]] = {}
        for value in values_of(text):
            if value in self._values:
                found.setdefault(self._values[value], []).append(value)
        pairs: dict[str, list[str]] = {}
        for pair in pairs_of(text):
            if pair in self._pairs:
                pairs.setdefault(self._pairs[pair], []).append(pair)
        for source, some in pairs.items():
            if len(some) > 1:
                found.setdefault(source, []).extend(some)
        return found

    def has(self, value: str) -> bool:
        """Whether any part said a value."""
        return value in self._values
