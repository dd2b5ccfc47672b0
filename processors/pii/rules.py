"""`*.toml` of this folder → `PiiRules`: what is looked for, by the anchor at which it can begin.

A rule is data: an anchor (what a cheap search finds), a pattern that is matched once at the anchor and never searched
with, a check (a function of `checksums.py`), and what must or must not stand near. Each rule carries texts in which it
finds something and texts in which it must not; `tests/processors/test_pii_rules.py` proves them.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeVar

from processors.pii.checksums import CHECKS
from processors.pii.span import PiiSpan
from schemas.jsonvalue import JsonObject

NEAR_CHARS = 64
"""How far before a value `near` and `unless` look: a cue, a quote and a few words."""
FOLLOWS = " -.():/Xx）"
"""Characters after a run of digits by which digit rules are told apart."""

_ANY = ("", *FOLLOWS)
_INDEXED = frozenset({"digits", "letters", "worded", "token", "word"})
K = TypeVar("K")

Cue = tuple[str, int, tuple["Rule", ...]]
"""A cue word, where in it the letter stands that is looked for, and its rules."""

Finder = Callable[[str], Iterable[PiiSpan]]
"""A search of its own over a whole text: a tenant's rules, or a recogniser of names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One shape of one type."""

    id: str
    type: str
    anchor: str
    match: Callable[[str, int], "re.Match[str] | None"]
    group: int
    """Number of the group that holds the value; 0 = the whole match."""
    rank: int
    """Which rule keeps a place that two claim: the lower."""
    check: Callable[[str], bool] | None = None
    near: "re.Pattern[str] | None" = None
    unless: "re.Pattern[str] | None" = None
    unless_chars: int = NEAR_CHARS
    """How far before the value `unless` looks."""
    shrink: bool = False
    """Whether a failed check is tried again without the last group of characters."""
    is_exact: bool = False
    """Whether what stands beside the value is known to be none."""
    lead: tuple[str, ...] = ()
    """What belongs to the value when it stands directly before it."""
    lengths: tuple[int, ...] = ()
    """For `digits`, `letters`: how long the first run of digits is; for `token`: how long the run is, if told."""
    follows: tuple[str, ...] = ()
    """For `digits`: which character stands after the first run; none = any."""
    begins: str = "0123456789"
    """For `digits`: which digits the run may begin with."""
    needles: tuple[str, ...] = ()
    """For `token`: how the run begins; for `word`: what is searched for, in lower case."""
    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PiiRules:
    """Frozen set of rules, indexed by anchor."""

    rules: tuple[Rule, ...]
    digits: Mapping[tuple[int, str, str], tuple[Rule, ...]]
    """By the length of the first run, the character after it, and its first digit."""
    letters: Mapping[int, tuple[Rule, ...]]
    worded: Mapping[int, tuple[Rule, ...]]
    """For digits directly after a lower-case letter."""
    tokens: Mapping[str, tuple[Rule, ...]]
    """By the first two characters of the run."""
    token_lengths: Mapping[int, tuple[Rule, ...]]
    words: tuple[tuple[str, tuple[Rule, ...]], ...]
    """By an ASCII cue word, in lower case."""
    cues: tuple[tuple[str, tuple[Cue, ...]], ...]
    """By a cue word in another script, under the one letter of it that is looked for."""
    shapes: Mapping[str, tuple[Rule, ...]]
    finders: tuple[Finder, ...] = ()

    def only(self, types: Iterable[str]) -> "PiiRules":
        """The same rules without those of other types; finders stay, their spans are filtered by the caller."""
        wanted = set(types)
        return replace(indexed(rule for rule in self.rules if rule.type in wanted), finders=self.finders)


def indexed(rules: Iterable[Rule]) -> PiiRules:
    """Rules in order → rules by anchor."""
    kept = tuple(rules)
    words = _by(kept, lambda rule: rule.needles if rule.anchor == "word" else ())
    return PiiRules(
        rules=kept,
        digits=_by(
            kept,
            lambda rule: product(rule.lengths, rule.follows or _ANY, rule.begins) if rule.anchor == "digits" else (),
        ),
        letters=_by(kept, lambda rule: rule.lengths if rule.anchor == "letters" else ()),
        worded=_by(kept, lambda rule: rule.lengths if rule.anchor == "worded" else ()),
        tokens=_by(kept, lambda rule: [needle[:2] for needle in rule.needles] if rule.anchor == "token" else ()),
        token_lengths=_by(kept, lambda rule: () if rule.anchor != "token" or rule.needles else rule.lengths),
        words=tuple((needle, found) for needle, found in words.items() if needle.isascii()),
        cues=tuple(_under_letters({needle: found for needle, found in words.items() if not needle.isascii()})),
        shapes=_by(kept, lambda rule: () if rule.anchor in _INDEXED else (rule.anchor,)),
    )


def _under_letters(cues: Mapping[str, tuple[Rule, ...]]) -> Iterator[tuple[str, tuple[Cue, ...]]]:
    """Cue words under as few letters as do, of equal ones the last: `in` is fastest for one character."""
    left = dict(cues)
    while left:
        counts = Counter(letter for cue in left for letter in dict.fromkeys(reversed(cue)))
        letter = counts.most_common(1)[0][0]
        yield letter, tuple((cue, cue.index(letter), found) for cue, found in left.items() if letter in cue)
        left = {cue: found for cue, found in left.items() if letter not in cue}


def _by(rules: tuple[Rule, ...], keys: Callable[[Rule], Iterable[K]]) -> dict[K, tuple[Rule, ...]]:
    found: dict[K, list[Rule]] = {}
    for rule in rules:
        for key in dict.fromkeys(keys(rule)):
            found.setdefault(key, []).append(rule)
    return {key: tuple(value) for key, value in found.items()}


def rule_from(entry: JsonObject, defaults: JsonObject) -> Rule:
    """One table of a rule file → a rule; raises KeyError or re.error on a table that is not one."""
    data = defaults | entry
    pattern = re.compile(data["pattern"], re.ASCII if data.get("ascii", True) else 0)
    return Rule(
        id=data["id"],
        type=data["type"],
        anchor=data["anchor"],
        match=pattern.match,
        group=pattern.groupindex.get("pii", 0),
        rank=data["rank"],
        check=CHECKS[data["check"]] if "check" in data else None,
        near=re.compile(data["near"]) if "near" in data else None,
        unless=re.compile(data["unless"]) if "unless" in data else None,
        unless_chars=data.get("unless_chars", NEAR_CHARS),
        shrink=data.get("shrink", False),
        is_exact=data.get("is_exact", False),
        begins=data.get("begins", "0123456789"),
        **{
            name: tuple(data.get(name, ()))
            for name in ("lead", "lengths", "follows", "needles", "positives", "negatives")
        },
    )


def rules_of(text: str) -> list[Rule]:
    """One rule file → its rules: the file's own keys are the defaults of its `[[rule]]` tables."""
    document = tomllib.loads(text)
    defaults = {key: value for key, value in document.items() if key != "rule"}
    return [rule_from(entry, defaults) for entry in document["rule"]]


def _shipped() -> PiiRules:
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return indexed(rule for file in files for rule in rules_of(file.read_text(encoding="utf-8")))


SHIPPED = _shipped()
"""The rules that come with the code."""
