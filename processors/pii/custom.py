"""A tenant's own rules from the registry → one more search beside the shipped rules.

Their patterns are untrusted input, so they run on RE2, which takes linear time, over UTF-8 bytes, where its offsets
cost nothing; they are turned into characters for what is found only. A rule that its own examples don't prove is not
taken.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import re2

from processors.pii.rules import SHIPPED, Finder, PiiRules
from processors.pii.span import PiiSpan
from schemas.jsonvalue import JsonObject
from schemas.pattern import Pattern

PATTERN_CHARS_MAX = 1_000
"""Longest pattern: the longest shipped one has 700 characters."""
MEMORY_BYTES_MAX = 8_000_000
"""What RE2 may use for one pattern; beyond that it takes a slower way, which is still linear."""
MATCH_CHARS_MAX = 4_096
"""Longest value: what is longer is no value but a pattern that takes everything."""


class CustomRuleError(ValueError):
    """A definition that is no rule, or that its examples disprove; the message says which."""


@dataclass(frozen=True, slots=True)
class _Custom:
    id: str
    type: str
    pattern: Any
    """Compiled by RE2, whose Python classes have no types."""
    group: int

    def __call__(self, text: str) -> Iterable[PiiSpan]:
        data = text.encode("utf-8", "replace")
        chars = place = 0
        for match in self.pattern.finditer(data):
            start, end = match.span(self.group)
            if start < 0 or start == end:
                continue
            chars += len(data[place:start].decode())
            found = len(data[start:end].decode())
            place = end
            if found <= MATCH_CHARS_MAX:
                yield PiiSpan(chars, chars + found, self.type, self.id)
            chars += found


def custom_rule(definition: JsonObject, positives: Iterable[str], negatives: Iterable[str]) -> Finder:
    """`{"id", "type", "pattern"}` with a group named `pii` if the value is a part; raises CustomRuleError."""
    try:
        rule_id, kind, pattern = str(definition["id"]), str(definition["type"]), definition["pattern"]
    except KeyError as error:
        raise CustomRuleError(f"missing field {error.args[0]!r}") from None
    if not isinstance(pattern, str) or len(pattern) > PATTERN_CHARS_MAX:
        raise CustomRuleError(f"{rule_id}: pattern: not a text of at most {PATTERN_CHARS_MAX} characters")
    if not kind.isidentifier() or kind != kind.lower():
        raise CustomRuleError(f"{rule_id}: type: not a word in lower case")
    options = re2.Options()
    options.max_mem = MEMORY_BYTES_MAX
    options.log_errors = False
    try:
        compiled = re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        raise CustomRuleError(f"{rule_id}: pattern: {error}") from None
    finder = _Custom(rule_id, kind, compiled, compiled.groupindex.get(b"pii", 0))
    _prove(finder, tuple(positives), tuple(negatives))
    return finder


def _prove(finder: _Custom, positives: tuple[str, ...], negatives: tuple[str, ...]) -> None:
    if not positives or not negatives:
        raise CustomRuleError(f"{finder.id}: needs at least one positive and one negative")
    for number, text in enumerate(positives):
        if not list(finder(text)):
            raise CustomRuleError(f"{finder.id}: does not find its positive number {number} (from 0)")
    for number, text in enumerate(negatives):
        if list(finder(text)):
            raise CustomRuleError(f"{finder.id}: finds its negative number {number} (from 0)")


def rules_with(patterns: Iterable[Pattern], rules: PiiRules = SHIPPED) -> PiiRules:
    """The shipped rules and the registry's active ones; one that does not prove itself is left out."""
    finders: list[Finder] = []
    for pattern in patterns:
        try:
            finders.append(custom_rule(pattern.definition | {"id": pattern.id}, pattern.positives, pattern.negatives))
        except CustomRuleError:  # refused when it was written; an entry that came another way does no harm
            continue
    return replace(rules, finders=(*rules.finders, *finders)) if finders else rules
