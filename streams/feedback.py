"""Labelled sentences → a new version of the registry's feedback entry, if the guard set does not lose.

The entry is `reasoning/feedback`; each accepted batch is one version with both figures as evidence, so
`hermes-streams registry rollback VERSION` goes back.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from processors.reasoning.feedback import Delta, Labelled, Outcome, take_feedback
from processors.reasoning.options import FeedbackEntry, entries_of, options_of
from processors.snapshot import Snapshot
from schemas.jsonvalue import JsonObject
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from streams.registry_changes import Registry, edit, following

ENTRY = "feedback"
EVIDENCE_MAX = 20
"""Batches whose figures stay on the entry; older ones are in the registry's log."""


@dataclass(slots=True)
class _Change:
    """What the last decision was: `edit` may decide more than once."""

    rows: Sequence[Labelled]
    outcome: Outcome | None = None

    def decide(self, snapshot: Snapshot) -> tuple[Pattern, ...]:
        others = [entry.definition for entry in snapshot.cues if entry.id != ENTRY]
        known = snapshot.get(PatternKind.REASONING, ENTRY)
        is_active = known is not None and known.state is PatternState.ACTIVE
        old = _delta(known.definition) if known and is_active else Delta()
        self.outcome = take_feedback(options_of(others).model, old, self.rows)
        if not self.outcome.is_accepted:
            return ()
        return (_entry(snapshot, self.outcome, known.evidence if known else ()),)


async def give_feedback(registry: Registry, rows: Sequence[Labelled]) -> tuple[Outcome, int | None]:
    """What came of the rows, and the registry version that has them; None when they were refused."""
    change = _Change(rows)
    written = await edit(registry, change.decide)
    assert change.outcome is not None, "edit decides at least once"
    return change.outcome, written[0].registry_version if written else None


def _delta(definition: JsonObject) -> Delta:
    (entry,) = entries_of([definition])
    return entry.delta if isinstance(entry, FeedbackEntry) else Delta()


def _entry(snapshot: Snapshot, outcome: Outcome, evidence: Sequence[Evidence]) -> Pattern:
    columns = {str(column): change for column, change in outcome.delta.columns.items()}
    definition = {"type": "feedback", "delta": {"columns": columns, "sentences": outcome.delta.sentences}}
    figures = {"before": asdict(outcome.before), "after": asdict(outcome.after), "step": outcome.step}
    pattern = Pattern(
        id=ENTRY, version=1, kind=PatternKind.REASONING, definition=definition, state=PatternState.ACTIVE,
        evidence=(*evidence[1 - EVIDENCE_MAX :], Evidence(step="feedback", data=figures)),
    )  # fmt: skip
    return following(snapshot, pattern)
