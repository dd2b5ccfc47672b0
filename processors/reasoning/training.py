"""Labelled sentences → weights: softmax regression by full-batch Adam, the same numbers every time.

Everything is float64 and in a fixed order, there is no sampling, so a training set gives one set of weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from processors.reasoning.cues import CUE_BUCKETS, Cues
from processors.reasoning.features import BUCKETS, Batch, read_batch

CUE_VALUE = 0.5
"""What a cue hit counts, next to n-grams whose squares sum to at most one."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparse:
    """A batch as a matrix in rows, columns and values; cue columns stand after the n-gram buckets."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Floats
    height: int
    width: int

    def times(self, weights: Floats) -> Floats:
        """Matrix times weights."""
        out = np.zeros((self.height, weights.shape[1]))
        for label in range(weights.shape[1]):
            products = self.values * weights[self.columns, label]
            out[:, label] = np.bincount(self.rows, products, minlength=self.height)
        return out

    def transposed_times(self, errors: Floats) -> Floats:
        """Transposed matrix times errors."""
        out = np.zeros((self.width, errors.shape[1]))
        for label in range(errors.shape[1]):
            products = self.values * errors[self.rows, label]
            out[:, label] = np.bincount(self.columns, products, minlength=self.width)
        return out


def sparse(texts: Sequence[str], cues: Cues) -> Sparse:
    """Sentences → one matrix, the columns that occur numbered as in the weights."""
    batch: Batch = read_batch(texts, cues)
    of_token = np.repeat(np.arange(len(texts)), batch.sizes)
    scale = 1 / np.sqrt(3 * batch.sizes)
    rows = [of_token] * 3 + [batch.cue_rows]
    columns = [gram[: len(of_token)] for gram in batch.grams] + [batch.cue_buckets + BUCKETS]
    values = [scale[of_token]] * 3 + [np.full(len(batch.cue_rows), CUE_VALUE)]
    keep = np.concatenate(columns) != 0
    return Sparse(
        rows=np.concatenate(rows)[keep],
        columns=np.concatenate(columns)[keep],
        values=np.concatenate(values)[keep],
        height=len(texts),
        width=BUCKETS + CUE_BUCKETS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How weights are fitted."""

    steps: int = 150
    rate: float = 0.3
    l2: float = 2e-5
    """Penalty on squared weights, for each unit of total row weight."""


def fit(data: Sparse, labels: NDArray[np.int64], row_weights: Floats, recipe: Recipe) -> tuple[Floats, Floats]:
    """Weights (columns x labels) and biases that fit the labels."""
    classes = int(labels.max()) + 1
    used = np.unique(data.columns)
    place = np.zeros(data.width, dtype=np.int64)
    place[used] = np.arange(len(used))
    small = Sparse(rows=data.rows, columns=place[data.columns], values=data.values, height=data.height, width=len(used))
    weights, biases = np.zeros((len(used), classes)), np.zeros(classes)
    target = np.eye(classes)[labels]
    share = (row_weights / row_weights.sum())[:, None]
    moments = [np.zeros_like(weights), np.zeros_like(weights), np.zeros(classes), np.zeros(classes)]
    for step in range(1, recipe.steps + 1):
        errors = (softmax(small.times(weights) + biases) - target) * share
        slopes = small.transposed_times(errors) + recipe.l2 * weights
        rate = recipe.rate * (1 - step / (recipe.steps + 1))
        weights -= rate * _adam(moments, 0, slopes, step)
        biases -= rate * _adam(moments, 2, errors.sum(axis=0), step)
    whole = np.zeros((data.width, classes))
    whole[used] = weights
    return whole, biases


def _adam(moments: list[Floats], at: int, slopes: Floats, step: int) -> Floats:
    moments[at] = 0.9 * moments[at] + 0.1 * slopes
    moments[at + 1] = 0.999 * moments[at + 1] + 0.001 * slopes**2
    grown: Floats = moments[at] / (1 - 0.9**step)
    return grown / (np.sqrt(moments[at + 1] / (1 - 0.999**step)) + 1e-8)


def softmax(scores: Floats) -> Floats:
    """Shares of each row's labels."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares
