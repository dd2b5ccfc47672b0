"""Sentences of reasoning → labels with a confidence.

The first reading is by cues alone: each hit votes for its label, and the label with the strongest vote wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from processors.reasoning.cues import Cues, shipped_cues
from schemas.reasoning import Label

LABELS = tuple(Label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A sentence's label, how sure that is, and the share of each label in the order of `LABELS`."""

    label: Label
    confidence: float
    scores: tuple[float, ...]


def classify(texts: Sequence[str], cues: Cues | None = None) -> list[Classified]:
    """One answer for each text, in order."""
    known = cues or shipped_cues()
    return [_by_cues(text, known) for text in texts]


def _by_cues(text: str, cues: Cues) -> Classified:
    weights = {file.label: file.weight for file in cues.files}
    votes = dict.fromkeys(LABELS, 0.1)
    votes[Label.OTHER] = 0.8
    for hit in cues.hits(text):
        votes[cues.labels[hit]] += weights[cues.labels[hit]]
    total = sum(votes.values())
    best = max(LABELS, key=lambda label: votes[label])
    return Classified(
        label=best,
        confidence=round(votes[best] / total, 4),
        scores=tuple(round(votes[label] / total, 4) for label in LABELS),
    )
