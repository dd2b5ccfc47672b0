"""A tool name that is not registered → the registered tool it means, or none, and up to three candidates."""

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from processors.tools.names import bare, words
from schemas.jsonvalue import JsonObject

EDIT_SCORE_MIN = 80.0
"""Least similarity, 0 to 100, at which a name is taken as mistyped; measured on wrong names against 10 to 200 tools."""
CANDIDATES_MAX = 3


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


class ToolIndex:
    """Tools by their normalised names."""

    def __init__(self, tools: Iterable[JsonObject]) -> None:
        self._names = [tool["name"] for tool in tools]
        self._folded = ["".join(words(bare(name))) for name in self._names]

    def match(self, name: str, _arguments: JsonObject | None = None) -> Match:
        """The tool that a name means; the same name always gives the same answer."""
        folded = "".join(words(bare(name)))
        found = process.extract(folded, self._folded, scorer=fuzz.ratio, limit=CANDIDATES_MAX)
        candidates = tuple(Candidate(self._names[place], round(score / 100, 4)) for _, score, place in found)
        if not found or found[0][1] < EDIT_SCORE_MIN or (len(found) > 1 and found[0][1] == found[1][1]):
            return Match(candidates=candidates)
        return Match(tool=candidates[0].name, confidence=candidates[0].score, candidates=candidates)
