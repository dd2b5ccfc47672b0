"""A call of an output and its tool's rule → it may run, or a reason why not.

What nobody allowed does not run: a tool without a rule is unknown, a tool whose effects nobody described has some, and
side effects need a permission of their own. Duplicates and calls that were taken back never run, whatever a rule says.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from processors.limits import LIMITS
from processors.pii.matching import PLACEHOLDER_END
from processors.tools.definition import ACCEPT_MIN, ACCEPT_READ_ONLY_MIN
from schemas.jsonvalue import Json
from schemas.toolcall import EXECUTABLE, CallStatus, ToolCall


class Reason(StrEnum):
    """Why a call does not run."""

    DUPLICATE = "duplicate"
    """It says what an earlier call of the stream said; that one's result is its result."""
    SUPERSEDED = "superseded"
    """The model took it back and wrote another."""
    STATUS = "status"
    """It was refused, cut off, unreadable, or of no known tool."""
    NOT_SERVED = "not_served"
    """This dispatcher has no such tool."""
    TOO_DEEP = "too_deep"
    """Its arguments are nested deeper than any tool's."""
    REDACTED = "redacted"
    """Its arguments hold a placeholder where a personal value was: a tool would take it for the value."""
    RENAMED = "renamed"
    """The model wrote another name, and the tool's rule does not take that."""
    CONFIDENCE = "confidence"
    """It was repaired with less confidence than the tool's rule asks for."""
    NOT_PERMITTED = "not_permitted"
    """The tool has side effects, and nobody permitted them here."""
    EARLIER_FAILED = "earlier_failed"
    """A call that had to come before it did not succeed."""
    BOUND = "bound"
    """The task used up what it may use; see the handover."""
    DRY_RUN = "dry_run"
    """It would have run."""
    REVIEW = "review"
    """A strategy asks for a person's decision first."""
    SKIPPED = "skipped"
    """A strategy says that it is better not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """How calls of one tool are treated; the defaults are those of a tool about which nothing is known."""

    has_side_effects: bool = True
    is_permitted: bool = False
    """Its side effects may happen here."""
    takes_renamed: bool | None = None
    """A call whose name was matched may run; None: only if the tool has no side effects."""
    takes_redacted: bool = False
    """Placeholders of personal data are fit to be arguments of it."""
    confidence_min: float | None = None
    """None: the line at which the tool stage accepts repairs, lower for a tool without side effects."""
    is_independent: bool = False
    """Its side effects do not depend on other calls of the same output, nor those on them."""

    @property
    def confidence_line(self) -> float:
        """Least confidence of a call that runs."""
        if self.confidence_min is not None:
            return self.confidence_min
        return ACCEPT_MIN if self.has_side_effects else ACCEPT_READ_ONLY_MIN

    @property
    def is_renamed_taken(self) -> bool:
        """Whether a renamed call may run."""
        return not self.has_side_effects if self.takes_renamed is None else self.takes_renamed


def reason_against(call: ToolCall, rule: ToolRule | None) -> Reason | None:
    """Why a call does not run by what is written in it; None: it may.

    rule: that of the tool; None if there is no such tool here.
    """
    if call.duplicate_of is not None:
        return Reason.DUPLICATE
    if call.superseded_by is not None:
        return Reason.SUPERSEDED
    if call.status not in EXECUTABLE or call.name is None or call.arguments is None:
        return Reason.STATUS
    if rule is None:
        return Reason.NOT_SERVED
    if call.status is CallStatus.RENAMED and not rule.is_renamed_taken:
        return Reason.RENAMED
    if not call.confidence >= rule.confidence_line:  # so that NaN does not run
        return Reason.CONFIDENCE
    if (found := _in_arguments(call.arguments, rule)) is not None:
        return found
    return Reason.NOT_PERMITTED if rule.has_side_effects and not rule.is_permitted else None


def _in_arguments(arguments: Json, rule: ToolRule) -> Reason | None:
    for value, depth in _values(arguments):
        if depth > LIMITS.nesting_max:
            return Reason.TOO_DEEP
        if isinstance(value, str) and PLACEHOLDER_END in value and not rule.takes_redacted:
            return Reason.REDACTED
    return None


def _values(value: Json) -> Iterator[tuple[Json, int]]:
    """Each value and key with its depth, without recursion."""
    left = [(value, 0)]
    while left:
        found, depth = left.pop()
        yield found, depth
        if depth > LIMITS.nesting_max:
            continue
        if isinstance(found, dict):
            left += [(one, depth + 1) for pair in found.items() for one in pair]
        elif isinstance(found, list | tuple):
            left += [(one, depth + 1) for one in found]
