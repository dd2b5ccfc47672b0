"""New strategies and moves of known ones → the change that the registry, as it is now, allows."""

from collections.abc import Sequence

from processors.learning.lifecycle import IN_TRIAL
from processors.snapshot import Snapshot, key_of
from processors.strategies.match import IN_PLAY
from schemas.pattern import Pattern, PatternKind, PatternState
from streams.registry_changes import following, with_moves

MOVABLE = IN_TRIAL | {PatternState.ACTIVE}


def strategy_changes(
    snapshot: Snapshot, entries: Sequence[Pattern], moves: Sequence[Pattern] = ()
) -> tuple[Pattern, ...]:
    """What was decided about a strategy stands; and about the same calls one at a time is tried."""
    changes: dict[str, Pattern] = {}
    busy = {one.exclusive_group for one in snapshot.of(PatternKind.STRATEGY, *IN_PLAY)}
    for entry in entries:
        if key_of(entry) not in snapshot.entries and entry.exclusive_group not in busy:
            changes[key_of(entry)] = following(snapshot, entry)
            busy.add(entry.exclusive_group)
    with_moves(snapshot, moves, changes, MOVABLE)
    return tuple(changes.values())
