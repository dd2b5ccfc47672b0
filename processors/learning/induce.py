"""Samples that no known format parsed → the shape that reads most of them, if one does.

Steps: anchors → openers → hypotheses of every reader → read the samples with each → choose → reasoning literals.
The choice is by (valid outputs − 2 × invalid), then by shortest description: literals, text left unexplained, 40 for
schema typing, 8 per decoding.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from processors.learning.bodies import hypotheses, quoted
from processors.learning.frames import Frame, find_frame
from processors.learning.objects import object_shapes
from processors.learning.openers import find_openers
from processors.learning.reading import ReadCall, read_section
from processors.learning.sample import Anchor, Sample
from processors.learning.sections import with_section
from processors.learning.shape import RUN, Reader, Shape, Typing, filled
from processors.learning.tails import tails
from processors.learning.thoughts import Thought, find_thought, whole_thought
from processors.learning.values import CALL_CHARS_MAX, fits
from schemas.jsonvalue import JsonObject

_NAME = re.compile(r"[\w.\-]+")
OPENERS_TRIED = 6
CALLS_PER_OUTPUT_MAX = 64
SCHEMA_TYPING_COST = 40
DECODING_COST = 8
RUN_COST = 16
"""A word that differs from call to call explains nothing, and could as well be the beginning of a value."""
OBJECT_GAIN = 80
"""A whole object explains order and quoting of its keys, which the other readers take as literals."""
VALID_MIN = 3
"""Fewest outputs with valid calls."""
WITH_ARGUMENTS_MIN = 2
"""Fewest of them with arguments: calls without any say nothing about the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one shape makes of one sample."""

    calls: tuple[ReadCall, ...]
    misread: int
    """Openers with a registered name behind them that did not read, the one at a cut-off end apart."""
    valid: bool


_Scored = tuple[tuple[int, int], Shape, dict[int, Reading]]
"""Score (outputs, then cost as a negative number), the shape, what it makes of each sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Induced:
    """The chosen shape with what speaks for it."""

    shape: Shape
    thought: Thought | None
    frame: Frame
    valid: frozenset[int]
    invalid: frozenset[int]
    runner_up: Shape | None
    """The next best shape that reads as many outputs but gives other arguments: then it is ambiguous."""
    trace: tuple[str, ...]


def induce(samples: Sequence[Sample]) -> Induced | None:
    """The best shape for a pool of samples, or None when nothing is certain enough."""
    anchors = [anchor for number, item in enumerate(samples) for anchor in item.anchors(number)]
    if len({anchor.sample for anchor in anchors}) < VALID_MIN:
        return None
    scored: list[_Scored] = []
    for shape in _shapes(samples, anchors):
        readings = read_all(samples, shape)
        score = _score(samples, shape, readings)
        if score is not None:
            scored.append((score, shape, readings))
    if not scored:
        return None
    scored.sort(key=lambda item: item[0], reverse=True)
    _, shape, readings = scored[0]
    if shape.section_open and not shape.section_close:
        shape = replace(shape, section_open="")  # what stands before first calls only belongs to the answer
    valid = frozenset(number for number, reading in readings.items() if reading.valid and reading.calls)
    invalid = frozenset(number for number, reading in readings.items() if not reading.valid)
    first_calls = {number: reading.calls[0].start for number, reading in readings.items() if reading.calls}
    if shape.section_open:
        first_calls = {n: samples[n].plain.rfind(shape.section_open, 0, at + 1) for n, at in first_calls.items()}
    starts = {n: at for n, at in first_calls.items() if at >= 0}
    thought = whole_thought(find_thought(samples, starts, shape))
    ends = {n: readings[n].calls[-1].end for n in starts}
    frame, shape = find_frame(samples, {n: (starts[n], ends[n]) for n in starts}, shape, thought)
    return Induced(
        shape=shape, thought=thought, frame=frame, valid=valid, invalid=invalid,
        runner_up=_rival(scored, readings), trace=_trace(samples, shape, scored),
    )  # fmt: skip


def _shapes(samples: Sequence[Sample], anchors: Sequence[Anchor]) -> Iterator[Shape]:
    for opener in find_openers(samples, anchors)[:OPENERS_TRIED]:
        behind = tails(samples, opener)
        for shape in hypotheses(samples, opener):
            yield from _split_and_whole(shape)
            other = quoted(shape, behind) if shape.reader is Reader.PAIRS and shape.typing is Typing.SCHEMA else None
            if other is not None:
                yield from _split_and_whole(other)
    for shape in object_shapes(samples, anchors):
        yield from _split_and_whole(shape)


def _split_and_whole(shape: Shape) -> Iterator[Shape]:
    """The shape with its section apart first, so that it wins ties: it also reads what was not seen."""
    split = with_section(shape)
    if split is not None:
        yield split
    yield shape


