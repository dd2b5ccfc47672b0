"""Rule files → rules by level, compiled on first use.

A rule's `match` is a regular expression over token classes: `the? last n whole? unit`. Names are classes or the
file's aliases; `( ) | ?` and look-around keep their meaning. A rule proves itself by its own examples: `yes` rows
(text, first and last day, read on Wednesday 2026-03-18 10:30) and `no` texts, which it must leave alone.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from processors.periods.found import Found, Made
from processors.periods.lexicon import FOLDER, lexicon
from processors.periods.operations import OPERATIONS
from schemas.jsonvalue import Json

FILES = ("rules_en.toml", "rules_zh.toml")
LEVELS = ("part", "period", "whole", "clock", "range", "bound", "rest")
"""In this order: parts, single periods, periods made of periods, times of day, from–to, open ends, what is left."""

_NAME = re.compile(r"[A-Za-z]\w*")
_PIECES = re.compile(r"\(\?<?[!=]|[A-Za-z]\w*|\S")


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of saying a period."""

    id: str
    level: str
    pattern: re.Pattern[str]
    first: frozenset[str]
    operation: Callable[[Found], Made]
    args: Mapping[str, Json] = field(default_factory=dict)
    yes: tuple[tuple[str, ...], ...] = ()
    no: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """Rules that are tried together; the longest match wins, then the earlier rule."""

    rules: Mapping[str, tuple[Rule, ...]]
    """First character → rules that may start with it."""
    any_of: Mapping[str, re.Pattern[str]]
    """First character → one pattern for all of them: most places match none, which this tells at once."""
    starts: re.Pattern[str]


@cache
def all_rules() -> tuple[Rule, ...]:
    """All shipped rules, in file order."""
    found = []
    for name in FILES:
        table = tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
        aliases = table.get("alias", {})
        found += [_rule(name, row, aliases) for row in table["rule"]]
    identities = [rule.id for rule in found]
    if len(set(identities)) != len(identities):
        raise ValueError(f"rule ids stand twice: {sorted({one for one in identities if identities.count(one) > 1})}")
    return tuple(found)


@cache
def levels() -> tuple[Level, ...]:
    """The rules, ready for use."""
    return tuple(_level([rule for rule in all_rules() if rule.level == level]) for level in LEVELS)


def _rule(name: str, row: dict[str, Json], aliases: Mapping[str, str]) -> Rule:
    unknown = set(row) - {"id", "level", "match", "op", "args", "yes", "no"}
    if unknown or row["level"] not in LEVELS or row["op"] not in OPERATIONS:
        raise ValueError(f"{name}: rule {row.get('id')}: unknown field, level or operation {sorted(unknown)}")
    match = _NAME.sub(lambda found: aliases.get(found.group(), found.group()), row["match"])
    pieces = _PIECES.findall(match)
    first, _ = _first(pieces, 0)
    return Rule(
        row["id"],
        row["level"],
        re.compile("".join(_symbol(piece) for piece in pieces)),
        frozenset(_symbol(piece) for piece in first),
        OPERATIONS[row["op"]],
        row.get("args", {}),
        tuple(tuple(one) for one in row.get("yes", ())),
        tuple(row.get("no", ())),
    )


def _symbol(piece: str) -> str:
    if _NAME.fullmatch(piece):
        return lexicon().symbols[piece]
    return "(?:" if piece == "(" else piece


def _first(pieces: Sequence[str], place: int) -> tuple[set[str], int]:
    """Classes that a group may begin with ("" if it may be empty), and where it ends."""
    found: set[str] = set()
    branch: set[str] = {""}
    while place < len(pieces) and pieces[place] != ")":
        piece = pieces[place]
        if piece == "|":
            found, branch = found | branch, {""}
            place += 1
            continue
        here, place = _piece_first(pieces, place)
        if place < len(pieces) and pieces[place] in "?*":
            here, place = here | {""}, place + 1
        if "" in branch:
            branch = (branch - {""}) | here
    return found | branch, place + 1


def _piece_first(pieces: Sequence[str], place: int) -> tuple[set[str], int]:
    if pieces[place].startswith("(?"):
        return {""}, _first(pieces, place + 1)[1]
    if pieces[place] == "(":
        return _first(pieces, place + 1)
    return {pieces[place]}, place + 1


def _level(rules: Sequence[Rule]) -> Level:
    by_first: dict[str, list[Rule]] = {}
    for rule in rules:
        for symbol in rule.first:
            by_first.setdefault(symbol, []).append(rule)
    starts = re.compile(f"[{''.join(sorted(by_first))}]" if by_first else r"(?!)")
    return Level(
        {symbol: tuple(found) for symbol, found in by_first.items()},
        {symbol: re.compile("|".join(rule.pattern.pattern for rule in found)) for symbol, found in by_first.items()},
        starts,
    )
