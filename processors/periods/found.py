"""What an operation gets: the tokens that a rule matched, and what it may give back: a value, or a part of one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from processors.periods.literals import Token
from processors.periods.reading import RANK, Context, Span, Sure, Value
from schemas.jsonvalue import Json

Cut = Callable[[Span], tuple[Span, ...]]
"""A span → the spans of a part of it, the usual one first; none where there is no such part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a period that isn't named yet: the first half of …"""

    grain: str
    cut: Cut
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """Time words that name no period: every Monday, a 3-year warranty."""


Made = Value | Part | Skip | None
NUMBERS = ("n", "one", "a", "ord", "second", "y4")


@dataclass(frozen=True, slots=True)
class Found:
    """One match of one rule."""

    tokens: tuple[Token, ...]
    context: Context
    args: Mapping[str, Json]

    def held(self, *kinds: str) -> object:
        """What the first token of such a class holds; None if there is none."""
        return next((token.held for token in self.tokens if token.kind in kinds), None)

    def has(self, *kinds: str) -> bool:
        """Whether there is a token of such a class."""
        return any(token.kind in kinds for token in self.tokens)

    def number(self, *kinds: str, default: int = 1) -> int:
        """The first number, by class if any is given."""
        held = self.held(*(kinds or NUMBERS))
        return held if isinstance(held, int) else default

    def numbers(self, *kinds: str) -> list[int]:
        """All numbers of such classes."""
        return [token.held for token in self.tokens if token.kind in kinds and isinstance(token.held, int)]

    def word(self, *kinds: str) -> str:
        """The first token's meaning as text."""
        return str(self.held(*kinds) or "")

    def values(self) -> list[Value]:
        """All values, in order."""
        return [token.held for token in self.tokens if isinstance(token.held, Value)]

    def text_arg(self, name: str) -> str:
        """An argument of the rule."""
        return str(self.args.get(name, ""))

    def int_arg(self, name: str, default: int = 0) -> int:
        """An argument of the rule that is a number."""
        value = self.args.get(name, default)
        return value if isinstance(value, int) else default


def mapped(value: Value, cut: Cut, grain: str, doubt: str = "") -> Value:
    """The value with each of its spans cut, in whichever year it comes to lie."""
    place = value.at

    def at(year: int) -> tuple[Span, ...]:
        return tuple(found for span in place(year) for found in cut(span)) if place else ()

    spans = tuple(found for span in value.spans for found in cut(span))
    if value.spans and not spans:
        return replace(value, grain=grain, spans=(), at=None, doubt=value.doubt or "impossible", others=())
    return replace(
        value,
        grain=grain,
        spans=spans,
        at=at if place and not value.spans else None,
        doubt=value.doubt or doubt,
        others=tuple(found for span in value.others for found in cut(span)),
        mark="",
    )


def less_sure(one: Sure, other: Sure) -> Sure:
    """The less sure of two levels."""
    return one if RANK[one] >= RANK[other] else other
