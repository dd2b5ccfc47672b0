"""A strategy, a call, and what was looked up → what is done about the call. The one place that says so.

The dispatcher asks with answers of real tools, the proof with answers that were kept; both do what is said here.
"""

from dataclasses import dataclass
from enum import StrEnum

from processors.strategies.conditions import all_hold
from processors.strategies.strategy import ActionKind, Strategy, filled
from schemas.jsonvalue import Json, JsonObject


class Did(StrEnum):
    """What a strategy did about a call."""

    NOTHING = "nothing"
    """The call goes its usual way."""
    REVIEW = "review"
    SKIP = "skip"
    STEP = "step"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that a strategy wants made."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Looked:
    """What was looked up: an answer, or that there was none."""

    content: Json = None
    is_answered: bool = True


def wanted_call(strategy: Strategy, arguments: JsonObject) -> Wanted | None:
    """The other call that the strategy's action makes, with the call's values filled in."""
    call = strategy.action.call
    if call is None:
        return None
    given = filled(call.arguments, arguments)
    return Wanted(call.tool, given if isinstance(given, dict) else {})


def before(strategy: Strategy, arguments: JsonObject, looked: Looked | None, now_ms: float) -> Did:
    """What is done before the call. looked: the answer of a check's call; None if it makes none.

    A check that gave no answer says nothing: the call goes its usual way.
    """
    action = strategy.action
    match action.kind:
        case ActionKind.REQUIRE_REVIEW:
            return Did.REVIEW
        case ActionKind.SKIP:
            return Did.SKIP
        case ActionKind.ADD_STEP:
            return Did.STEP
        case ActionKind.FALLBACK:
            return Did.NOTHING
    if looked is not None and not looked.is_answered:
        return Did.NOTHING
    subject = arguments if looked is None else looked.content
    return Did.NOTHING if all_hold(action.expect, subject, now_ms) else Did(action.otherwise)


def after(strategy: Strategy, status: str) -> Did:
    """What is done after the call came back with a status."""
    is_failed = status in {"param_error", "business_failure", "system_error"}
    is_meant = not strategy.trigger.errors or status in strategy.trigger.errors
    is_fallback = strategy.action.kind is ActionKind.FALLBACK
    return Did.FALLBACK if is_fallback and is_failed and is_meant else Did.NOTHING
