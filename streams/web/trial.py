"""A candidate and its samples → what the pipeline makes of each sample without it and with it: the dry run."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

from processors.knowledge import knowledge_of
from processors.pipeline import run
from processors.snapshot import Snapshot, key_of
from processors.strategies.decide import Did
from processors.strategies.prove import rehearsed
from processors.strategies.samples import case_of_sample
from processors.strategies.strategy import strategy_of
from schemas.output import Output
from schemas.pattern import Pattern, PatternState
from schemas.token import Meta
from schemas.toolcall import EXECUTABLE

SAMPLES_MAX = 40
SAMPLE_CHARS_MAX = 20_000
NOT_APPLIED = "does not apply"


@dataclass(frozen=True, slots=True)
class Trial:
    """One sample before and after."""

    text: str
    should_change: bool
    before: Output
    after: Output

    @property
    def is_changed(self) -> bool:
        """Whether the candidate makes a difference that a reader of the output sees."""
        return _seen(self.before) != _seen(self.after)

    @property
    def is_as_wanted(self) -> bool:
        """A sample to mend is mended into something at least as executable; one to leave alone is left alone."""
        if not self.should_change:
            return not self.is_changed
        return self.is_changed and executable(self.after) >= executable(self.before)


def executable(output: Output) -> int:
    """Calls of an output that may be run."""
    return sum(call.status in EXECUTABLE for call in output.tool_calls)


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """One kept call and what a strategy would do about it."""

    text: str
    should_change: bool
    did: str

    @property
    def is_as_wanted(self) -> bool:
        """A failure is handled in some way, a good call goes its usual way."""
        return (self.did not in {Did.NOTHING, NOT_APPLIED}) is self.should_change


def rehearsals(pattern: Pattern) -> list[Rehearsed]:
    """What a strategy would do about the calls that its entry keeps; raises ValueError for an entry that holds none."""
    strategy = strategy_of(pattern)
    if strategy is None:
        raise ValueError("the entry holds no strategy")
    found = []
    for text, should in [*_some(pattern.positives, True), *_some(pattern.negatives, False)]:
        case = case_of_sample(text)
        did = rehearsed(strategy, case) if case is not None else None
        found.append(Rehearsed(text, should, did.value if did is not None else NOT_APPLIED))
    return found


def tried(pattern: Pattern, snapshot: Snapshot) -> list[Trial]:
    """Run each sample of a pattern twice; the registry is not touched."""
    active = replace(pattern, state=PatternState.ACTIVE)
    without = {key: entry for key, entry in snapshot.entries.items() if key != key_of(pattern)}
    before = knowledge_of(Snapshot(snapshot.version, MappingProxyType(without)))
    after = knowledge_of(Snapshot(snapshot.version, MappingProxyType({**without, key_of(pattern): active})))
    samples = [*_some(pattern.positives, True), *_some(pattern.negatives, False)]
    return [
        Trial(text, should, run("trial", [text], Meta(), before), run("trial", [text], Meta(), after))
        for text, should in samples
    ]


def _some(texts: Iterable[str], should_change: bool) -> list[tuple[str, bool]]:
    return [(text[:SAMPLE_CHARS_MAX], should_change) for text in list(texts)[:SAMPLES_MAX]]


def _seen(output: Output) -> tuple[object, ...]:
    calls = tuple((call.name, str(call.status), str(call.arguments)) for call in output.tool_calls)
    return output.response, output.reasoning.text, calls
