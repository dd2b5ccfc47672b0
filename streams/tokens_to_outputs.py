"""The hot path: which processors, in which order. Topics are topics.yaml's, the loop is worker.py's.

Each stream's processors are built from the snapshot that is in force when its first record arrives at the stage, and
keep it for the life of the stream.
"""

from collections import deque
from collections.abc import Callable

from processors.knowledge import Knowledge, knowledge_of, with_placeholders
from processors.learning.lifecycle import CANARY_SHARE
from processors.pipeline import clean_stage, reason_stage, tool_stage
from processors.snapshot import Snapshot
from processors.tokens import SegmentStage
from streams.audit import MasterKeys, audited
from streams.settings import ConfigError
from streams.stage import StageBuild

KEPT = 3
"""Compiled snapshots that are kept: the one in force, the one before it, and one that is being made."""


class Compiled:
    """Snapshots' compiled form, made once for each; a new one is made in a thread before it comes into force."""

    def __init__(self, canary_share: float = CANARY_SHARE, pii_placeholders: str = "plain") -> None:
        """pii_placeholders: as in the settings; raises ConfigError for what is neither."""
        if pii_placeholders not in {"plain", "numbered"}:
            raise ConfigError(f"HERMES_PII_PLACEHOLDERS: {pii_placeholders!r}: `plain` or `numbered`")
        self._canary_share = canary_share
        self._is_consistent = pii_placeholders == "numbered"
        self._made: deque[tuple[Snapshot, Knowledge]] = deque(maxlen=KEPT)

    def of(self, snapshot: Snapshot) -> Knowledge:
        """What the processors of a stream that starts now are built with; ValueError where an entry is malformed."""
        for made, knowledge in self._made:
            if made is snapshot:
                return knowledge
        knowledge = with_placeholders(knowledge_of(snapshot, self._canary_share), is_consistent=self._is_consistent)
        self._made.appendleft((snapshot, knowledge))
        return knowledge


def hot_path(
    snapshot: Callable[[], Snapshot], masters: MasterKeys | None = None, compiled: Compiled | None = None
) -> tuple[StageBuild, ...]:
    """The four stages, built from the snapshot in force; with master keys, originals go out sealed."""
    made = compiled or Compiled()

    def known() -> Knowledge:
        return made.of(snapshot())

    return (
        StageBuild(name="segment", build=lambda: SegmentStage(known())),
        StageBuild(name="reason", build=lambda: reason_stage(known())),
        StageBuild(name="tool", build=lambda: tool_stage(known())),
        StageBuild(name="clean", build=lambda: audited(known(), masters) if masters else clean_stage(known())),
    )
