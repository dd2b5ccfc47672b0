"""Tokens → fewer tokens: level by level, the longest match of a rule becomes one token with a value.

Each level runs at most PASSES_MAX times over the tokens, and a match spans a bounded number of them, so the cost is
linear in the text.
"""

from collections.abc import Sequence

from processors.periods.found import Found, Made, Part, Skip
from processors.periods.lexicon import lexicon
from processors.periods.literals import Token, kind_of
from processors.periods.reading import Context, Value
from processors.periods.rules import Level, Rule, levels

PASSES_MAX = 6
"""Deepest nesting of parts: the last day of the first week of the second quarter of last year needs four."""


def reduced(tokens: Sequence[Token], context: Context) -> list[Token]:
    """The tokens after all levels."""
    found = list(tokens)
    symbols = lexicon().symbols
    for level in levels():
        for _ in range(PASSES_MAX):
            line = "".join([symbols[token.kind] for token in found])
            start = level.starts.search(line)
            if start is None:
                break
            after = _one_pass(level, line, found, context)
            if after is None:
                break
            found = after
    return found


def _one_pass(level: Level, line: str, tokens: list[Token], context: Context) -> list[Token] | None:
    """The tokens after one pass; None if no rule applied."""
    found: list[Token] = []
    any_of = level.any_of
    place = done = 0
    while start := level.starts.search(line, place):
        place = start.start()
        may_apply = any_of[line[place]].match(line, place) is not None
        made = _applied(level, line, place, (tokens, context)) if may_apply else None
        if made is None:
            place += 1
            continue
        token, end = made
        found += tokens[done:place]
        found.append(token)
        place = done = end
    return [*found, *tokens[done:]] if done else None


def _applied(level: Level, line: str, place: int, text: tuple[list[Token], Context]) -> tuple[Token, int] | None:
    """The token that the longest applicable rule makes at a place, and where its match ends."""
    tokens, context = text
    matches: list[tuple[int, Rule]] = []
    for rule in level.rules[line[place]]:
        match = rule.pattern.match(line, place)
        if match is not None and match.end() > place:
            matches.append((match.end(), rule))
    matches.sort(key=lambda one: -one[0])
    for end, rule in matches:
        matched = tuple(tokens[place:end])
        made = _made(rule, Found(matched, context, rule.args))
        if made is not None:
            rules = tuple(one for token in matched for one in token.rules)
            return Token(_kind(made), matched[0].start, matched[-1].end, made, (*rules, rule.id)), end
    return None


def _made(rule: Rule, found: Found) -> Made:
    try:
        return rule.operation(found)
    except (ValueError, OverflowError):  # 31 February, week 60, or a year beyond 9999
        return Value(grain="day", doubt="impossible") if rule.level != "rest" else None


def _kind(made: Value | Part | Skip) -> str:
    if isinstance(made, Value):
        return kind_of(made)
    return "Part" if isinstance(made, Part) else "Skip"
