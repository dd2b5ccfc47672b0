"""The registry's snapshot in force → the index of its strategies, made anew only when the registry changed."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from processors.snapshot import Snapshot
from processors.strategies.match import IN_PLAY, StrategyIndex
from schemas.pattern import PatternKind

log = logging.getLogger(__name__)


@dataclass(slots=True)
class StrategiesInUse:
    """Gives the strategies of the snapshot that holds now."""

    current: Callable[[], Snapshot]
    _version: int | None = None
    _index: StrategyIndex = field(default_factory=StrategyIndex)

    def __call__(self) -> StrategyIndex:
        """The index."""
        snapshot = self.current()
        if snapshot.version != self._version:
            self._version = snapshot.version
            self._index = StrategyIndex(snapshot.of(PatternKind.STRATEGY, *IN_PLAY))
            if left_out := self._index.left_out:
                log.warning("registry: %d strategies were left out, the first is %s", len(left_out), left_out[0])
        return self._index
