"""An entry + what was seen of it → its next state, with the figures as evidence.

candidate → shadow → canary → active → retired; from anywhere → rejected, by a person or because it does worse.

- **shadow**: not served; each further output that nothing read is read with it beside, and the results are counted.
- **canary**: served to the share of streams that `is_canary` picks by a hash of the stream's id.
- **active**: served to all.

How long an entry stays in a state is not a time but a sequential test (Wald 1945): each further output moves a score by
the logarithm of how much likelier the result is for an entry as good as the control than for one that is worse by
`MARGIN`; the first of two bounds that the score reaches decides. In use the score never rises above its start, so that
a long good time does not pay for a bad one later (Page 1954).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from math import log

from schemas.jsonvalue import JsonObject
from schemas.pattern import Evidence, Pattern, PatternState

CANARY_SHARE = 0.05
MARGIN = 0.2
"""How much smaller a share of valid outputs counts as worse than control."""
ERROR = 0.02
"""Chance of a wrong decision, either way."""
BOUND = log((1 - ERROR) / ERROR)
CONTROL_MIN = 20
"""Fewest outputs of other formats from which the control's share is taken; before that it is `CONTROL_SHARE`."""
CONTROL_SHARE = 0.95
CONTROL_RANGE = (0.9, 0.98)
FURTHER_MIN = 2
"""Outputs read after the proof before `auto` lets an entry in; a sequential test needs 17."""
PROVEN_VALID = 12
"""Outputs in the proof from which `auto` asks for no further ones: each was also read by a shape learned without it."""
WORSE_REASON = "worse than control"
UNUSED_DAYS = 90
DAY_MS = 86_400_000


class Approval(StrEnum):
    """Who lets a proven entry in (`learn_approval`)."""

    AUTO = "auto"
    """Active after a proof of `PROVEN_VALID` outputs, or of fewer and `FURTHER_MIN` later ones."""
    CANARY = "canary"
    """Shadow, then canary, then active, each after its sequential test."""
    MANUAL = "manual"
    """A candidate waits for `registry approve`."""


class Verdict(StrEnum):
    """What a trial says."""

    WAIT = "wait"
    AS_GOOD = "as_good"
    WORSE = "worse"


_NEXT = {
    PatternState.CANDIDATE: {PatternState.SHADOW, PatternState.CANARY, PatternState.ACTIVE, PatternState.REJECTED},
    PatternState.SHADOW: {PatternState.CANARY, PatternState.ACTIVE, PatternState.REJECTED, PatternState.RETIRED},
    PatternState.CANARY: {PatternState.ACTIVE, PatternState.SHADOW, PatternState.REJECTED, PatternState.RETIRED},
    PatternState.ACTIVE: {PatternState.SHADOW, PatternState.REJECTED, PatternState.RETIRED},
    PatternState.RETIRED: {PatternState.SHADOW, PatternState.ACTIVE, PatternState.REJECTED},
    PatternState.REJECTED: {PatternState.ACTIVE},
}
IN_TRIAL = frozenset({PatternState.SHADOW, PatternState.CANARY})


@dataclass(frozen=True, slots=True)
class Trial:
    """What was seen of an entry since it came into its state."""

    valid: int = 0
    invalid: int = 0
    score: float = 0.0

    def after(self, *, is_valid: bool, control: float = CONTROL_SHARE, in_use: bool = False) -> "Trial":
        """The trial after one more output; `control`: share of valid outputs of other formats."""
        worse = control - MARGIN
        gain = log(control / worse) if is_valid else log((1 - control) / (1 - worse))
        score = self.score + gain
        return Trial(self.valid + is_valid, self.invalid + (not is_valid), min(score, 0.0) if in_use else score)

    @property
    def verdict(self) -> Verdict:
        """Which bound was reached, if any."""
        if self.score <= -BOUND:
            return Verdict.WORSE
        return Verdict.AS_GOOD if self.score >= BOUND else Verdict.WAIT

    @property
    def figures(self) -> JsonObject:
        """For the evidence."""
        return {"valid": self.valid, "invalid": self.invalid, "score": round(self.score, 3), "bound": round(BOUND, 3)}


