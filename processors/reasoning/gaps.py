"""Steps of a trace → how well each follows from those before, and the joints at which the topic breaks.

A step is the bag of its words (pairs of characters in Chinese), weighted by how rare they are in reasoning at large:
what every trace says (`wait`, `so`, `let me`) weighs nothing. At each joint the mean similarity of the pairs across
it is set against the mean of the pairs on either side, in a window of twelve steps each way, and the ratio shrinks to
one where there are few pairs. A joint next to the real break is held to the lowest ratio near by. So a spliced-in
topic shows; a step that was merely left out mostly does not, and is at most a hint from symbolic signs (signs.py).

Similarity is ratio / (1 + ratio): 0.5 where nothing changes. Cost is linear in the number of steps.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

BUCKETS = 1 << 16
STEP_CHARS_MAX = 2_000
WINDOW = 12
"""Steps on each side of a joint that are compared."""
BLOCK = 64
"""Joints of one dense block."""
SHRINK = 0.18
"""Weight of the window's mean, as a share of its number of pairs."""
SHRINK_PAIRS = 12.0
FLOOR = 0.005
"""Similarity below which a difference means nothing."""
NEIGHBOUR_PENALTY = 3.0
COMMON = 3.5
"""Natural logarithm of how much rarer than once a step a word must be before it counts."""
STEPS_MIN = 4
"""Shortest list in which a break is told; in a shorter one there is nothing to compare with."""
THRESHOLD = 0.345
"""Similarity below which a joint is a gap: 3.5 % false alarms for each joint of intact and spliced traces."""

WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[\u3400-\u9fff]{1,200}|\\[a-z]+|[^\s\w]")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """One similarity for each joint (between step i and i+1), and the joints that are gaps.

    A break often marks two neighbouring joints: which of them it is, one sentence between the topics decides.
    """

    similarity: tuple[float, ...]
    gaps: tuple[int, ...]


def find_gaps(steps: Sequence[str], threshold: float = THRESHOLD) -> Gaps:
    """Similarity and gaps of a trace's steps, in order."""
    if len(steps) < 2:
        return Gaps(similarity=(), gaps=())
    if len(steps) < STEPS_MIN:
        return Gaps(similarity=(0.5,) * (len(steps) - 1), gaps=())
    ratios = np.concatenate([_ratios(steps, start) for start in range(0, len(steps) - 1, BLOCK)])
    ratios = ratios + NEIGHBOUR_PENALTY * (ratios - _lowest(ratios, WINDOW))
    similarity = np.round(ratios / (1 + ratios), 4)
    return Gaps(similarity=tuple(similarity.tolist()), gaps=tuple(np.flatnonzero(similarity < threshold).tolist()))


def _lowest(values: Floats, reach: int) -> Floats:
    """The smallest value within reach of each."""
    lowest = values.copy()
    for shift in range(1, min(reach, len(values))):
        lowest[shift:] = np.minimum(lowest[shift:], values[:-shift])
        lowest[:-shift] = np.minimum(lowest[:-shift], values[shift:])
    return lowest


def _ratios(steps: Sequence[str], start: int) -> Floats:
    """Across / within for the joints of one block."""
    first = max(0, start + 1 - WINDOW)
    last = min(len(steps), start + BLOCK + WINDOW)
    vectors = vectors_of(steps[first:last])
    pairs = np.triu(vectors @ vectors.T, 1)
    sums = np.zeros((len(pairs) + 1, len(pairs) + 1))
    sums[1:, 1:] = pairs.cumsum(axis=0).cumsum(axis=1)
    joints = range(start, min(start + BLOCK, len(steps) - 1))
    return np.array([_ratio(sums, joint + 1 - first) for joint in joints])


def _ratio(sums: Floats, middle: int) -> float:
    low, high = max(0, middle - WINDOW), min(len(sums) - 1, middle + WINDOW)
    before, after = middle - low, high - middle
    across = sums[middle, high] - sums[low, high] - sums[middle, middle] + sums[low, middle]
    count = before + after
    pairs = count * (count - 1) / 2
    total = sums[high, high] - sums[low, high] - sums[high, low] + sums[low, low]
    mean = total / pairs
    held = SHRINK_PAIRS + SHRINK * pairs
    out = (across + held * mean) / (before * after + held)
    inside = (total - across + held * mean) / (pairs - before * after + held)
    return float((out + FLOOR) / (inside + FLOOR))


def vectors_of(steps: Sequence[str]) -> Floats:
    """Unit rows over the words of some steps; a row without rare words is zero."""
    found = [words_of(step) for step in steps]
    rows = np.repeat(np.arange(len(steps)), [len(words) for words in found])
    words = np.array([word for some in found for word in some], dtype=np.int64)
    weights = rarity()[words]
    rows, words, weights = rows[weights > 0], words[weights > 0], weights[weights > 0]
    columns, place = np.unique(words, return_inverse=True)
    counts = np.zeros((len(steps), max(1, len(columns))))
    np.add.at(counts, (rows, place), 1)
    scale = np.zeros(counts.shape[1])
    scale[place] = weights
    vectors = np.log1p(counts) * scale
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


def words_of(step: str) -> list[int]:
    """Hash buckets of a step's words: numbers as written, Chinese in pairs of characters."""
    words: list[str] = []
    for word in WORD.findall(step[:STEP_CHARS_MAX].lower()):
        if word[0] >= "\u3400":
            words += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            words.append(word)
    return [zlib.crc32(word.encode("utf-8", "replace")) % BUCKETS for word in words]


@cache
def rarity() -> NDArray[np.float32]:
    """Weight of each bucket: how rare its word is in reasoning at large, zero for what is common."""
    with resources.files("processors.reasoning").joinpath("rarity.npz").open("rb") as file:
        data = np.load(file)
        steps, counts = data["steps"], data["counts"]
    weights: NDArray[np.float32] = np.maximum(0, np.log((steps + 1) / (counts + 1.0)) - COMMON).astype(np.float32)
    assert len(weights) == BUCKETS
    return weights
