"""A written value → the one enum member it means, or why there is none.

In this order: exact, folded spelling, decoration taken off, the description's own words, a synonym, edit distance.
A tie at any step is a refusal: two candidates are no candidate.
"""

import re
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA, Indel

from processors.repair.enum_index import EnumIndex
from processors.repair.toolschema import Spec
from processors.repair.words import WORDS, fold
from schemas.jsonvalue import Json

TEXT_MAX = 100
"""Longest text compared with enum members, in characters."""
_DECORATION = " \t\n\r\"'`*_.,;:!?()[]{}<>“”‘’„«»「」『』。，；：！？（）【】"
_LABEL = re.compile(r"\s*[\w .-]{1,40}\s*[:：=]\s*(.+)\Z", re.DOTALL)
_REMARK = re.compile(r"(.+?)\s*[(（\[].*[)）\]]\Z", re.DOTALL)
_ASIDE = re.compile(r"(.+?)(?:\s+[-–—]\s|\s*[:：,，])\s?.*\Z", re.DOTALL)
_CODE = re.compile(r"[A-Za-z]{1,3}[-_ ]?\d{1,2}\Z")
DISTANCE_MAX = 2
CLOSE, CLOSEST = 0.45, 0.6
"""Similarity from which a member is perhaps meant, and which one must reach for a refusal to be called ambiguous."""


@dataclass(frozen=True, slots=True)
class Match:
    """The member, and how it was found; or the code of a refusal with the members that came near."""

    member: Json = None
    code: str = ""
    problem: str = ""
    near: tuple[Json, ...] = ()


def match_enum(text: str, spec: Spec, *, is_near: bool = True) -> Match:
    """The member of an enum that a text means; is_near: also one that is a slip of the pen away."""
    return match_known(text, spec) or (match_near(text, spec) if is_near else Match(problem="enum_no_match"))


def match_known(text: str, spec: Spec) -> Match | None:
    """The member that a text spells or says in other words, in constant time; None: none is known."""
    index = spec.index
    if (False, text) in index.exact:
        return Match(index.exact[False, text])
    if len(text) > TEXT_MAX:
        return Match(problem="enum_no_match")
    if (said := text.strip().casefold()) in index.typed:
        return Match(index.typed[said], "enum_typed")
    return _by_spelling(text, index) or _by_meaning(text, spec)


def _one(found: list[str], code: str) -> Match | None:
    kinds = list(dict.fromkeys(found))
    if len(kinds) == 1:
        return Match(kinds[0], code)
    return Match(problem="enum_ambiguous", near=tuple(kinds)) if kinds else None


def _by_spelling(text: str, index: EnumIndex) -> Match | None:
    plain = text.strip().casefold()
    bare = text.strip(_DECORATION).casefold()
    for said, code in ((plain, "enum_case"), (bare, "enum_decoration")):
        if match := _one(index.by_case.get(said, []), code):
            return match
    if match := _one(index.by_fold.get(fold(text), []), "enum_case"):
        return match
    for shape in (_LABEL, _REMARK, _ASIDE):
        part = shape.match(text.strip())
        inner = part[1].strip(_DECORATION).casefold() if part else ""
        if inner and (match := _one(index.by_case.get(inner, []), "enum_decoration")):
            return match
    return None


def _by_meaning(text: str, spec: Spec) -> Match | None:
    index = spec.index
    if hinted := spec.hints.get(fold(text)):
        return Match(hinted, "enum_described")
    meant = WORDS.booleans.get(fold(text))
    alike = index.by_truth.get(meant, []) if meant is not None else []
    if len(index.texts) <= 3 and (match := _one(alike, "enum_alias")):
        return match
    for said in (fold(text) or text.strip(), fold(text).removeprefix("the"), fold(text.strip(_DECORATION))):
        if match := _one(index.of_group(WORDS.value_groups.get(said, ())), "enum_alias"):
            return match
    return None


def match_near(text: str, spec: Spec) -> Match:
    """The member that is a slip of the pen away, or why none is; looks at each member."""
    said, index = fold(text), spec.index
    if not said or len(text) > TEXT_MAX:
        return Match(problem="enum_no_match")
    found = process.extract(said, index.folded, scorer=OSA.distance, score_cutoff=2 * DISTANCE_MAX, limit=None)
    ranked = sorted((int(distance), index.texts[place]) for _, distance, place in found)
    if ranked:
        best, member = ranked[0]
        second = ranked[1][0] if len(ranked) > 1 else 99
        if best <= DISTANCE_MAX and best < min(len(said), len(fold(member))) / 2.5 and _is_clear(best, second):
            return Match(member, "enum_fuzzy_matched")
        ties = tuple(other for distance, other in ranked if distance <= min(best + 1, DISTANCE_MAX))
        if len(ties) > 1 and best < len(said) / 1.5:
            return Match(problem="enum_ambiguous", near=ties)
    return _no_match(text, said, spec)


def _is_clear(best: int, second: int) -> bool:
    return second - best >= 2 or (best == 1 and second > 2)


def _no_match(text: str, said: str, spec: Spec) -> Match:
    """Why nothing fits: several members are near, or none is."""
    index = spec.index
    near = {member: _nearness(said, folded) for member, folded in zip(index.texts, index.folded, strict=True)}
    close = tuple(member for member, nearness in near.items() if nearness >= CLOSE)
    coded = bool(_CODE.match(text.strip())) and any(_CODE.match(word) for word in spec.hints)
    if coded or (len(close) > 1 and max(near.values()) >= CLOSEST):
        return Match(problem="enum_ambiguous", near=close or tuple(index.texts))
    return Match(problem="enum_no_match", near=close)


def _nearness(said: str, member: str) -> float:
    if min(len(said), len(member)) >= 3 and (said in member or member in said):
        return 1.0
    return Indel.normalized_similarity(said, member)