def read_all(samples: Sequence[Sample], shape: Shape) -> dict[int, Reading]:
    """Number of a sample → what the shape makes of it; samples without the opener are left out."""
    trigger = shape.open.split(RUN)[0]
    return {
        number: read_sample(item, shape)
        for number, item in enumerate(samples)
        if trigger in item.plain and (not shape.section_open or shape.section_open in item.plain)
    }


def read_sample(item: Sample, shape: Shape) -> Reading:
    """All calls of one sample, by one cursor from left to right."""
    calls: list[ReadCall] = []
    misread, at, text = 0, 0, item.plain
    trigger = shape.open.split(RUN)[0]
    while len(calls) < CALLS_PER_OUTPUT_MAX:
        at = text.find(trigger, at)
        if at < 0:
            break
        if shape.line_start and at and text[:at].rstrip(" \t")[-1:] not in {"\n", ""}:
            at += 1
            continue
        found = read_section(text, at, shape, item.tools)
        if not found:
            misread += _is_misread(item, at + len(trigger), shape)
            at += 1
            continue
        calls += found
        at = max(found[-1].end, at + 1)
    valid = not misread and all(_is_valid(call, item) and not _holds_a_pair(call, item, shape) for call in calls)
    return Reading(calls=tuple(calls), misread=misread, valid=valid)


def _is_misread(item: Sample, at: int, shape: Shape) -> bool:
    """Whether a registered name stands behind an opener and its call is closed: else it was cut off, or only text."""
    rest = item.plain[at : at + CALL_CHARS_MAX]
    name = _NAME.match(rest)
    is_named = name is not None and name.group() in item.tools
    end = shape.section_close or filled(shape.close).strip()
    return (is_named or shape.reader is Reader.OBJECT) and bool(end) and end in rest


def _is_valid(call: ReadCall, item: Sample) -> bool:
    properties = item.tools.get(call.name)
    if properties is None:
        return False
    return all(key in properties and fits(value, properties[key]) for key, value in call.arguments.items())


def _holds_a_pair(call: ReadCall, item: Sample, shape: Shape) -> bool:
    """Whether a raw value seems to hold the next pair: its separator is not the shape's then."""
    head = shape.key_end.split(RUN)[0]
    names = item.tools.get(call.name, {})
    for written in call.raw.values() if head.strip() else ():
        for match in _NAME.finditer(written):
            if match.group() in names and written.startswith(head, match.end()):
                return True
    return False


def _score(samples: Sequence[Sample], shape: Shape, readings: dict[int, Reading]) -> tuple[int, int] | None:
    valid = [n for n, reading in readings.items() if reading.valid and reading.calls]
    invalid = [n for n, reading in readings.items() if not reading.valid]
    with_arguments = [n for n in valid if any(call.arguments for call in readings[n].calls)]
    if len(valid) < VALID_MIN or len(with_arguments) < WITH_ARGUMENTS_MIN:
        return None
    if shape.typing is Typing.SCHEMA and not shape.close.strip():
        return None  # nothing would end a raw value
    cost = sum(len(literal) + RUN_COST * literal.count(RUN) for literal in shape.literals)
    cost += DECODING_COST * len(shape.decode)
    cost += SCHEMA_TYPING_COST if shape.typing is Typing.SCHEMA else 0
    cost -= OBJECT_GAIN if shape.reader is Reader.OBJECT else 0
    for number in valid:
        cost += sum(len(v) - len(v.strip()) for call in readings[number].calls for v in call.raw.values())
        text = samples[number].plain
        last = readings[number].calls[-1].end
        rest = text[last:].strip()
        cost += len(rest.removeprefix(shape.section_close).strip()) if shape.section_close else len(rest)
    return len(valid) - 2 * len(invalid), -cost


def _rival(scored: Sequence[_Scored], best: dict[int, Reading]) -> Shape | None:
    """A shape that reads as many outputs as validly but gives other arguments."""
    top = scored[0][0][0]
    for score, shape, readings in scored[1:]:
        if score[0] < top:
            return None
        if shape.typing is Typing.SCHEMA and scored[0][1].typing is Typing.SELF:
            continue  # a value that tells its own type and end needs no guess
        for number, reading in readings.items():
            mine = best.get(number)
            theirs = list(map(_said, reading.calls))
            if mine and list(map(_said, mine.calls))[: len(theirs)] != theirs:
                return shape  # one that reads only the first of several calls leaves the rest unexplained
    return None


def _said(call: ReadCall) -> tuple[str, JsonObject]:
    """What a call says, the edges of its texts apart: which white space belongs to a value, the cost decides."""
    stripped = {key: value.strip() if isinstance(value, str) else value for key, value in call.arguments.items()}
    return call.name, stripped


def _trace(samples: Sequence[Sample], shape: Shape, scored: Sequence[_Scored]) -> tuple[str, ...]:
    return (
        f"{len(samples)} samples, {len(scored)} hypotheses read at least {VALID_MIN} outputs",
        f"chosen: {shape.reader} behind {shape.open!r}, score {scored[0][0][0]}, cost {-scored[0][0][1]}",
    )
