"""Samples on the failures topic → formats in the registry; everything else is counted by signature as before.

A proven format that is still in trial is run beside: each further sample is read with it, and the figures move it on
or take it back (`processors.learning.lifecycle`). Outputs that a canary or an active entry served count too. Samples
that the learner holds live in this process: after a restart they are collected anew, and trials begin to count again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from processors.catalog import load_formats
from processors.knowledge import Knowledge
from processors.learn import Attempt, Learner, is_parsed
from processors.learning.in_use import InUse, is_misread
from processors.learning.lifecycle import (
    IN_TRIAL,
    UNUSED_DAYS,
    Approval,
    Trial,
    control_share,
    entered,
    judged,
)
from processors.learning.rehearse import Rehearsal
from processors.learning.sample import Sample, sample
from processors.learning.shadowing import literals_of
from processors.snapshot import Snapshot, key_of
from schemas.failure import Failure
from schemas.output import Output
from schemas.pattern import Pattern, PatternKind, PatternState
from streams.failures_to_patterns import Decide, Signatures
from streams.registry_changes import OUT_OF_USE, following, with_moves

TRIALS_MAX = 20
"""Formats in trial that samples are read with; each costs one run for each sample."""
DECISIONS = frozenset({"moved", "decided"})
"""Steps of the evidence that stay when an entry is learned anew."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """An entry in trial with what was seen of it."""

    pattern: Pattern
    trial: Trial = field(default_factory=Trial)


class FormatLearner:
    """Learns formats from samples; other failures go to `Signatures`."""

    def __init__(
        self,
        known: Callable[[], Knowledge],
        entries: Callable[[], Snapshot],
        approval: Approval,
        unused_days: int = UNUSED_DAYS,
    ) -> None:
        """known, entries: what is in force now, compiled and as records; unused_days: after which a format retires."""
        self._known = known
        self._entries = entries
        self._approval = approval
        self._rehearsal = Rehearsal(known())
        self._learner = Learner(self._rehearsal.run, literals_of(load_formats()))
        self._signatures = Signatures()
        self._tried: dict[str, _Tried] = {}
        self._moved: dict[str, int] = {}
        """Version of an entry when this process wanted it moved: until a later one is seen, it is not tried again."""
        self._control = [0, 0]
        self._in_use = InUse(unused_days)
        self._followed: Snapshot | None = None

    def observe(self, failure: Failure, count: int) -> Decide | None:
        """Take one failure; give the change of the registry that is wanted now."""
        self._follow(self._entries())
        context = failure.context or {}
        given = context.get("sample")
        if not isinstance(given, dict):
            return self._signatures.observe(failure, count)
        self._rehearsal.use(self._known())
        item = sample({"id": failure.stream_id, **given})
        output, moves = self._read(item)
        attempts = self._learner.take(item, output)
        wanted = [self._entered(attempt) for attempt in attempts]
        return (lambda snapshot: _changes(snapshot, wanted, moves)) if wanted or moves else None

    def wanted_formats(self) -> frozenset[str]:
        """Formats of which `saw` is to be given the outputs."""
        self._follow(self._entries())
        return self._in_use.ids() | self._tried.keys()

    def saw(self, output: Output, now_ms: float) -> Decide | None:
        """Take one output that was served; give the change that it leads to."""
        self._follow(self._entries())
        moves, marks = self._in_use.saw(output, control_share(*self._control), now_ms)
        tried = self._tried.get(output.format.id or "")
        # A shadow serves nothing: what comes of it now was served before it became one.
        if tried is not None and tried.pattern.state is PatternState.CANARY and not output.rev:
            moves += self._count(tried, is_valid=not is_misread(output))
        if not (moves or marks):
            return None
        return lambda snapshot: (*_changes(snapshot, (), moves), *_marked(snapshot, marks))

    def _entered(self, attempt: Attempt) -> Pattern:
        pattern = attempt.pattern
        if not attempt.accepted:
            return pattern
        pattern = entered(pattern, self._approval, pattern.counters.get("support", 0))
        if pattern.state in IN_TRIAL and pattern.id not in self._tried and len(self._tried) < TRIALS_MAX:
            self._tried[pattern.id] = _Tried(replace(pattern, version=0))
        return pattern

    def _read(self, item: Sample) -> tuple[Output, list[Pattern]]:
        """The sample's output with what is known, else with a format in trial; and the entries that this moves."""
        output = self._rehearsal.run(item, None)
        if is_parsed(output):
            self._control[is_misread(output)] += 1
            return output, []
        moves = []
        for entry_id, tried in list(self._tried.items()):
            found = self._rehearsal.run(item, tried.pattern.definition)
            if found.format.id != entry_id or not (is_parsed(found) or is_misread(found)):
                continue
            moves += self._count(tried, is_valid=not is_misread(found))
            if is_parsed(found) and not is_parsed(output):
                output = found
        return output, moves

    def _count(self, tried: _Tried, *, is_valid: bool) -> list[Pattern]:
        control = control_share(*self._control)
        trial = tried.trial.after(is_valid=is_valid, control=control)
        entry_id = tried.pattern.id
        self._tried[entry_id] = replace(tried, trial=trial)
        moved = judged(tried.pattern, trial, self._approval)
        if moved is None:
            return []
        self._moved[entry_id] = tried.pattern.version
        del self._tried[entry_id]
        return [moved]

    def _follow(self, snapshot: Snapshot) -> None:
        """Entries in trial and in use as the registry has them, whoever put them there or took them out."""
        if snapshot is self._followed:
            return
        self._followed = snapshot
        self._in_use.follow(snapshot.of(PatternKind.FORMAT, PatternState.ACTIVE))
        for entry in snapshot.of(PatternKind.FORMAT, *PatternState):
            known = self._tried.get(entry.id)
            if entry.version <= (known.pattern.version if known else self._moved.get(entry.id, 0)):
                continue
            if entry.state not in IN_TRIAL:
                self._tried.pop(entry.id, None)
            elif known is not None and known.pattern.state is entry.state:
                self._tried[entry.id] = replace(known, pattern=entry)
            elif len(self._tried) < TRIALS_MAX:
                self._tried[entry.id] = _Tried(entry)


