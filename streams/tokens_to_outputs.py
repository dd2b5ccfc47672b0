"""The hot path: which processors, in which order. Topics are topics.yaml's, the loop is worker.py's.

Each stream's processors are built from the snapshot that is in force when its first record arrives at the stage, and
keep it for the life of the stream.
"""

from collections.abc import Callable

from processors.knowledge import Knowledge, knowledge_of
from processors.pipeline import clean_stage, reason_stage, tool_stage
from processors.snapshot import Snapshot
from processors.tokens import SegmentStage
from streams.audit import MasterKeys, audited
from streams.stage import StageBuild


class Compiled:
    """A snapshot's compiled form, made when the snapshot changes and not before."""

    def __init__(self) -> None:
        self._of: tuple[Snapshot, Knowledge] | None = None

    def of(self, snapshot: Snapshot) -> Knowledge:
        """What the processors of a stream that starts now are built with."""
        if self._of is None or self._of[0] is not snapshot:
            self._of = (snapshot, knowledge_of(snapshot))
        return self._of[1]


def hot_path(snapshot: Callable[[], Snapshot], masters: MasterKeys | None = None) -> tuple[StageBuild, ...]:
    """The four stages, built from the snapshot in force; with master keys, originals go out sealed."""
    compiled = Compiled()

    def known() -> Knowledge:
        return compiled.of(snapshot())

    return (
        StageBuild(name="segment", build=lambda: SegmentStage(known())),
        StageBuild(name="reason", build=lambda: reason_stage(known())),
        StageBuild(name="tool", build=lambda: tool_stage(known())),
        StageBuild(name="clean", build=lambda: audited(known(), masters) if masters else clean_stage(known())),
    )
