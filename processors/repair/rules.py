"""Learned repair rules as data: patterns of kind `repair_rule` → Rules, looked up in constant time.

A rule says: in this tool, at this parameter, this written word means that. It replaces a fuzzy decision; it can
bypass neither validation nor a refusal for a cut text. docs/adr/0040-learned-repair-rules.md has the shape.
"""

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from processors.repair.words import fold
from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import Pattern, PatternKind

KINDS = {
    "value_alias": "set",
    "param_alias": "rename",
    "drop_param": "drop",
    "wrapper_key": "unwrap",
    "date_order": "order",
    "placeholder": "refuse",
    "tool_alias": "call",
}
"""Closed: each kind of rule, and the one action that belongs to it."""
DATE_ORDERS = ("day_first", "month_first")
SCOPES = frozenset({"tool", "tenant", "param", "model"})
WORD_CHARS_MAX = 200
"""Longest written word that a rule matches: what is longer is prose, and never learned."""
_INDEX = re.compile(r"/\d+(?=/|\Z)")
_Key = tuple[str, str, str, str]


class RuleError(ValueError):
    """A rule definition outside of the closed vocabularies; the message names the field."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, ready to apply."""

    id: str
    action: Json


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a snapshot, by (kind, tool, parameter path, folded word); `*` widens tool or path."""

    table: Mapping[_Key, Rule] = field(default_factory=dict)
    unusable: tuple[str, ...] = ()
    """Ids of rules left out: malformed, or contradicted by another."""

    def find(self, kind: str, tool: str, path: str, word: str) -> Rule | None:
        """The narrowest rule for a word at a place; three dictionary look-ups, however many rules there are."""
        table = self.table
        if not table or len(word) > WORD_CHARS_MAX:
            return None
        folded = fold(word)
        path = _INDEX.sub("/*", path)
        return (
            table.get((kind, tool, path, folded))
            or table.get((kind, tool, "*", folded))
            or table.get((kind, "*", path, folded))
        )

    def tool_called(self, name: str) -> Rule | None:
        """The rule for a name that stands for a registered tool."""
        return self.table.get(("tool_alias", "*", "*", fold(name))) if len(name) <= WORD_CHARS_MAX else None


NO_RULES = Rules()


class RuleBook:
    """The rules of a snapshot, for all tenants; each is read once, whoever has how many."""

    def __init__(self, patterns: Iterable[Pattern] = ()) -> None:
        self._tables: dict[str, dict[_Key, Rule]] = {}
        unusable: set[str] = set()
        disputed: set[tuple[str, _Key]] = set()
        for pattern in patterns:
            if pattern.kind is not PatternKind.REPAIR_RULE:
                continue
            try:
                key, action, owner = checked_rule(pattern.definition)
            except RuleError:
                unusable.add(pattern.id)
                continue
            known = self._tables.setdefault(owner, {}).setdefault(key, Rule(pattern.id, action))
            if known.action != action:
                disputed.add((owner, key))
                unusable |= {known.id, pattern.id}
        for owner, key in disputed:
            del self._tables[owner][key]
        self._unusable = tuple(sorted(unusable))

    def of(self, tenant: str = "") -> Rules:
        """The rules that a tenant's calls are read with: its own in front of those for all."""
        shared, own = self._tables.get("*", {}), self._tables.get(tenant) if tenant != "*" else None
        return Rules(table=ChainMap(own, shared) if own else shared, unusable=self._unusable)


def rules_of(patterns: Iterable[Pattern], tenant: str = "") -> Rules:
    """The rules that a tenant's calls are read with; the caller chooses by state which patterns it gives.

    A rule with the tenant's own scope goes before one for all. Two of the same scope that contradict each other are
    both left out, and so is a malformed one.
    """
    return RuleBook(patterns).of(tenant)


def checked_rule(definition: JsonObject) -> tuple[_Key, Json, str]:
    """Look-up key, action value and tenant of a rule definition; raises RuleError naming what is outside the shape."""
    kind, match, action = (definition.get(key) for key in ("kind", "match", "action"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise RuleError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
    word = match.get("folded") if isinstance(match, dict) and set(match) == {"folded"} else None
    if not isinstance(word, str) or not 0 < len(word) <= WORD_CHARS_MAX:
        raise RuleError(f"match: needs exactly `folded`, a text of 1 to {WORD_CHARS_MAX} characters")
    verb = KINDS[kind]
    if not isinstance(action, dict) or set(action) != {verb}:
        raise RuleError(f"action: needs exactly `{verb}`")
    if kind in {"param_alias", "tool_alias"} and not isinstance(action[verb], str):
        raise RuleError(f"action: `{verb}` needs a name")
    if kind == "date_order" and action[verb] not in DATE_ORDERS:
        raise RuleError(f"action: `order` is one of {', '.join(DATE_ORDERS)}")
    if isinstance(action[verb], dict | list):
        raise RuleError("action: only a text, a number, a boolean or null can be set")
    scope = definition.get("scope") or {}
    if not isinstance(scope, dict) or set(scope) - SCOPES or not all(isinstance(one, str) for one in scope.values()):
        raise RuleError(f"scope: allows only texts for {', '.join(sorted(SCOPES))}")
    key = (kind, scope.get("tool", "*"), scope.get("param", "*"), fold(word))
    if key[1:3] == ("*", "*") and kind != "tool_alias":
        raise RuleError("scope: needs a tool or a parameter")
    return key, action[verb], scope.get("tenant", "*")
