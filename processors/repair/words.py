"""words.toml and synonyms.toml → the frozen vocabulary of the repair: booleans, numbers, units, months, synonyms."""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

from schemas.jsonvalue import JsonObject

_NOT_WORD = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_SAID_UNIT = re.compile(r"\b(?:in|of|unit:?|as) ([^\W\d_]+|[€$£%])|\(([^\W\d_]+|[€$£%])\)|(?:number of) ([^\W\d_]+)")

SHORT_WORDS = 3
"""A description of at most so many words that holds one unit is about that unit."""


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """A spelling without case, width, blanks and punctuation: `Include-Hourly` → `includehourly`."""
    return _NOT_WORD.sub("", unicodedata.normalize("NFKC", text[:500]).casefold())


@lru_cache(maxsize=4096)
def tokens(name: str) -> tuple[str, ...]:
    """The words of an identifier, folded: `maxResults2` → (`max`, `results2`)."""
    return tuple(word.casefold() for word in _CAMEL.split(name[:500]) if word)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of measure: value in the kind's base unit = number × size + shift."""

    id: str
    kind: str
    size: Decimal
    shift: Decimal


@dataclass(frozen=True, slots=True)
class Words:
    """All word tables, keyed by folded spelling where the spelling may vary."""

    booleans: dict[str, bool]
    numbers: dict[str, int]
    magnitudes: dict[str, int]
    units: dict[str, tuple[Unit, ...]]
    months: dict[str, int]
    asides: frozenset[str]
    wrappers: frozenset[str]
    wrapper_names: frozenset[str]
    wrapper_calls: frozenset[str]
    value_groups: dict[str, frozenset[int]]
    name_groups: dict[str, frozenset[int]]
    not_in_names: frozenset[str]
    opposites: frozenset[frozenset[str]]
    fillers: frozenset[str]

    def unit_of(self, name: str, description: str) -> str:
        """Id of the unit that a parameter's name or description says its numbers are in; empty: none."""
        parts = tokens(name)
        for place, word in enumerate(parts):
            named = self._named(word)
            if len(named) == 1 and (len(word) > 2 or place == len(parts) - 1 > 0):
                return named[0].id
        short = description.split()
        if len(short) <= SHORT_WORDS:
            found = {unit for word in short for unit in self._named(word.strip(".,;()"))}
            if len(found) == 1:
                return found.pop().id
        for groups in _SAID_UNIT.findall(description):
            word = next(filter(None, groups))
            said = self._named(word)
            if len(said) == 1:
                return said[0].id
        return ""

    def _named(self, word: str) -> tuple[Unit, ...]:
        """The units that a word of a name or description can mean."""
        word = word.casefold()
        return self.units.get(word, ()) if word not in self.not_in_names else ()

    def unit(self, word: str, kind: str) -> Unit | None:
        """The unit a word means among those of a kind; without a kind, only if it means one."""
        found = self.units.get(word.casefold().rstrip("."), ())
        if kind:
            found = tuple(unit for unit in found if unit.kind == kind) or found
        return found[0] if len(found) == 1 else None


def _folded(table: dict[str, list[str]]) -> dict[str, int]:
    return {fold(word): int(value) for value, words in table.items() for word in words}


def _units(entries: list[JsonObject]) -> dict[str, tuple[Unit, ...]]:
    found: dict[str, tuple[Unit, ...]] = {}
    for entry in entries:
        unit = Unit(entry["words"][0], entry["kind"], Decimal(entry["size"]), Decimal(entry.get("shift", "0")))
        for word in entry["words"]:
            found[word.casefold()] = (*found.get(word.casefold(), ()), unit)
    return found


def _groups(entries: list[list[str]]) -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for number, words in enumerate(entries):
        for word in words:
            key = fold(word) or word
            found[key] = found.get(key, frozenset()) | {number}
    return found


def _read() -> Words:
    here = Path(__file__).parent
    words = tomllib.loads((here / "words.toml").read_text(encoding="utf-8"))
    synonyms = tomllib.loads((here / "synonyms.toml").read_text(encoding="utf-8"))
    booleans = words["booleans"]
    return Words(
        booleans={fold(word): value for value in (True, False) for word in booleans["true" if value else "false"]},
        numbers=_folded(words["numbers"]),
        magnitudes={word: int(value) for value, said in words["magnitudes"].items() for word in said},
        units=_units(words["units"]),
        months=_folded(words["months"]),
        asides=frozenset(map(fold, words["asides"]["names"])),
        wrappers=frozenset(map(fold, words["wrappers"]["arguments"])),
        wrapper_names=frozenset(map(fold, words["wrappers"]["names"])),
        wrapper_calls=frozenset(map(fold, words["wrappers"]["calls"])),
        value_groups=_groups(synonyms["values"]["groups"]),
        name_groups=_groups(synonyms["names"]["groups"]),
        not_in_names=frozenset(words["not_in_names"]["words"]),
        opposites=frozenset(map(frozenset, words["opposites"]["pairs"])),
        fillers=frozenset(words["fillers"]["words"]),
    )


WORDS = _read()
