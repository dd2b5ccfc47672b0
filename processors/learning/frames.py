"""Outputs of one format → what frames the answer, and the token that ends a turn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from processors.learning.literals import (
    LITERAL_CHARS_MAX,
    SUPPORT_MIN,
    is_admissible,
    shared_prefix,
    shared_suffix,
    strength,
)
from processors.learning.openers import whole_tags
from processors.learning.sample import Sample
from processors.learning.shape import Shape
from processors.learning.thoughts import Thought

ANSWERS_MIN = 2
"""Fewest outputs without a call that must end in a token before it is taken for the turn's end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Literals around the answer, and the one that ends the turn; empty where there are none."""

    open: str = ""
    close: str = ""
    end: str = ""


def find_frame(
    samples: Sequence[Sample], calls: dict[int, tuple[int, int]], shape: Shape, thought: Thought | None
) -> tuple[Frame, Shape]:
    """The frame, and the shape without the end token that had grown into its close.

    calls: number of a sample → start of its first call and end of its last.
    """
    texts = {number: sample.plain.strip() for number, sample in enumerate(samples)}
    of_format = {
        n for n, text in texts.items() if n in calls or (thought and thought.open and text.startswith(thought.open))
    }
    end = _end(texts, of_format, calls) or _end_of_calls(texts, calls, shape)
    if end:
        shape = replace(shape, close=_without(shape.close, end), section_close=_without(shape.section_close, end),
                        empty=_without(shape.empty, end))  # fmt: skip
    regions = []
    for number in sorted(of_format):
        region = _region(samples[number].plain, calls.get(number), thought).removesuffix(end).strip()
        if region and number in of_format:
            regions.append((number, region))
    if len(regions) < SUPPORT_MIN:
        return Frame(end=end), shape
    opened = _tag(shared_prefix([(n, text[:LITERAL_CHARS_MAX]) for n, text in regions]))
    closed = whole_tags(shared_suffix([(n, text[-LITERAL_CHARS_MAX:]) for n, text in regions]).strip())
    if not (strength(opened) and strength(closed) and is_admissible(opened) and is_admissible(closed)):
        return Frame(end=end), shape
    return Frame(open=opened, close=closed, end=end), shape


def _end(texts: dict[int, str], of_format: set[int], calls: dict[int, tuple[int, int]]) -> str:
    answers = [(n, texts[n][-LITERAL_CHARS_MAX:]) for n in of_format if n not in calls]
    if len(answers) < ANSWERS_MIN:
        return ""
    end = whole_tags(shared_suffix(answers).strip())
    if strength(end) == 0 or len(end) < 2 or not is_admissible(end):
        return ""
    callers = [texts[n] for n in of_format if n in calls]
    return end if sum(text.endswith(end) for text in callers) >= 0.8 * len(callers) else ""


def _end_of_calls(texts: dict[int, str], calls: dict[int, tuple[int, int]], shape: Shape) -> str:
    """What stands behind the last of several calls, if it closes no section and an output without a call has it too."""
    end = shape.section_close if not shape.section_open and shape.again is None else ""
    if len(end) < 2 or strength(end) == 0 or not is_admissible(end):
        return ""
    return end if any(text.endswith(end) for n, text in texts.items() if n not in calls) else ""


def _without(literal: str, end: str) -> str:
    return literal.rstrip().removesuffix(end).rstrip() if literal.rstrip().endswith(end) else literal


def _region(text: str, call: tuple[int, int] | None, thought: Thought | None) -> str:
    """The answer with what frames it: behind the reasoning, before the first call."""
    start = 0
    if thought is not None and thought.close in text:
        opens = text.find(thought.open) if thought.open else 0
        close = text.find(thought.close, max(opens, 0))
        start = close + len(thought.close) if opens >= 0 and close >= 0 else 0
    return text[start : call[0]] if call else text[start:]


def _tag(literal: str) -> str:
    """A shared beginning without the first letters of answers that happen to agree."""
    text = literal.strip()
    while text and (text[-1].isalnum() or text[-1].isspace()):
        text = text[:-1]
    return text
