"""Outputs as they come → patterns: the pool of what no known format parsed, attempts to learn from it, and their proof.

Pure: the caller runs streams and keeps the registry. `Learner.take` gets each stream's text with its output; when
there is enough that is new, `Learner.attempts` induces a format from the pool, proves it, and gives a `Pattern`, with
every figure as evidence. What the pattern explains leaves the pool, so that several formats are learned one after the
other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import orjson

from processors.learning.entry import definition_of
from processors.learning.induce import Induced, induce
from processors.learning.prove import Proof, Trial, prove
from processors.learning.sample import Sample
from processors.learning.shadowing import shadowed
from processors.learning.shape import RUN
from schemas.jsonvalue import JsonObject
from schemas.output import Output
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from schemas.toolcall import CallStatus

POOL_MAX = 240
"""Outputs kept that no known format parsed; the oldest of the source with most of them goes first."""
GOOD_MAX = 200
"""Outputs kept that a known format parsed: what a new pattern must not change."""
FIRST_ATTEMPT = 6
"""Unparsed outputs naming a tool before the first attempt; each later one waits for half as many more."""
REFINE_AT = (10, 20, 40)
"""Outputs of a learned format at which it is learned again: reasoning and frames need more than calls do."""
MEMBERS_MAX = 60
OPENER_CUT_MIN = 3
"""Fewest characters of an opener at an output's end that count as one that was cut off."""
READ = frozenset({CallStatus.OK, CallStatus.REPAIRED, CallStatus.RENAMED, CallStatus.REFUSED, CallStatus.TRUNCATED})

Run = Callable[[Sample, JsonObject | None], Output]
"""Runs one sample through the pipeline, with a format's definition added or without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What came of one try to learn."""

    pattern: Pattern
    accepted: bool