def _changes(snapshot: Snapshot, wanted: Sequence[Pattern], moves: Sequence[Pattern]) -> tuple[Pattern, ...]:
    """New entries and moves → the change that the registry, as it is now, allows."""
    changes: dict[str, Pattern] = {}
    for pattern in wanted:
        known = snapshot.entries.get(key_of(pattern))
        if known is None or not _is_settled(known, pattern):
            # Learned anew from more outputs, an entry stays in the state it has reached.
            state = pattern.state if known is None or known.state is PatternState.CANDIDATE else known.state
            steps = [step for step in known.evidence if step.step in DECISIONS] if known else []
            fresh = replace(pattern, state=state, evidence=(*pattern.evidence, *steps))
            changes[key_of(pattern)] = following(snapshot, fresh)
    with_moves(snapshot, moves, changes, IN_TRIAL | {PatternState.ACTIVE})
    return tuple(changes.values())


def _marked(snapshot: Snapshot, marks: Sequence[Pattern]) -> Iterator[Pattern]:
    """The day of last use, on entries that are still active."""
    for pattern in marks:
        known = snapshot.entries.get(key_of(pattern))
        if known is not None and known.state is PatternState.ACTIVE:
            yield following(snapshot, replace(known, counters=known.counters | pattern.counters))


def _is_settled(known: Pattern, pattern: Pattern) -> bool:
    """Whether what was decided or proven stands against a new proposal of the same entry."""
    is_weaker = pattern.state is PatternState.CANDIDATE and known.state is not PatternState.CANDIDATE
    return known.pinned or known.state in OUT_OF_USE or is_weaker