def control_share(valid: int, invalid: int) -> float:
    """Share of valid outputs that an entry is compared with; within bounds, so that the control can't be driven off."""
    if valid + invalid < CONTROL_MIN:
        return CONTROL_SHARE
    low, high = CONTROL_RANGE
    return min(max(valid / (valid + invalid), low), high)


def is_canary(stream_id: str, share: float = CANARY_SHARE) -> bool:
    """Whether a stream is one of those that canary entries are served to; the same answer everywhere and always."""
    digest = blake2b(stream_id.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64


def entered(pattern: Pattern, approval: Approval, valid: int) -> Pattern:
    """A proven entry in the state in which it begins; `valid`: outputs in its proof."""
    if approval is Approval.MANUAL:
        return replace(pattern, state=PatternState.CANDIDATE)
    at_once = approval is Approval.AUTO and valid >= PROVEN_VALID
    return replace(pattern, state=PatternState.ACTIVE if at_once else PatternState.SHADOW)


def judged(pattern: Pattern, trial: Trial, approval: Approval) -> Pattern | None:
    """The entry in its next state, or None while it stays; a pinned one stays whatever is seen."""
    if pattern.pinned:
        return None
    verdict = trial.verdict
    if verdict is Verdict.WORSE:
        back = PatternState.REJECTED if pattern.state is PatternState.SHADOW else PatternState.SHADOW
        return moved(pattern, back, WORSE_REASON, trial.figures)
    if pattern.state is PatternState.SHADOW:
        if approval is Approval.AUTO and trial.valid >= FURTHER_MIN and not trial.invalid and not _was_worse(pattern):
            return moved(pattern, PatternState.ACTIVE, "further outputs read", trial.figures)
        if verdict is Verdict.AS_GOOD:
            return moved(pattern, PatternState.CANARY, "as good as control", trial.figures)
    if pattern.state is PatternState.CANARY and verdict is Verdict.AS_GOOD:
        return moved(pattern, PatternState.ACTIVE, "as good as control", trial.figures)
    return None


def _was_worse(pattern: Pattern) -> bool:
    """Whether it was taken back from use; then only the whole test brings it back."""
    return any(step.data.get("reason") == WORSE_REASON for step in pattern.evidence if step.step == "moved")


def moved(pattern: Pattern, state: PatternState, reason: str, figures: JsonObject) -> Pattern | None:
    """The entry in another state with the step as evidence; None where no such step exists."""
    if state not in _NEXT[pattern.state]:
        return None
    step = Evidence(step="moved", data={"from": pattern.state, "to": state, "reason": reason, **figures})
    return replace(pattern, state=state, evidence=(*pattern.evidence, step))


def displaced(entries: Iterable[Pattern], pattern: Pattern) -> tuple[Pattern, ...] | None:
    """Active entries of its exclusive group that retire when it becomes active; None if a pinned one keeps it out."""
    if pattern.exclusive_group is None:
        return ()
    others = [
        entry
        for entry in entries
        if entry.exclusive_group == pattern.exclusive_group
        and entry.state is PatternState.ACTIVE
        and (entry.kind, entry.id) != (pattern.kind, pattern.id)
    ]
    if any(entry.pinned for entry in others):
        return None
    retired = (moved(entry, PatternState.RETIRED, "displaced in its group", {"by": pattern.id}) for entry in others)
    return tuple(entry for entry in retired if entry)


def unused(pattern: Pattern, used_ms: float, now_ms: float, days: int = UNUSED_DAYS) -> Pattern | None:
    """The entry retired, if it is active, not pinned, and was last used longer ago than that."""
    if pattern.pinned or pattern.state is not PatternState.ACTIVE or now_ms - used_ms < days * DAY_MS:
        return None
    return moved(pattern, PatternState.RETIRED, "unused", {"days": int((now_ms - used_ms) // DAY_MS)})
