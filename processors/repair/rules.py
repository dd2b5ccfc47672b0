"""Learned repair rules as data: patterns of kind `repair_rule` → Rules, looked up in constant time.

A rule says: in this tool, at this parameter, this written word means that. It replaces a fuzzy decision; it can
bypass neither validation nor a refusal for a cut text. docs/adr/0010-learned-repair-rules.md has the shape.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from processors.repair.words import fold
from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import Pattern, PatternKind, PatternState

KINDS = {
    "value_alias": "set",
    "param_alias": "rename",
    "drop_param": "drop",
    "wrapper_key": "unwrap",
    "placeholder": "refuse",
}
"""Closed: each kind of rule and the one action that belongs to it."""
_USED = frozenset({PatternState.ACTIVE, PatternState.CANARY})
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
    """All rules of a snapshot, by (kind, tool, parameter path, folded word); `*` widens tool or path."""

    table: dict[_Key, Rule] = field(default_factory=dict)
    tenant: str = ""

    def find(self, kind: str, tool: str, path: str, word: str) -> Rule | None:
        """The narrowest rule for a word at a place; a dictionary look-up or three, however many rules there are."""
        if not self.table:
            return None
        folded = fold(word)
        table = self.table
        return (
            table.get((kind, tool, path, folded))
            or table.get((kind, tool, "*", folded))
            or table.get((kind, "*", path, folded))
        )


NO_RULES = Rules()


def rules_of(patterns: Iterable[Pattern], tenant: str = "") -> Rules:
    """The active rules of a registry snapshot for one tenant; two that contradict each other are both left out."""
    table: dict[_Key, Rule] = {}
    disputed: set[_Key] = set()
    for pattern in patterns:
        if pattern.kind is not PatternKind.REPAIR_RULE or pattern.state not in _USED:
            continue
        scope = pattern.definition.get("scope") or {}
        if scope.get("tenant", "*") not in {"*", tenant}:
            continue
        kind, key, action = checked_rule(pattern.definition)
        place = (kind, *key)
        known = table.setdefault(place, Rule(pattern.id, action))
        if known.action != action:
            disputed.add(place)
    for place in disputed:
        del table[place]
    return Rules(table=table, tenant=tenant)


def checked_rule(definition: JsonObject) -> tuple[str, tuple[str, str, str], Json]:
    """Kind, look-up key and action value of a rule definition; raises RuleError naming what is outside the shape."""
    kind, match, action = (definition.get(key) for key in ("kind", "match", "action"))
    if kind not in KINDS:
        raise RuleError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
    word = match.get("folded") if isinstance(match, dict) else None
    if not isinstance(word, str) or not word or len(word) > 200 or set(match or ()) - {"folded"}:
        raise RuleError("match: needs exactly `folded`, a text of 1 to 200 characters")
    verb = KINDS[kind]
    if not isinstance(action, dict) or set(action) != {verb}:
        raise RuleError(f"action: needs exactly `{verb}`")
    scope = definition.get("scope") or {}
    if not isinstance(scope, dict) or set(scope) - {"tool", "tenant", "param", "model"}:
        raise RuleError("scope: allows only tool, tenant, param and model")
    if kind == "param_alias" and not isinstance(action[verb], str):
        raise RuleError("action: rename needs the name of a parameter")
    return kind, (str(scope.get("tool", "*")), str(scope.get("param", "*")), fold(word)), action[verb]
