"""A rule at a place in a text → what it finds there: its pattern matched once, its check, and what must stand near."""

import re

from processors.pii.rules import NEAR_CHARS, Rule

Hit = tuple[int, int, Rule]
"""Start, end, and the rule that found it."""
PLACEHOLDER_END = "_REDACTED]"
_DIGITS = frozenset("0123456789")


def first(rules: tuple[Rule, ...], text: str, place: int) -> Hit | None:
    """What the first rule finds that matches at a place and passes its checks."""
    for rule in rules:
        match = rule.match(text, place)
        if match is None:
            continue
        start, end = match.span(rule.group)
        while text[end - 1] in " \n\r\t":
            end -= 1
        if rule.unless is not None and rule.unless.search(text[max(0, start - rule.unless_chars) : start]):
            continue
        if rule.check is not None and not rule.check(text[start:end]):
            end = _shrunk(rule, text, start, end) if rule.shrink else start
            if end == start:
                continue
        if rule.near is not None and not _is_near(rule.near, text, start):
            continue
        return (start - _lead_chars(rule, text, start) if rule.lead else start), end, rule
    return None


def _lead_chars(rule: Rule, text: str, start: int) -> int:
    """How long what belongs to the value is that stands directly before it."""
    for lead in rule.lead:
        before = start - len(lead)
        if before >= 0 and text.startswith(lead, before):
            is_cut = before and lead[0].isdigit() and text[before - 1] in _DIGITS
            return 0 if is_cut else len(lead)
    return 0


def _is_near(cue: re.Pattern[str], text: str, start: int) -> bool:
    """Whether a cue stands before a place, and no placeholder between: cleaning twice would find more."""
    after = text.rfind(PLACEHOLDER_END, max(0, start - NEAR_CHARS), start)
    return cue.search(text, max(0, start - NEAR_CHARS, after), start) is not None


def _shrunk(rule: Rule, text: str, start: int, end: int) -> int:
    for _ in range(4):
        cut = max(text.rfind(" ", start, end), text.rfind("-", start, end), text.rfind(".", start, end))
        if cut <= start:
            break
        end = cut
        if rule.check is not None and rule.check(text[start:end]):
            return end
    return start
