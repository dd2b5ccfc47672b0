"""Sentences → hashed features, many sentences at once.

A sentence is its words (Latin words, numbers as one token, single CJK characters, single marks) between two boundary
tokens. Token i gives three features: itself, the pair and the triple that begin with it. So what stands at both ends
of a sentence is a feature too, and the three arrays of a batch have one length. Cue hits are hashed apart, because
they count whatever the length of the sentence.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from processors.reasoning.cues import Cues

BUCKETS = 1 << 16
"""Hash buckets of n-grams; 2^18 gained no accuracy and is four times larger. Bucket 0 is what weighs nothing."""
HEAD_CHARS = 240
TAIL_CHARS = 48
"""Characters read at both ends of a sentence: what it does is said at its ends."""

_TOKEN = re.compile(r"\x01|[a-z]+(?:['’][a-z]+)?|\d[\d.,]*|[^\W\d_a-z]|[^\w\s\x01]")
LENGTHS = np.array([4, 7, 11, 17, 26, 41, 61])
_BOUND = "\x01"
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_TOKENS_KEPT_MAX = 100_000

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Features of a batch: three buckets for each token, where each sentence starts, and how many tokens it has."""

    grams: tuple[Ints, Ints, Ints]
    starts: Ints
    sizes: Ints
    cue_rows: Ints
    """Sentence of each cue hit."""
    cue_buckets: Ints


def read_batch(texts: Sequence[str], cues: Cues) -> Batch:
    """Features of at least one sentence."""
    kept = [
        text if len(text) <= HEAD_CHARS + TAIL_CHARS else text[:HEAD_CHARS] + " " + text[-TAIL_CHARS:] for text in texts
    ]
    kept = [text.lower().replace(_BOUND, " ") for text in kept]
    tokens = _TOKEN.findall(_BOUND + _BOUND.join(kept) + _BOUND)
    if len(_TOKENS) > _TOKENS_KEPT_MAX:
        _TOKENS.clear()
    first = np.fromiter(map(_TOKENS.__getitem__, tokens), dtype=np.uint64, count=len(tokens))
    bounds = np.flatnonzero(first == 0)
    cue_rows, cue_buckets = _cue_features(kept, cues)
    grams = _grams(first)
    sizes = np.diff(bounds)
    grams[0][bounds[:-1]] = _bucket((np.searchsorted(LENGTHS, sizes) + 1).astype(np.uint64) * _MULTIPLIER)
    return Batch(
        grams=grams,
        starts=bounds[:-1].astype(np.int64),
        sizes=np.diff(bounds).astype(np.int64),
        cue_rows=cue_rows,
        cue_buckets=cue_buckets,
    )


class _Hashes(dict[str, int]):
    """Token → its hash, 0 for the boundary; a memo, so its content never changes an answer."""

    def __missing__(self, token: str) -> int:
        kind = "0" if token[0].isdigit() else token.replace("’", "'")
        value = 0 if token == _BOUND else zlib.crc32(kind.encode("utf-8", "replace")) | 1
        self[token] = value
        return value


_TOKENS = _Hashes()


def _grams(first: NDArray[np.uint64]) -> tuple[Ints, Ints, Ints]:
    second = np.append(first[1:], np.uint64(0))
    third = np.append(second[1:], np.uint64(0))
    pair = (first + np.uint64(7)) * _MULTIPLIER + second * _SECOND
    triple = (pair ^ (pair >> np.uint64(29))) * _MULTIPLIER + (third + np.uint64(3)) * _SECOND
    return (
        np.where(first == 0, 0, _bucket(first * _MULTIPLIER)),
        np.where(first + second == 0, 0, _bucket(pair)),
        np.where(second == 0, 0, _bucket(triple)),
    )


def _bucket(hashes: NDArray[np.uint64]) -> Ints:
    mixed = hashes ^ (hashes >> np.uint64(31))
    buckets: Ints = ((mixed * _SECOND) >> np.uint64(64 - 16)).astype(np.int64)
    return buckets


def _cue_features(texts: Sequence[str], cues: Cues) -> tuple[Ints, Ints]:
    rows: list[int] = []
    buckets: list[int] = []
    for row, text in enumerate(texts):
        hits = cues.matched(text)
        if hits:
            found = {cues.buckets[hit] for hit in hits} | {cues.label_buckets[hit] for hit in hits}
            rows += [row] * len(found)
            buckets += sorted(found)
    return np.array(rows, dtype=np.int64), np.array(buckets, dtype=np.int64)
