"""A tool name that is not registered → the registered tool it means, or none, and up to three candidates.

Three readings may find the tool, in this order: the name is the same but for case, separators, prefixes and fillers; it
is mistyped; it says the same in other words of the shipped lexicon. Each must fit exactly one tool. Whatever is merely
near in meaning, names and descriptions taken together, is a candidate: shown to who called, never executed.

The index has a list of tools for each feature of a name (its folded form, its trigrams, its words' meanings), so a call
touches the tools that share rare features with it and no others.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from math import log

from rapidfuzz import fuzz

from processors.tools.lexicon import lexicon
from processors.tools.likeness import cover, is_mistyped
from processors.tools.names import Name, fold, read_name, read_text
from schemas.jsonvalue import Json, JsonObject

EDIT_SCORE_MIN = 80.0
"""Least likeness, 0 to 100, at which a name is taken as mistyped; measured on wrong names against 10 to 200 tools."""
EDIT_MARGIN_MIN = 2.0
"""How much nearer the tool must be than the next one."""
CANDIDATES_MAX = 3
POSTINGS_MAX = 3_000
"""Entries of feature lists that one call looks at, rarest features first: bounds its cost in a large registry."""
RANKED_MAX = 40
"""Tools that are compared in full."""
DESCRIPTION_WORDS_MAX = 24

SAME, SAME_BUT_FILLERS, OTHER_WORDS = 0.99, 0.97, 0.86
"""How far each reading is trusted: lower than measured, because the measured names are of few authors."""
MISTYPED = 0.85, 0.95
"""The same for a mistyped name, at EDIT_SCORE_MIN and at 100."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that may be meant."""

    name: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What an unknown name means; `tool` is None where no automatic match is safe."""

    tool: str | None = None
    confidence: float = 0.0
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """One tool, in the forms that are compared."""

    tool: str
    name: Name
    meanings: tuple[frozenset[str], ...]
    """Of each word of the name."""
    described: frozenset[str]
    """Meanings of the description's words."""
    phrases: frozenset[str]
    parameters: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A tool and how near it is, by letters and in all."""

    entry: _Entry
    edit: float
    score: float


class ToolIndex:
    """Tools by the features of their names and descriptions."""

    def __init__(self, tools: Iterable[JsonObject]) -> None:
        self._entries: list[_Entry] = []
        self._folded: dict[str, list[int]] = defaultdict(list)
        self._features: dict[str, list[int]] = defaultdict(list)
        tools = list(tools)
        self._words = frozenset(word for tool in tools for word in read_name(tool["name"]).words if len(word) > 1)
        for tool in tools:
            self._add(tool)
        size = len(self._entries)
        self._weights = {feature: log(1 + size / (1 + len(places))) for feature, places in self._features.items()}
        self._weight_max = log(1 + size)

    def match(self, name: str, arguments: JsonObject | None = None) -> Match:
        """The tool that a name means; the same name always gives the same answer."""
        wrong = read_name(name, self._words)
        if not wrong.folded:
            return Match()
        ranked = self._ranked(wrong)
        candidates = tuple(Candidate(one.entry.tool, round(one.score, 4)) for one in ranked[:CANDIDATES_MAX])
        found, confidence = self._found(name, wrong, ranked)
        if found is None and not any(one.edit == 100 for one in ranked):
            found, confidence = self._said(wrong, [one.entry for one in ranked if _may_take(one.entry, arguments)])
        if found is None:
            return Match(candidates=candidates)
        others = (candidate for candidate in candidates if candidate.name != found.tool)
        first = Candidate(found.tool, max(confidence, candidates[0].score if candidates else 0.0))
        return Match(tool=found.tool, confidence=confidence, candidates=(first, *others)[:CANDIDATES_MAX])

    def _add(self, tool: JsonObject) -> None:
        known = lexicon()
        place, name = len(self._entries), read_name(tool["name"], self._words)
        description = tool.get("description")
        described = read_text(description)[:DESCRIPTION_WORDS_MAX] if isinstance(description, str) else ()
        entry = _Entry(
            tool=tool["name"],
            name=name,
            meanings=tuple(known.means(word) for word in name.words),
            described=frozenset(meaning for word in described for meaning in known.means(word)),
            phrases=known.phrases.get(name.phrase, frozenset()),
            parameters=_parameters(tool.get("parameters")),
        )
        self._entries.append(entry)
        self._folded[name.folded].append(place)
        for feature in {*_trigrams(name.folded), *entry.phrases, *entry.described, *frozenset().union(*entry.meanings)}:
            self._features[feature].append(place)

    def _ranked(self, wrong: Name) -> list[_Ranked]:
        """The tools that share the rarest features with a name, nearest first."""
        known = lexicon()
        means = tuple(known.means(word) for word in wrong.words)
        phrases = known.phrases.get(wrong.phrase, frozenset())
        touched: dict[int, float] = defaultdict(float)
        features = {*_trigrams(wrong.folded), *phrases, *frozenset().union(*means)} & self._features.keys()
        left = POSTINGS_MAX
        for feature in sorted(features, key=lambda feature: (len(self._features[feature]), feature)):
            places = self._features[feature]
            left -= len(places)
            if left < 0 and touched:
                break
            weight = self._weight(feature)
            for place in places:
                touched[place] += weight
        for place in self._folded.get(wrong.folded, ()):
            touched[place] = float("inf")
        nearest = nlargest(RANKED_MAX, touched, key=touched.__getitem__)
        weights = [min((self._weight(meaning) for meaning in meanings), default=1.0) for meanings in means]
        ranked = [
            self._compared(self._entries[place], wrong, list(zip(means, weights, strict=True))) for place in nearest
        ]
        return sorted(ranked, key=lambda one: (-one.score, -one.edit))

    def _weight(self, feature: str) -> float:
        return self._weights.get(feature, self._weight_max)

    def _compared(self, entry: _Entry, wrong: Name, words: list[tuple[frozenset[str], float]]) -> _Ranked:
        edit = fuzz.ratio(wrong.folded, entry.name.folded)
        if lexicon().phrases.get(wrong.phrase, frozenset()) & entry.phrases:
            return _Ranked(entry, edit, max(0.95, edit / 100))
        total = sum(weight for _, weight in words)
        found = sum(weight * _nearness(meanings, entry) for meanings, weight in words)
        asked = frozenset().union(*(meanings for meanings, _ in words))
        own = [min((self._weight(meaning) for meaning in meanings), default=1.0) for meanings in entry.meanings]
        met = sum(
            weight for meanings, weight in zip(entry.meanings, own, strict=True) if not asked.isdisjoint(meanings)
        )
        meaning = 0.7 * found / max(total, 1e-9) + 0.3 * met / max(sum(own), 1e-9)
        return _Ranked(entry, edit, max(0.5 * edit / 100 + 0.5 * meaning, 0.9 * meaning))

    def _found(self, name: str, wrong: Name, ranked: list[_Ranked]) -> tuple[_Entry | None, float]:
        """The one tool that the name is, but for its writing or its typing, and how far that is trusted."""
        if same := self._folded.get(wrong.folded):
            entry = self._entries[same[0]]
            is_whole = fold(name) == fold(entry.tool)
            return (entry, SAME if is_whole else SAME_BUT_FILLERS) if len(same) == 1 else (None, 0.0)
        known = lexicon()
        mistyped = [
            one
            for one in ranked
            if one.edit >= EDIT_SCORE_MIN and is_mistyped(wrong, one.entry.name, known, self._words)
        ]
        mistyped.sort(key=lambda one: -one.edit)
        if not mistyped or (len(mistyped) > 1 and mistyped[0].edit - mistyped[1].edit < EDIT_MARGIN_MIN):
            return None, 0.0
        share = (mistyped[0].edit - EDIT_SCORE_MIN) / (100 - EDIT_SCORE_MIN)
        return mistyped[0].entry, round(MISTYPED[0] + share * (MISTYPED[1] - MISTYPED[0]), 4)

    def _said(self, wrong: Name, entries: list[_Entry]) -> tuple[_Entry | None, float]:
        """The one tool that the name says in other words; a name that harnesses use for it goes before its words."""
        known = lexicon()
        phrases = known.phrases.get(wrong.phrase, frozenset())
        firm = [(len(phrases & entry.phrases), cover(wrong, entry.name, known), entry) for entry in entries]
        said = sorted((one for one in firm if one[0] or one[1]), key=lambda one: (-one[0], -one[1]))
        is_clear = len(said) == 1 or (len(said) > 1 and said[0][:2] > said[1][:2])
        return (said[0][2], OTHER_WORDS) if is_clear else (None, 0.0)


def _nearness(meanings: frozenset[str], entry: _Entry) -> float:
    """How well a tool has one word of a name: in its own name, or in its description."""
    if any(not meanings.isdisjoint(of_word) for of_word in entry.meanings):
        return 1.0
    return 0.0 if meanings.isdisjoint(entry.described) else 0.6


def _trigrams(folded: str) -> set[str]:
    padded = f"^{folded}$"
    return {padded[place : place + 3] for place in range(len(padded) - 2)}


def _parameters(schema: Json) -> frozenset[str]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _may_take(entry: _Entry, arguments: JsonObject | None) -> bool:
    """Whether a tool knows any of the arguments given."""
    return not arguments or not entry.parameters or not entry.parameters.isdisjoint(arguments)
