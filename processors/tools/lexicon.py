"""The words of tool names → their meanings, from words.toml; read once.

A meaning is the key of an entry. Two words are taken as the same if they have the same stem or share a meaning. Words
of a language without blanks, and names written without separators, are cut into known words.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from schemas.jsonvalue import JsonObject

CUT_CHARS_MAX = 64
"""Longest run of letters that is cut into known words; longer ones are no names."""
PIECE_CHARS_MAX = 16
_NOUN_ENDINGS = ("ation", "ion", "er", "or", "ment", "al")
_SOFT = frozenset(("do:get", "do:search", "do:list"))
_LISTING = frozenset(("do:get", "do:list"))


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """A word without its English inflection: plural, -ing, -ed, final e and y; other scripts as they are."""
    if len(word) <= 3 or not word.isascii():
        return word
    if word.endswith("ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3:
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "ls" else rest
            break
    if len(word) > 3 and word[-1] == "e":
        return word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" else word


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known about the words of tool names."""

    meanings: dict[str, frozenset[str]]
    """Stem → its meanings, `do:` or `of:` and the stem of the entry's key."""
    phrases: dict[str, frozenset[str]]
    """Whole name, words joined by `_` → the tools of many harnesses that it may be."""
    known: frozenset[str]
    """All words."""
    vocabulary: tuple[str, ...]
    """The same, sorted: a search for the nearest one must not depend on the order of a set."""
    fillers: frozenset[str]
    connectives: frozenset[str]
    prefixes: tuple[str, ...]
    opposites: dict[str, frozenset[str]]
    """Stem → stems that say the opposite."""

    def means(self, word: str) -> frozenset[str]:
        """The meanings of a word; its own stem if nothing is known about it."""
        found = stem(word)
        return self.meanings.get(found) or self.meanings.get(self._root(found)) or frozenset((f"={found}",))

    def _root(self, found: str) -> str:
        """The verb of a noun made from it (`planner`, `cancellation`), if it is known."""
        rests = (found.removesuffix(ending) for ending in _NOUN_ENDINGS if found.endswith(ending))
        roots = (
            root for rest in rests if len(rest) >= 3 for root in (rest, rest[:-1] if rest[-1] == rest[-2] else rest)
        )
        return next((root for root in roots if root in self.meanings), found)

    def is_soft(self, word: str) -> bool:
        """Whether a verb only says that something is looked at, which names often leave out."""
        return not self.means(word).isdisjoint(_SOFT)

    def is_listing(self, word: str) -> bool:
        """Whether a verb gets things or lists them: of several things that is the same."""
        return not self.means(word).isdisjoint(_LISTING)

    def is_only_verb(self, word: str) -> bool:
        """Whether a word can't be the thing that something is done with."""
        return all(meaning.startswith("do:") for meaning in self.means(word))

    def is_verb(self, word: str) -> bool:
        """Whether a word may say what is done; one that may also say with what counts too."""
        return any(meaning.startswith("do:") for meaning in self.means(word))

    def nearness(self, one: str, other: str) -> int:
        """How far one word may stand for another.

        3: the same word; 2: one names a meaning of the other, or translates it; 1: they share a meaning; 0: neither.
        """
        stems = stem(one), stem(other)
        if stems[0] == stems[1]:
            return 3
        if self.is_opposite(one, other):
            return 0
        shared = self.means(one) & self.means(other)
        is_named = one.isascii() != other.isascii() or any(meaning[3:] in stems for meaning in shared)
        return (2 if is_named else 1) if shared else 0

    def is_opposite(self, one: str, other: str) -> bool:
        """Whether one word takes back what the other does."""
        return stem(other) in self.opposites.get(stem(one), ())

    def cut(self, run: str, also: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """A run of letters as known words, as few as possible; the run itself if they don't cover it."""
        if len(run) > CUT_CHARS_MAX or run in self.known or run in also:
            return (run,)
        best: list[tuple[str, ...] | None] = [()] + [None] * len(run)
        for end in range(1, len(run) + 1):
            for start in range(max(0, end - PIECE_CHARS_MAX), end):
                before, piece = best[start], run[start:end]
                if before is None or not self._is_piece(piece, also):
                    continue
                if best[end] is None or len(before) + 1 < len(best[end] or ()):
                    best[end] = (*before, piece)
        return best[-1] or ((run,) if run.isascii() else self._greedy(run))

    def _greedy(self, run: str) -> tuple[str, ...]:
        """Known words where there are some, longest first, and what is between them."""
        pieces = [""]
        place = 0
        while place < len(run):
            ends = range(min(len(run), place + PIECE_CHARS_MAX), place + 1, -1)
            end = next((end for end in ends if run[place:end] in self.known), 0)
            pieces = [*pieces, run[place:end], ""] if end else [*pieces[:-1], pieces[-1] + run[place]]
            place = end or place + 1
        return tuple(piece for piece in pieces if piece)

    def found_in(self, run: str) -> tuple[str, ...]:
        """All known words in a run of letters, those within others too."""
        starts = range(len(run))
        pieces = (run[start : start + length] for start in starts for length in range(1, PIECE_CHARS_MAX + 1))
        return tuple(dict.fromkeys(piece for piece in pieces if piece in self.known))

    def _is_piece(self, piece: str, also: frozenset[str]) -> bool:
        if not piece.isascii():
            return piece in self.known or piece in also
        return len(piece) >= 2 and (piece in self.known or piece in also or stem(piece) in self.meanings)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The shipped lexicon."""
    data = tomllib.loads(files("processors.tools").joinpath("words.toml").read_text(encoding="utf-8"))
    meanings = _reverse([*_keyed(data["verbs"], "do"), *_keyed(data["nouns"], "of")])
    phrases = _reverse(((word, key) for key, value in data["phrases"].items() for word in value.split()), stemmed=False)
    opposites: dict[str, set[str]] = {}
    for pair in data["names"]["opposites"].split():
        one, other = map(stem, pair.split("/"))
        opposites.setdefault(one, set()).add(other)
        opposites.setdefault(other, set()).add(one)
    words = {word for entry in (data["verbs"], data["nouns"]) for key in entry for word in (key, *entry[key].split())}
    words |= set(data["names"]["vocabulary"].split())
    return Lexicon(
        meanings=meanings,
        phrases=phrases,
        known=frozenset(words),
        vocabulary=tuple(sorted(words)),
        fillers=frozenset(data["names"]["fillers"].split()),
        connectives=frozenset(data["names"]["connectives"].split()),
        prefixes=tuple(data["names"]["prefixes"].split()),
        opposites={word: frozenset(others) for word, others in opposites.items()},
    )


def examples() -> list[JsonObject]:
    """The lexicon's own examples: tools, names that match one of them, names that match none."""
    data = tomllib.loads(files("processors.tools").joinpath("words.toml").read_text(encoding="utf-8"))
    found: list[JsonObject] = data["examples"]
    return found


def _keyed(table: dict[str, str], kind: str) -> Iterable[tuple[str, str]]:
    for key, value in table.items():
        for word in (key, *value.split()):
            yield word, f"{kind}:{stem(key)}"


def _reverse(pairs: Iterable[tuple[str, str]], *, stemmed: bool = True) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word, meaning in pairs:
        found.setdefault(stem(word) if stemmed else word, set()).add(meaning)
    return {word: frozenset(meanings) for word, meanings in found.items()}
