"""Goal text → weighted features, by which reasoning records are found again.

A feature is the hash of a word (a pair of characters in Chinese), or of `tool:NAME`. Its weight says how rare the
word is in reasoning at large, so a search needs no statistics of the store; words that everything says are no
features.
"""

import math
import zlib
from dataclasses import dataclass

from processors.reasoning.gaps import BUCKETS, WORD, rarity

FEATURES_MAX = 32
"""Most features of one goal: the rarest ones."""
COMMON = 1.5
"""Weight that is added back: a goal is short, so words that merely are frequent in reasoning still help."""


@dataclass(frozen=True, slots=True)
class Features:
    """Hashes with their weights, the heaviest first, and the length of the weight vector."""

    hashes: tuple[int, ...]
    weights: tuple[float, ...]
    norm: float


def features_of(goal: str) -> Features:
    """Features of a goal; of an empty one, none."""
    weights: dict[str, float] = {}
    for found in WORD.findall(goal[:2_000].lower()):
        pieces = [found[at : at + 2] for at in range(max(1, len(found) - 1))] if found[0] >= "\u3400" else [found]
        for piece in pieces:
            weight = float(rarity()[_hash(piece) % BUCKETS]) + COMMON
            if piece[0].isalnum() and (weight > COMMON or len(piece) > 3 or piece[0] >= "\u3400"):
                weights.setdefault(piece, weight)
    best = sorted(weights, key=lambda word: (-weights[word], word))[:FEATURES_MAX]
    chosen = [weights[word] for word in best]
    return Features(
        hashes=tuple(_hash(word) for word in best),
        weights=tuple(chosen),
        norm=math.sqrt(sum(weight * weight for weight in chosen)),
    )


def tool_hash(name: str) -> int:
    """The feature that stands for a tool."""
    return _hash(f"tool:{name}")


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))
