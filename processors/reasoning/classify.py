"""Sentences of reasoning → labels with a calibrated confidence.

Softmax regression over hashed n-grams and cue hits (features.py); the weights are trained by
`benchmarks/train_reasoning.py` and stored as int8 with one scale for each label. A temperature for each language
makes the confidence mean what it says on text of domains that were held out. The weights are fitted as if all labels
were equally frequent; `with_prior` shifts them towards the shares of a known kind of text.

A batch costs one pass of a regular expression, one of the cue set and a few numpy calls, so many sentences at once
are cheap; a single one costs about a tenth of a millisecond.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from processors.reasoning.cues import Cues, shipped_cues
from processors.reasoning.features import BUCKETS, Batch, read_batch
from schemas.reasoning import Label

LABELS = tuple(Label)
LANGS = ("en", "zh")
BATCH_MAX = 1_024
"""Sentences of one numpy batch, so that the arrays stay in the cache."""
DOUBT = 0.01
"""Share spread over all labels: two readers of the same sentences disagree on one in eight, so none is quite sure."""
NATURAL_PRIOR = {
    Label.PLANNING: 0.09, Label.SELF_CORRECTION: 0.03, Label.EVALUATION: 0.07,
    Label.MEMORY_RETRIEVAL: 0.1, Label.UNCERTAINTY: 0.06, Label.OTHER: 0.65,
}  # fmt: skip
"""Rough shares in long traces of mathematics and science, where deduction is most of the text."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A sentence's label, how sure that is, and the share of each label in the order of `LABELS`."""

    label: Label
    confidence: float
    scores: tuple[float, ...]


BLANK = Classified(
    label=Label.OTHER, confidence=1.0, scores=tuple(1.0 if label is Label.OTHER else 0.0 for label in LABELS)
)
"""Of a text without a character that shows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """Weights of one version; `delta` is what feedback added to it."""

    grams: Floats
    cue_weights: Floats
    biases: Floats
    temperatures: tuple[float, ...]
    """One for each of `LANGS`."""
    cues: Cues
    delta: Mapping[int, tuple[float, ...]] | None = None
    """Feature column → what feedback adds to its weights; see feedback.py."""

    def raw_scores(self, batch: Batch) -> Floats:
        """Scores before temperature, one row for each sentence."""
        first, second, third = batch.grams
        tokens = self.grams[first]
        tokens += self.grams[second]
        tokens += self.grams[third]
        scores: Floats = np.add.reduceat(tokens, batch.starts, axis=0)[: len(batch.sizes)]
        scores /= np.sqrt(3 * batch.sizes).astype(np.float32)[:, None]
        if len(batch.cue_rows):
            np.add.at(scores, batch.cue_rows, self.cue_weights[batch.cue_buckets])
        scores += self.biases
        return scores


def classify(
    texts: Sequence[str], langs: Sequence[str | None] | None = None, model: Model | None = None
) -> list[Classified]:
    """One answer for each text, in order; a language that isn't given is told from the script."""
    known = model or shipped_model()
    answers: list[Classified] = []
    for start in range(0, len(texts), BATCH_MAX):
        some = texts[start : start + BATCH_MAX]
        given = langs[start : start + BATCH_MAX] if langs else [None] * len(some)
        answers += _classify_batch(some, given, known)
    return answers


def _classify_batch(texts: Sequence[str], langs: Sequence[str | None], model: Model) -> list[Classified]:
    scores = model.raw_scores(read_batch(texts, model.cues))
    heat = np.array(
        [_temperature(text, lang, model) for text, lang in zip(texts, langs, strict=True)], dtype=np.float32
    )
    shares = (1 - DOUBT) * shares_of(scores / heat[:, None]) + DOUBT / len(LABELS)
    best = shares.argmax(axis=1).tolist()
    rows = np.round(shares.astype(np.float64), 4).tolist()
    return [
        Classified(label=LABELS[label], confidence=row[label], scores=tuple(row)) if text.strip() else BLANK
        for text, label, row in zip(texts, best, rows, strict=True)
    ]


def shares_of(scores: Floats) -> Floats:
    """Softmax of each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _temperature(text: str, lang: str | None, model: Model) -> float:
    return model.temperatures[LANGS.index(lang) if lang in LANGS else is_chinese(text)]


def is_chinese(text: str) -> bool:
    """Whether a text is read as Chinese: a CJK character among its first 60 outweighs three Latin ones."""
    head = text[:60]
    if head.isascii():
        return False
    cjk = sum("\u3400" <= char <= "\u9fff" for char in head)
    return cjk * 4 >= len(head)


def with_prior(model: Model, shares: Mapping[Label, float], strength: float = 0.5) -> Model:
    """The same model for text in which labels are not equally frequent; strength 1 believes the shares fully."""
    logs = np.array([np.log(len(LABELS) * shares[label]) for label in LABELS], dtype=np.float32)
    return replace(model, biases=model.biases + np.float32(strength) * logs)


@cache
def shipped_model() -> Model:
    """The weights that come with the package."""
    with resources.files("processors.reasoning").joinpath("weights.npz").open("rb") as file:
        data = np.load(file)
        scales = data["scales"].astype(np.float32)
        weights = data["weights"].astype(np.float32) * scales
        biases, temperatures = data["biases"].astype(np.float32), data["temperatures"]
    weights[0] = 0
    return Model(
        grams=np.ascontiguousarray(weights[:BUCKETS]),
        cue_weights=np.ascontiguousarray(weights[BUCKETS:]),
        biases=biases,
        temperatures=tuple(float(value) for value in temperatures),
        cues=shipped_cues(),
    )