@dataclass(slots=True)
class Learner:
    """Collects what was not parsed, and learns from it."""

    run: Run
    known_literals: frozenset[str] = frozenset()
    """Markers of formats in use, which no learned opener may stand in for."""
    _pool: list[Sample] = field(default_factory=list)
    _good: list[Sample] = field(default_factory=list)
    _members: dict[str, list[Sample]] = field(default_factory=dict)
    """Outputs of each format that was learned here."""
    _definitions: dict[str, JsonObject] = field(default_factory=dict)
    _naming: int = 0
    _next: int = FIRST_ATTEMPT
    _seen: int = 0

    def take(self, item: Sample, output: Output) -> list[Attempt]:
        """Keep one stream; gives what can be learned now."""
        self._seen += 1
        members = self._members.get(output.format.id or "")
        if members is not None and is_parsed(output):
            members.append(item)
            del members[:-MEMBERS_MAX]
            return self.refine(output.format.id or "") if len(members) in REFINE_AT else []
        if is_parsed(output):
            self._good = _kept(self._good, item, self._seen, GOOD_MAX)
            return []
        self._pool.append(item)
        if len(self._pool) > POOL_MAX:
            self._drop_one()
        self._naming += bool(item.anchors(0))
        if self._naming < self._next:
            return []
        self._next = self._naming + max(FIRST_ATTEMPT // 2, self._naming // 2)
        return self.attempts()

    def finish(self) -> list[Attempt]:
        """What can be learned of all that came: new formats, and more of those learned before."""
        found = self.attempts()
        for entry_id in list(self._members):
            found += self.refine(entry_id)
        return found

    def attempts(self) -> list[Attempt]:
        """Learn formats from the pool, one after the other, until one does not prove itself."""
        found = []
        while (induced := induce(self._pool)) is not None:
            attempt = self._attempt(self._pool, induced, f"learned_{_digest(induced)}")
            found.append(attempt)
            if not attempt.accepted:
                break
            self._adopt(attempt, self._pool)
        return found

    def refine(self, entry_id: str) -> list[Attempt]:
        """Learn a format again from all of its outputs; nothing if that changes nothing or proves less."""
        samples = [*self._members[entry_id], *self._pool]
        induced = induce(samples)
        if induced is None or definition_of(induced, entry_id) == self._definitions[entry_id]:
            return []
        attempt = self._attempt(samples, induced, entry_id)
        if not attempt.accepted:
            return []
        self._adopt(attempt, samples)
        return [attempt]

    def _attempt(self, samples: list[Sample], induced: Induced, entry_id: str) -> Attempt:
        definition = definition_of(induced, entry_id)
        trial = Trial(
            serve=lambda item: _read_calls(self.run(item, definition)),
            changes=lambda: self._changes(definition, induced),
        )
        proof = prove(samples, induced, trial)
        if proof.accepted and (literal := shadowed(induced, self.known_literals)):
            figures = {**proof.figures, "shadowed": literal}
            proof = replace(
                proof, accepted=False, reason="an opener that stands in for a known marker", figures=figures
            )
        return Attempt(pattern=_pattern(entry_id, definition, induced, proof), accepted=proof.accepted)

    def _adopt(self, attempt: Attempt, samples: list[Sample]) -> None:
        """What the pattern reads belongs to its format from now on."""
        entry_id, definition = attempt.pattern.id, attempt.pattern.definition
        explained = {item.id for item in samples if is_parsed(self.run(item, definition))}
        self._members[entry_id] = [item for item in samples if item.id in explained][-MEMBERS_MAX:]
        self._definitions[entry_id] = definition
        self._pool = [item for item in self._pool if item.id not in explained]

    def _changes(self, definition: JsonObject, induced: Induced) -> int:
        """Outputs that are known to be right, and other unparsed ones without the opener, that come out otherwise."""
        opener = (induced.shape.section_open or induced.shape.open).split(RUN)[0]
        others = [item for item in self._pool if not _begins(item.plain, opener) and not _shows(item, induced)]
        kept = [*self._good, *others]
        return sum(_content(self.run(item, definition)) != _content(self.run(item, None)) for item in kept)

    def _drop_one(self) -> None:
        """The oldest output of the source that has most: one source can't push out the others."""
        counts: dict[str, int] = {}
        for item in self._pool:
            counts[item.source] = counts.get(item.source, 0) + 1
        largest = max(counts, key=lambda source: counts[source])
        place = next(place for place, item in enumerate(self._pool) if item.source == largest)
        del self._pool[place]


def is_parsed(output: Output) -> bool:
    """Whether a known format read the stream: its calls, or reasoning that its markers close."""
    return bool(output.reasoning.nodes) or any(call.status in READ for call in output.tool_calls)


def _read_calls(output: Output) -> list[tuple[str | None, JsonObject]]:
    """The calls that could be made."""
    made = {CallStatus.OK, CallStatus.REPAIRED, CallStatus.RENAMED}
    return [(call.name, call.arguments or {}) for call in output.tool_calls if call.status in made]


def _begins(text: str, opener: str) -> bool:
    """Whether a text holds an opener, or ends within one."""
    end = text.rstrip()
    return opener in text or any(end.endswith(opener[:size]) for size in range(OPENER_CUT_MIN, len(opener)))


def _shows(item: Sample, induced: Induced) -> bool:
    """Whether an output has a marker of the format around reasoning or answer, or at its end."""
    thought, frame = induced.thought, induced.frame
    literals = ((thought.open or thought.close) if thought else "", frame.open)
    if frame.end and item.plain.rstrip().endswith(frame.end):
        return True
    return any(literal and literal in item.plain for literal in literals)


def _content(output: Output) -> str:
    """What must not change: everything but which format it was read as."""
    calls = [(call.name, call.arguments, call.status) for call in output.tool_calls]
    return repr((output.response, output.reasoning.text, calls))


def _kept(items: list[Sample], item: Sample, seen: int, limit: int) -> list[Sample]:
    """A sample of all that came, spread over time, without chance: the n-th replaces a place made from its number."""
    if len(items) < limit:
        return [*items, item]
    place = int.from_bytes(blake2b(str(seen).encode(), digest_size=4).digest()) % seen
    if place < limit:
        items[place] = item
    return items


def _digest(induced: Induced) -> str:
    literals = orjson.dumps([induced.shape.open, induced.shape.section_open, induced.shape.reader])
    return blake2b(literals, digest_size=4).hexdigest()


def _pattern(entry_id: str, definition: JsonObject, induced: Induced, proof: Proof) -> Pattern:
    steps: Sequence[tuple[str, JsonObject]] = (
        ("induced", {"trace": list(induced.trace)}),
        ("proof", {**proof.figures, "accepted": proof.accepted, "reason": proof.reason}),
    )
    return Pattern(
        id=entry_id,
        version=1,
        kind=PatternKind.FORMAT,
        definition=definition,
        state=PatternState.ACTIVE if proof.accepted else PatternState.CANDIDATE,
        evidence=tuple(Evidence(step=step, data=data) for step, data in steps),
        counters={"support": len(induced.valid)},
    )
