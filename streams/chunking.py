"""A whole text → the pieces that a model server might have sent it in.

Used by `parse --chunk` and by the demo; the answer must be the same for any cut.
"""

import random
import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise

PIECE_CHARS_MAX = 12


class Chunking(StrEnum):
    """How a text is cut."""

    WHOLE = "whole"
    """One string."""
    ATOMIC = "atomic"
    """Pieces of 1 to 12 code points that never cut a marker, as a tokenizer gives them."""
    TORN = "torn"
    """Pieces of 1 to 12 code points cut anywhere, inside markers and emoji too."""


class Chunker:
    """Cuts texts; the same seed and text give the same pieces."""

    def __init__(self, chunking: Chunking, seed: int, markers: Iterable[str] = ()) -> None:
        self._chunking = chunking
        self._seed = seed
        ordered = sorted({marker for marker in markers if len(marker) > 1}, key=len, reverse=True)
        self._markers = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def cut(self, text: str) -> list[str]:
        """The text in pieces that join to it again; an empty text is one empty piece."""
        if self._chunking is Chunking.WHOLE or not text:
            return [text]
        draw = random.Random(f"{self._seed}:{len(text)}:{text[:64]!r}")
        cuts, at = [], 0
        while (at := at + draw.randint(1, PIECE_CHARS_MAX)) < len(text):
            cuts.append(at)
        if self._chunking is Chunking.ATOMIC:
            cuts = self._outside_markers(text, cuts)
        edges = [0, *cuts, len(text)]
        return [text[start:end] for start, end in pairwise(edges)]

    def _outside_markers(self, text: str, cuts: list[int]) -> list[int]:
        if self._markers is None:
            return cuts
        inside: set[int] = set()
        for match in self._markers.finditer(text):
            inside.update(range(match.start() + 1, match.end()))
        return [cut for cut in cuts if cut not in inside]
