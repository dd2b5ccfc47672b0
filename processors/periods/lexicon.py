"""Lexicon files → which class a word belongs to, and patterns that find words; loaded once, on first use.

A class is what rules are written in: `last`, `unit`, `mon`. Each class has one private character, so that a text's
tokens form a string and a rule is a regular expression over that string.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from rapidfuzz.distance import OSA

FOLDER = Path(__file__).parent
FILES = ("lexicon_en.toml", "lexicon_zh.toml")
Tree: TypeAlias = dict[str, "Tree"]

LITERALS = ("x", "n", "y4", "y2", "ord", "q", "h", "dash", "slash", "comma", "stop", "open", "poss", "wdn", "wd", "fy")
"""Classes of what the tokenizer reads by itself: numbers, years, punctuation; x is any other text."""
VALUES = (
    "Year", "Half", "Quarter", "Month", "Week", "Day", "Span", "Moment", "Clock", "Edge", "Vague",
    "half0", "quarter0", "month0", "week0", "day0", "span0", "moment0", "vague0", "edge0", "Dom", "Part", "Skip",
)  # fmt: skip
"""Classes of what rules make; a 0 marks a period whose year isn't known."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a word is."""

    kind: str
    value: int | str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of both languages, and the patterns that find them."""

    words: Mapping[str, Entry]
    latin_phrases: str
    """Pattern of entries that one Latin word doesn't cover."""
    chinese: str
    """Pattern of all Chinese entries, the longest first."""
    symbols: Mapping[str, str]
    """Class → its character."""


@cache
def lexicon() -> Lexicon:
    """The shipped lexicon."""
    words: dict[str, Entry] = {}
    kinds = [*LITERALS, *VALUES]
    for name in FILES:
        table = tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
        kinds += table
        for word, entry in _entries(table):
            if word in words:
                raise ValueError(f"{name}: {word!r} stands in {words[word].kind} and in {entry.kind}")
            words[word] = entry
    latin = [word for word in words if word.isascii()]
    symbols = {kind: chr(0xE000 + place) for place, kind in enumerate(dict.fromkeys(kinds))}
    return Lexicon(
        words,
        trie_pattern(word for word in latin if not word.isalpha()),
        trie_pattern(word for word in words if not word.isascii()),
        symbols,
    )


SPELLED = (
    "january", "february", "september", "october", "november", "december", "tuesday", "wednesday", "thursday",
    "saturday", "yesterday", "tomorrow", "quarter", "quarters", "weekend",
)  # fmt: skip
"""Long time words, of which no everyday word is a slip of the pen away but those in NOT_SLIPS."""
NOT_SLIPS = frozenset({"quartet", "quartets", "quartern", "weekends", "weekender", "quartered"})
_INITIALS = frozenset(word[0] for word in SPELLED)
SLIP_CHARS = range(6, 12)
"""Lengths of words that may be a slip; a word of eight letters or more may have two."""


@lru_cache(maxsize=4096)
def misspelt(word: str) -> Entry | None:
    """The time word that a word with a slip of the pen is meant for: yesturday, Feburary."""
    if len(word) not in SLIP_CHARS or word[0] not in _INITIALS or word in NOT_SLIPS:
        return None
    for meant in SPELLED:
        slips = 2 if min(len(word), len(meant)) >= 8 else 1
        if meant[0] == word[0] and OSA.distance(word, meant, score_cutoff=slips) <= slips:
            return lexicon().words[meant]
    return None


def _entries(table: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, Entry]]:
    for kind, values in table.items():
        for value, listed in values.items():
            for word, meaning in _listed(listed, value):
                yield word, Entry(kind, int(meaning) if re.fullmatch(r"-?\d+", meaning) else meaning)


def _listed(listed: str, value: str) -> Iterable[tuple[str, str]]:
    """`a|b`, or `a=start b=end` where one class has two values for a word."""
    if "=" in listed:
        for pair in listed.split(" "):
            word, _, meaning = pair.partition("=")
            yield word, f"{value}:{meaning}"
        return
    for word in listed.replace("\n", "").split("|"):
        yield word, value


def trie_pattern(words: Iterable[str]) -> str:
    """A regular expression for the longest of the words, with shared beginnings written once."""
    tree: Tree = {}
    for word in words:
        branch = tree
        for letter in word:
            branch = branch.setdefault(letter, {})
        branch[""] = {}
    return _branches(tree)


def _branches(tree: Tree) -> str:
    longer = [re.escape(letter) + _branches(below) for letter, below in tree.items() if letter]
    if not longer:
        return ""
    return f"(?:{'|'.join(longer)})" + ("?" if "" in tree else "")


@cache
def cues() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """What the rest of a sentence says: cue → its pattern for Latin words and for Chinese text."""
    table = tomllib.loads((FOLDER / "cues.toml").read_text(encoding="utf-8"))
    return {
        cue: (
            re.compile(rf"(?<![a-z0-9])(?:{_either(listed['en'])})(?![a-z0-9])"),
            re.compile(_either(listed["zh"])),
        )
        for cue, listed in table.items()
    }


def _either(listed: str) -> str:
    return trie_pattern(listed.split("|"))


def has_cue(cue: str, text: str) -> bool:
    """Whether a text, in lower case, holds one of the cue's words."""
    latin, chinese = cues()[cue]
    return bool(latin.search(text) or (not text.isascii() and chinese.search(text)))
