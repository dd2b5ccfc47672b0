"""Labelled sentences from people → a small change of the weights, taken only if a guard set does not lose.

The shipped weights stay as they are; feedback lives in a sparse delta over the features of its sentences, clipped,
pulled towards zero, and bounded in number. It is applied in batches of at least twenty. A batch that costs the guard
set more than one point of macro-F1, or makes its confidence worse by more than two points, is tried with half the
step, and refused after four tries: feedback of one domain helps that domain and easily harms the rest. A delta is a
registry entry, so each has a version and going back is the registry's roll-back.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from processors.reasoning.classify import LABELS, Model, classify
from processors.reasoning.cues import CUE_BUCKETS
from processors.reasoning.features import BUCKETS
from processors.reasoning.training import CUE_VALUE, Sparse, softmax, sparse
from schemas.reasoning import Label

BATCH_MIN = 20
"""Fewest sentences that change anything: one person's slip is then at most a twentieth."""
COLUMNS_MAX = 2_000
"""Most features with a change: the largest ones stay."""
CHANGE_MAX = 2.0
"""Largest change of one weight."""
PASSES = 20
RATE = 4.0
SHRINK = 0.002
TRIES = 4
F1_LOSS_MAX = 0.01
ECE_RISE_MAX = 0.02

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One sentence and the label that a person gave it."""

    text: str
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What feedback adds: feature column → one number for each label, in the order of `LABELS`."""

    columns: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    sentences: int = 0
    """Sentences that it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How a model does on labelled sentences."""

    accuracy: float
    macro_f1: float
    ece: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a batch; `delta` is the old one where the batch was refused."""

    delta: Delta
    is_accepted: bool
    step: float
    before: Figures
    after: Figures
    """Both on the guard set; after is of the last try."""


def take_feedback(
    model: Model, old: Delta, batch: Sequence[Labelled], guard: Sequence[Labelled] | None = None
) -> Outcome:
    """Learn from a batch; `model` is the shipped one, `old` what earlier batches left. Raises ValueError: too few."""
    if len(batch) < BATCH_MIN:
        raise ValueError(f"feedback: {len(batch)} sentences; at least {BATCH_MIN} are needed")
    watched = shipped_guard() if guard is None else guard
    before = after = figures_of(with_delta(model, old), watched)
    step = 1.0
    for _ in range(TRIES):
        new = _learned(model, old, batch, step)
        after = figures_of(with_delta(model, new), watched)
        if after.macro_f1 >= before.macro_f1 - F1_LOSS_MAX and after.ece <= before.ece + ECE_RISE_MAX:
            return Outcome(delta=new, is_accepted=True, step=step, before=before, after=after)
        step /= 2
    return Outcome(delta=old, is_accepted=False, step=step, before=before, after=after)


def with_delta(model: Model, delta: Delta) -> Model:
    """The model with a delta's changes; columns and widths that don't fit are left out."""
    if not delta.columns:
        return model
    grams, cues = model.grams.copy(), model.cue_weights.copy()
    for column, change in delta.columns.items():
        if len(change) == len(LABELS) and 0 < column < BUCKETS + CUE_BUCKETS:
            table, at = (grams, column) if column < BUCKETS else (cues, column - BUCKETS)
            table[at] += np.clip(np.array(change, dtype=np.float32), -CHANGE_MAX, CHANGE_MAX)
    return replace(model, grams=grams, cue_weights=cues)


def figures_of(model: Model, rows: Sequence[Labelled]) -> Figures:
    """Accuracy, macro-F1 over the labels that occur, and expected calibration error in ten bins."""
    answers = classify([row.text for row in rows], model=model)
    right = np.array([answer.label is row.label for answer, row in zip(answers, rows, strict=True)])
    sure = np.array([answer.confidence for answer in answers])
    bins = np.minimum((sure * 10).astype(int), 9)
    gaps = [abs(float(right[bins == at].sum() - sure[bins == at].sum())) for at in range(10)]
    f1 = []
    for label in sorted({row.label for row in rows}):
        told = sum(answer.label is label for answer in answers) + sum(row.label is label for row in rows)
        hits = sum(a.label is label and row.label is label for a, row in zip(answers, rows, strict=True))
        f1.append(2 * hits / told)
    return Figures(
        accuracy=round(float(right.mean()), 4),
        macro_f1=round(sum(f1) / len(f1), 4),
        ece=round(sum(gaps) / len(rows), 4),
    )


def _learned(model: Model, old: Delta, batch: Sequence[Labelled], step: float) -> Delta:
    data = sparse([row.text for row in batch], model.cues)
    used, place = np.unique(data.columns, return_inverse=True)
    small = Sparse(rows=data.rows, columns=place, values=data.values, height=data.height, width=len(used))
    change = np.array([old.columns.get(int(column), (0.0,) * len(LABELS)) for column in used])
    target = np.eye(len(LABELS))[[LABELS.index(row.label) for row in batch]]
    shipped = small.times(_weights(model, used)) + model.biases
    for _ in range(PASSES):
        errors = (softmax(shipped + small.times(change)) - target) / len(batch)
        change -= step * RATE * small.transposed_times(errors) + SHRINK * change
    change = np.clip(change, -CHANGE_MAX, CHANGE_MAX)
    columns = dict(old.columns) | {
        int(c): tuple(np.round(row, 4).tolist()) for c, row in zip(used, change, strict=True)
    }
    kept = sorted(columns, key=lambda column: (-max(map(abs, columns[column])), column))[:COLUMNS_MAX]
    return Delta(columns={column: columns[column] for column in sorted(kept)}, sentences=old.sentences + len(batch))


def _weights(model: Model, columns: NDArray[np.int64]) -> Floats:
    """The model's weights of some columns, as training values them."""
    from_cues = columns >= BUCKETS
    weights = model.grams[np.where(from_cues, 0, columns)].astype(np.float64)
    weights[from_cues] = model.cue_weights[columns[from_cues] - BUCKETS] / CUE_VALUE
    return weights


@cache
def shipped_guard() -> tuple[Labelled, ...]:
    """Sentences of many domains that no training row has, in both languages."""
    text = resources.files("processors.reasoning").joinpath("guard.json").read_text(encoding="utf-8")
    return tuple(Labelled(text=said, label=Label(label)) for label, some in json.loads(text).items() for said in some)
