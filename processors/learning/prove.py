"""An induced shape → may it be used: read again what it was not shown, and change nothing else.

Every figure of a proof is kept, so that a person can see why an entry was, or was not, let in.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from processors.learning.entry import is_expressible
from processors.learning.induce import Induced, induce, read_sample
from processors.learning.leftovers import unread_beginnings, unread_endings
from processors.learning.literals import is_admissible, strength
from processors.learning.sample import Sample
from processors.learning.shape import Reader, Shape
from schemas.jsonvalue import JsonObject

VALID_MIN = 5
"""Fewest outputs whose calls read valid: below, one odd output is a fifth of all that is known."""
CALLS_WITH_ARGUMENTS_MIN = 3
UNDERSTOOD_MIN = 10
"""Valid outputs below which none may begin with marks that the shape does not read: more outputs tell what they are."""
TOOLS_MIN = 2
SOURCES_MIN = 1
"""Fewest sources that must show the format; a running system with several producers asks for more."""
INVALID_MAX = 0.125
"""Largest share of outputs with the opener that may not read, of those that do: models err in their own format too."""
FOLDS = 4
FOLDS_OF_FEW = 8
"""Folds below UNDERSTOOD_MIN valid outputs: of a literal that two show, one must stay when a part is held out."""
HELD_OUT_MIN = 0.8
"""Share of held-out outputs that a shape learned without them must read the same; none may read as something else."""
SERVED_MIN = 0.95
"""Share of valid outputs from which the pipeline must read what was induced."""


_TWIN = re.compile(r"(?<!\S)([|%&$^!?/\\:;])\1(?![^\w\s])")
"""A sign twice, at the beginning of a word; those that Markdown, front matter or quotations repeat are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The outcome with its figures."""

    accepted: bool
    reason: str
    """Empty when accepted; else the first condition that does not hold."""
    figures: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How an entry does in the pipeline that will serve it."""

    serve: Callable[[Sample], list[tuple[str | None, JsonObject]]]
    """The calls of one sample, as they would come out."""
    changes: Callable[[], int]
    """Runs the entry over outputs that are known to be right, gives how many come out otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _HeldOut:
    """Of held-out outputs: how many read the same, how many read as something else, how many there were."""

    same: int
    other: int
    count: int


def prove(samples: Sequence[Sample], induced: Induced, trial: Trial) -> Proof:
    """Whether an induced shape may be used."""
    valid = sorted(induced.valid)
    calls = [call for number in valid for call in read_sample(samples[number], induced.shape).calls]
    figures: JsonObject = {
        "valid": len(valid),
        "invalid": len(induced.invalid),
        "calls": len(calls),
        "calls_with_arguments": sum(bool(call.arguments) for call in calls),
        "tools": len({call.name for call in calls}),
        "sources": len({samples[number].source for number in valid}),
        "samples": [samples[number].id for number in valid],
    }
    figures["unread_beginnings"] = unread_beginnings(samples, induced)
    figures["unread_endings"] = unread_endings(samples, induced)
    reason = _support(figures, induced)
    if not reason:
        held = _held_out(samples, induced)
        figures |= {"held_out": held.count, "held_out_same": held.same, "held_out_other": held.other}
        is_read = held.other == 0 and held.same >= HELD_OUT_MIN * held.count
        if held.count * 2 < figures["valid"] or not is_read:
            reason = "a shape learned without part of the outputs reads them otherwise"
    if not reason:
        served = sum(_is_served(samples[number], induced.shape, trial) for number in valid)
        figures["served_same"] = served
        if served < SERVED_MIN * len(valid):
            reason = "the pipeline does not read what was induced"
    if not reason:
        figures["changed"] = trial.changes()
        if figures["changed"]:
            reason = "outputs that are known to be right would come out otherwise"
    return Proof(accepted=not reason, reason=reason, figures=figures)


def _support(figures: JsonObject, induced: Induced) -> str:
    checks = (
        (figures["valid"] >= VALID_MIN, "too few outputs with valid calls"),
        (figures["calls_with_arguments"] >= CALLS_WITH_ARGUMENTS_MIN, "too few calls with arguments"),
        (figures["tools"] >= TOOLS_MIN, "too few tools"),
        (figures["sources"] >= SOURCES_MIN, "too few sources"),
        (figures["invalid"] <= INVALID_MAX * figures["valid"], "outputs with the opener that do not read"),
        (induced.runner_up is None, "another shape reads as many outputs but gives other arguments"),
        (all(map(is_admissible, induced.shape.literals)), "a literal with characters that may not be in one"),
        (not _is_document(induced.shape), "keys and values behind an opener that documents have too"),
        (
            figures["valid"] >= UNDERSTOOD_MIN or not figures["unread_beginnings"] + figures["unread_endings"],
            "few outputs, and some begin or end with marks that are not understood",
        ),
        (figures["unread_endings"] * 2 <= figures["valid"], "most outputs end with marks that are not understood"),
        (is_expressible(induced), "a literal that a marker template would read otherwise"),
    )
    return next((reason for holds, reason in checks if not holds), "")


def _is_document(shape: Shape) -> bool:
    """Whether headings, lists or tables about tools would read the same: only an object behind such an opener tells.

    One rare sign may be the sign of a house's headings; it takes a second one behind the name.
    Two equal signs that Markdown does not use, before and behind every call, are no document either.
    """
    opener = shape.section_open + shape.open
    inner = (shape.first, shape.key_end, shape.next, shape.close, shape.section_close)
    if shape.reader is not Reader.PAIRS or strength(opener) + max(map(strength, inner)) > 1:
        return False
    frames = set(_TWIN.findall(opener)) & set(_TWIN.findall(shape.close + shape.section_close))
    return not frames


def _held_out(samples: Sequence[Sample], induced: Induced) -> _HeldOut:
    """How shapes learned without a part of the outputs read that part."""
    carriers = sorted(induced.valid)
    folds = FOLDS if len(carriers) >= UNDERSTOOD_MIN else FOLDS_OF_FEW
    same = other = count = 0
    for fold in range(min(folds, len(carriers))):
        left_out = set(carriers[fold::folds])
        rest = [item for number, item in enumerate(samples) if number not in left_out]
        without = induce(rest)
        if without is None:
            continue
        for number in sorted(left_out):
            first, second = _calls(samples[number], without.shape), _calls(samples[number], induced.shape)
            count += 1
            same += first == second
            other += second[: len(first)] != first
    return _HeldOut(same=same, other=other, count=count)


def _is_served(item: Sample, shape: Shape, trial: Trial) -> bool:
    return _calls(item, shape) == trial.serve(item)


def _calls(item: Sample, shape: Shape) -> list[tuple[str | None, JsonObject]]:
    return [(call.name, call.arguments) for call in read_sample(item, shape).calls]
