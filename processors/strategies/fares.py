"""Results of calls → how strategies fare, and which move on or are taken back.

A blocking strategy says that a call will fail: whether that is so is seen on the calls that went their usual way while
it was watched. A call that it would have held up and that failed counts for it, one that went well against it. A step
or a fallback is seen where it was served: by what came of the call. One that makes calls much slower counts against
itself. What the counts mean is the lifecycle's to say, as it is for learned patterns.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from statistics import median

from processors.attribution.seen import FAILED
from processors.learning.lifecycle import Approval, Trial, judged, unused
from processors.strategies.strategy import Strategy, strategy_of
from schemas.pattern import Pattern, PatternState
from schemas.toolcall import AppliedStrategy, ToolResult

SLOWER, SLOWER_MS = 5.0, 1_000.0
"""A call is much slower if it takes that many times the usual time, and that much more."""
DURATIONS_KEPT = 50
KNOWN_MAX = 100_000
"""Results remembered, so that one that is published again counts once."""
WATCHED = frozenset({PatternState.SHADOW, PatternState.CANARY, PatternState.ACTIVE})


@dataclass(slots=True)
class Figures:
    """What was seen of one strategy since it came into its state."""

    pattern: Pattern
    strategy: Strategy
    trial: Trial = field(default_factory=Trial)
    used: int = 0
    """Calls for which it did something."""
    watched: int = 0
    """Calls that it fits and that went their usual way."""
    used_ms: float = 0.0
    """When it last did something."""
    usual_ms: deque[float] = field(default_factory=lambda: deque(maxlen=DURATIONS_KEPT))

    @property
    def counters(self) -> dict[str, int]:
        """For its entry."""
        return {"used": self.used, "watched": self.watched, "valid": self.trial.valid, "invalid": self.trial.invalid}


class Fares:
    """Follows all strategies in play."""

    def __init__(self) -> None:
        self.figures: dict[str, Figures] = {}
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def use(self, entries: Iterable[Pattern], now_ms: float) -> None:
        """Strategies as the registry has them; one whose state changed begins anew."""
        kept = {}
        for pattern in entries:
            strategy = strategy_of(pattern)
            if strategy is None or pattern.state not in WATCHED:
                continue
            known = self.figures.get(pattern.id)
            if known is not None and known.pattern.state is pattern.state and known.strategy == strategy:
                known.pattern = pattern
                kept[pattern.id] = known
            else:
                kept[pattern.id] = Figures(pattern, strategy, used_ms=now_ms)
        self.figures = kept

    def feed(self, result: ToolResult, at_ms: float) -> list[Pattern]:
        """Take one result; gives the entries that are to move."""
        key = (result.stream_id, result.call_id)
        if not result.strategies or key in self._known:
            return []
        self._known[key] = None
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        moves = []
        for applied in result.strategies:
            figures = self.figures.get(applied.id)
            # What an older version did says nothing about this one.
            if figures is not None and applied.version == figures.pattern.version:
                moves += self._counted(figures, applied, result, at_ms)
        return moves

    def verdict(self, strategy_id: str, *, is_right: bool) -> list[Pattern]:
        """A person looked at a call that a strategy held up, and said whether that was right."""
        figures = self.figures.get(strategy_id)
        return _after(figures, is_valid=is_right) if figures is not None else []

    def idle(self, now_ms: float) -> list[Pattern]:
        """Active strategies that did nothing for so long that they retire."""
        found = []
        for figures in self.figures.values():
            retired = unused(figures.pattern, figures.used_ms, now_ms)
            if retired is not None and not figures.strategy.is_critical:
                found.append(_with_counters(retired, figures))
        return found

    def _counted(self, figures: Figures, applied: AppliedStrategy, result: ToolResult, at_ms: float) -> list[Pattern]:
        did_something = applied.did != "nothing"
        figures.watched += not applied.is_served
        if applied.is_served and did_something:
            figures.used += 1
            figures.used_ms = max(figures.used_ms, at_ms)
        if not applied.is_served and result.duration_ms is not None:
            figures.usual_ms.append(result.duration_ms)
        is_valid = _is_valid(figures, applied, result)
        return [] if is_valid is None else _after(figures, is_valid=is_valid)


def _is_valid(figures: Figures, applied: AppliedStrategy, result: ToolResult) -> bool | None:
    """Whether a result speaks for a strategy or against it; None: neither."""
    if applied.is_served and _is_much_slower(figures, result):
        return False
    if figures.strategy.is_blocking:
        is_seen = not applied.is_served and applied.did in {"review", "skip"}
        return result.status in FAILED if is_seen and (result.status in FAILED or result.status == "ok") else None
    if not applied.is_served or applied.did == "nothing":
        return None
    return result.status == "ok" and applied.is_answered is True


def _is_much_slower(figures: Figures, result: ToolResult) -> bool:
    if result.duration_ms is None or len(figures.usual_ms) < DURATIONS_KEPT // 5:
        return False
    usual = median(figures.usual_ms)
    return result.duration_ms > usual * SLOWER and result.duration_ms > usual + SLOWER_MS


def _after(figures: Figures, *, is_valid: bool) -> list[Pattern]:
    is_active = figures.pattern.state is PatternState.ACTIVE
    figures.trial = figures.trial.after(is_valid=is_valid, in_use=is_active)
    moved = judged(figures.pattern, figures.trial, Approval.CANARY)
    if moved is None:
        return []
    found = _with_counters(moved, figures)
    figures.trial = Trial()
    return [found]


def _with_counters(pattern: Pattern, figures: Figures) -> Pattern:
    return replace(pattern, counters=figures.counters)
