"""A strategy as the registry holds it: when it applies, what it does, what it may touch, how it is taken back.

It is the definition of an entry of the kind `strategy`; priority, exclusive group, state and evidence are the entry's.
"""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from processors.strategies.conditions import Condition, value_at
from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import Pattern

SCHEMA = "strategy/1"
CONDITIONS_MAX = 20
Status = Literal["param_error", "business_failure", "system_error"]


class ActionKind(StrEnum):
    """What is done."""

    PRE_CHECK = "pre_check"
    """Something is looked up first; if it is not as expected, the call goes to review, or is skipped."""
    FALLBACK = "fallback"
    """If the call fails, another one is made in its place."""
    ADD_STEP = "add_step"
    """Another call is made first."""
    REQUIRE_REVIEW = "require_review"
    """The call is not made; a person decides."""
    SKIP = "skip"
    """The call is not made."""


BLOCKING = frozenset({ActionKind.PRE_CHECK, ActionKind.REQUIRE_REVIEW, ActionKind.SKIP})
"""Actions by which a call may not run: whether they are right is seen on calls that run without them."""


_CLOSED = ConfigDict(frozen=True, extra="forbid")


class Trigger(BaseModel):
    """Which calls."""

    model_config = _CLOSED
    tool: str = Field(min_length=1, max_length=200)
    errors: tuple[Status, ...] = ()
    """Failures that it is about: a fallback is made after these; empty: after each."""
    context: tuple[Condition, ...] = Field(default=(), max_length=CONDITIONS_MAX)
    """What holds of the call's arguments."""


class OtherCall(BaseModel):
    """A call made besides or in place of the one in hand."""

    model_config = _CLOSED
    tool: str = Field(min_length=1, max_length=200)
    arguments: JsonObject = Field(default_factory=dict)
    """A text `$path` stands for the value at that path of the call's own arguments; `$` for all of them."""


class Action(BaseModel):
    """What is done about them."""

    model_config = _CLOSED
    kind: ActionKind
    call: OtherCall | None = None
    """What is looked up, called instead, or called first. A check without it looks at the arguments alone."""
    expect: tuple[Condition, ...] = Field(default=(), max_length=CONDITIONS_MAX)
    """What must hold of what was looked up, for a pre_check."""
    otherwise: Literal["review", "skip"] = "review"
    reason: str = Field(default="", max_length=500)
    """One sentence for whoever meets it."""

    @model_validator(mode="after")
    def _is_whole(self) -> "Action":
        if self.kind in {ActionKind.FALLBACK, ActionKind.ADD_STEP} and self.call is None:
            raise ValueError(f"{self.kind} needs a call")
        if (self.kind is ActionKind.PRE_CHECK) is not bool(self.expect):
            raise ValueError("what is expected belongs to a pre_check, and a pre_check needs it")
        return self


class Impact(BaseModel):
    """Whom it touches."""

    model_config = _CLOSED
    who: str = Field(default="", max_length=500)
    risk: Literal["low", "medium", "high"] = "medium"
    """high: no call is let through to see whether the strategy is still right."""


class Strategy(BaseModel):
    """One strategy."""

    model_config = _CLOSED
    schema_: Literal["strategy/1"] = Field(default="strategy/1", alias="schema")
    id: str = Field(min_length=1, max_length=100)
    title: str = Field(default="", max_length=300)
    trigger: Trigger
    action: Action
    input_constraint: tuple[Condition, ...] = Field(default=(), max_length=CONDITIONS_MAX)
    """What must hold of the arguments for the action to be fit for them; else the call goes its usual way."""
    output_contract: tuple[Condition, ...] = Field(default=(), max_length=CONDITIONS_MAX)
    """What must hold of what a fallback gives; else the failure stands."""
    side_effects: tuple[str, ...] = Field(default=(), max_length=CONDITIONS_MAX)
    """Tools whose side effects it may cause."""
    rollback: str = Field(default="the call goes its usual way again; nothing else is to be undone", max_length=500)
    impact: Impact = Impact()
    is_critical: bool = False
    """Never retired for not being used."""

    @property
    def is_blocking(self) -> bool:
        """Whether a call may not run because of it."""
        return self.action.kind in BLOCKING

    def dump(self) -> JsonObject:
        """The definition of its entry."""
        return self.model_dump(mode="json", by_alias=True)


def strategy_of(pattern: Pattern) -> Strategy | None:
    """The strategy of an entry; None for one that holds none, such as a signature that waits for a person."""
    if pattern.definition.get("schema") != SCHEMA:
        return None
    try:
        found = Strategy.model_validate(pattern.definition)
    except (ValidationError, RecursionError):
        return None
    return found if found.id == pattern.id else None


def filled(template: Json, arguments: JsonObject, depth: int = 20) -> Json:
    """A template with the call's values in it; a path that is not there gives None."""
    if isinstance(template, str) and template.startswith("$"):
        return value_at(arguments, template[1:])[1]
    if depth == 0:
        return None
    if isinstance(template, dict):
        return {key: filled(value, arguments, depth - 1) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, arguments, depth - 1) for value in template]
    return template
