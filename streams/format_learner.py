"""Samples on the failures topic → formats in the registry; everything else is counted by signature as before.

The samples that the learner holds live in this process: after a restart they are collected anew. What was let in is
in the registry, and stays.
"""

from collections.abc import Callable
from dataclasses import replace

from processors.knowledge import Knowledge
from processors.learn import Attempt, Learner
from processors.learning.rehearse import Rehearsal
from processors.learning.sample import sample
from schemas.failure import Failure
from schemas.pattern import Pattern, PatternState
from streams.failures_to_patterns import Decide, Signatures
from streams.registry_changes import following


class FormatLearner:
    """Learns formats from samples; other failures go to `Signatures`."""

    def __init__(self, known: Callable[[], Knowledge], *, is_auto: bool) -> None:
        """is_auto: a proven pattern is active at once; else it waits as a candidate for a person."""
        self._known = known
        self._is_auto = is_auto
        self._rehearsal = Rehearsal(known())
        self._learner = Learner(self._rehearsal.run)
        self._signatures = Signatures()

    def observe(self, failure: Failure, count: int) -> Decide | None:
        """Take one failure; give the change of the registry that is wanted now."""
        given = (failure.context or {}).get("sample")
        if not isinstance(given, dict):
            return self._signatures.observe(failure, count)
        self._rehearsal.use(self._known())
        item = sample({"id": failure.stream_id, **given})
        attempts = self._learner.take(item, self._rehearsal.run(item, None))
        patterns = [self._pattern(attempt) for attempt in attempts]
        return (lambda snapshot: tuple(following(snapshot, pattern) for pattern in patterns)) if patterns else None

    def _pattern(self, attempt: Attempt) -> Pattern:
        waits = attempt.accepted and not self._is_auto
        return replace(attempt.pattern, state=PatternState.CANDIDATE) if waits else attempt.pattern
