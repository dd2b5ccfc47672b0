"""Outputs that learned formats served → what becomes of those formats: back to shadow, or retired.

Each output counts once, for the format that it was read with. An active format that does worse than control goes back
to shadow by the same sequential test that let a canary in; from there only the whole test brings it back. The day of
last use is kept in the entry, written at most once a day, so that it outlives the process; a format that served nothing
for `unused_days` retires.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from processors.learning.lifecycle import DAY_MS, UNUSED_DAYS, Approval, Trial, judged, unused
from schemas.failure import FailureCode
from schemas.output import Output
from schemas.pattern import Pattern, PatternState

MISREAD = frozenset({FailureCode.UNPARSEABLE_CALL, FailureCode.REFUSED_CALL, FailureCode.UNKNOWN_TOOL})
USED_DAY = "used_day"
"""Counter of an entry: the day of its last use, in days since 1970."""


@dataclass(slots=True)
class _Used:
    pattern: Pattern
    trial: Trial = field(default_factory=Trial)


class InUse:
    """Follows the active formats that were learned."""

    def __init__(self, unused_days: int = UNUSED_DAYS) -> None:
        self._unused_days = unused_days
        self._used: dict[str, _Used] = {}
        self._looked_day = 0

    def follow(self, entries: Iterable[Pattern]) -> None:
        """Entries as the registry has them; one whose definition or state changed begins anew."""
        kept: dict[str, _Used] = {}
        for pattern in entries:
            if pattern.state is PatternState.ACTIVE:
                known = self._used.get(pattern.id)
                is_same = known is not None and known.pattern.definition == pattern.definition
                kept[pattern.id] = _Used(pattern, known.trial if known is not None and is_same else Trial())
        self._used = kept

    def ids(self) -> frozenset[str]:
        """Formats of which outputs are wanted."""
        return frozenset(self._used)

    def saw(self, output: Output, control: float, now_ms: float) -> tuple[list[Pattern], list[Pattern]]:
        """Take one output; gives entries that are to move, and entries whose counters alone change.

        control: share of valid outputs of other formats.
        """
        day = int(now_ms // DAY_MS)
        moves = self._idle(now_ms) if day > self._looked_day else []
        self._looked_day = max(day, self._looked_day)
        used = self._used.get(output.format.id or "")
        if used is None or output.rev:
            return moves, []
        used.trial = used.trial.after(is_valid=not is_misread(output), control=control, in_use=True)
        if (moved := judged(used.pattern, used.trial, Approval.CANARY)) is not None:
            del self._used[used.pattern.id]
            return [*moves, moved], []
        if day <= used.pattern.counters.get(USED_DAY, 0):
            return moves, []
        used.pattern = replace(used.pattern, counters=used.pattern.counters | {USED_DAY: day})
        return moves, [used.pattern]

    def _idle(self, now_ms: float) -> list[Pattern]:
        found = []
        for used in self._used.values():
            since_ms = max(used.pattern.counters.get(USED_DAY, 0) * DAY_MS, used.pattern.ts or 0.0)
            retired = unused(used.pattern, since_ms, now_ms, self._unused_days) if since_ms else None
            found += [retired] if retired else []
        return found


def is_misread(output: Output) -> bool:
    """Whether calls of an output could not be read or used: its format may be the wrong one."""
    return any(failure.code in MISREAD for failure in output.failures)
