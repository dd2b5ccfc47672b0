"""Feed one text to a segmenter in many ways."""

import random

from processors.catalog import Catalog, load_catalog
from processors.segment import Segmenter
from processors.segmenting.ledger import SegmentEvent
from schemas.segment import Delta, Opened
from schemas.token import Meta


def segment(
    pieces: list[str] | str, meta: Meta | None = None, catalog: Catalog | None = None
) -> tuple[list[SegmentEvent], Segmenter]:
    """All events of a stream that comes in these pieces, and the segmenter after its end."""
    segmenter = Segmenter(catalog or load_catalog(), Opened(stream_id="s", meta=meta or Meta()))
    events = [event for piece in ([pieces] if isinstance(pieces, str) else pieces) for event in segmenter.feed(piece)]
    events += segmenter.close()
    return events, segmenter


def cuts(text: str, seed: int, longest: int = 12) -> list[str]:
    """The text in random pieces."""
    rng = random.Random(seed)
    pieces, at = [], 0
    while at < len(text):
        size = rng.randint(1, longest)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def ways(text: str) -> list[list[str]]:
    """Whole, by character, in fours, and at random cuts."""
    return [[text], list(text), [text[i : i + 4] for i in range(0, len(text), 4)], cuts(text, 1), cuts(text, 2, 5)]


def without_deltas(events: list[SegmentEvent]) -> list[SegmentEvent]:
    return [event for event in events if not isinstance(event, Delta)]
