"""Segments of one stream → reasoning nodes and state entries; everything else passes as it came.

A reasoning segment becomes a node with a type, a confidence and its sentences; a comment becomes a state entry. An
answer's text may later turn out to have been reasoning (a bare closing marker), so it is kept until the stream's end,
and what it says about state is read only then. The node that follows a `Relabel` has the order of the segment it
replaces.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from processors.reasoning.classify import Classified, classify
from processors.reasoning.cues import shipped_cues
from processors.reasoning.sentences import split_steps
from processors.state import StateMap, find_in_text, read_comment
from schemas.reasoning import Label, Node, ReasoningStep
from schemas.segment import Closed, Relabel, Segment, SegmentKind
from schemas.wire import Event


class Labeller(Protocol):
    """Sentences → labels; `processors.reasoning.classify.classify` is one."""

    def __call__(self, texts: Sequence[str], /) -> list[Classified]:
        """One answer for each text, in order."""
        ...


class ReasonStage:
    """One stream's segments → nodes, state entries and the rest."""

    def __init__(self, label: Labeller = classify) -> None:
        self._label = label
        self._state = StateMap()
        self._kept: dict[int, Segment] = {}
        """Text segments by order, until the stream ends."""
        self._nodes = 0
        self._before = "start"

    def feed(self, event: Event) -> Iterator[Event]:
        """Take one event of the segment stage, give what follows from it."""
        match event:
            case Segment():
                yield from self._segment(event)
            case Relabel():
                yield event
                yield from self._relabelled(event)
            case Closed():
                yield from self.close()
                yield event
            case _:
                yield event

    def close(self) -> Iterator[Event]:
        """Give the state that stands in the answer's text; nothing the second time."""
        kept, self._kept = self._kept, {}
        for segment in kept.values():
            if segment.kind is SegmentKind.RESPONSE:
                yield from self._state.entries(segment, find_in_text(segment))

    def _segment(self, segment: Segment) -> Iterator[Event]:
        if segment.kind in {SegmentKind.RESPONSE, SegmentKind.REASONING}:
            self._kept[segment.order] = segment
        if segment.kind is SegmentKind.REASONING:
            yield self._node(segment, self._before)
        elif segment.kind is SegmentKind.STATE:
            yield from self._state.entries(segment, (read_comment(segment),))
        else:
            yield segment
        self._before = f"after:{segment.kind}"

    def _relabelled(self, change: Relabel) -> Iterator[Event]:
        segment = self._kept.get(change.order)
        if segment is None or segment.kind is change.kind:
            return
        again = Segment(
            stream_id=segment.stream_id, order=segment.order, kind=change.kind, text=segment.text,
            span=segment.span, repairs=segment.repairs, format=segment.format,
        )  # fmt: skip
        self._kept[change.order] = again
        if change.kind is SegmentKind.REASONING:
            yield self._node(again, "start" if change.order == 0 else "")
        else:
            yield again

    def _node(self, segment: Segment, position: str) -> Node:
        spans = split_steps(segment.text)
        answers = self._label([segment.text[start:end] for start, end in spans])
        start, end = segment.span
        steps = tuple(
            ReasoningStep(
                type=answer.label, confidence=answer.confidence, span=(min(start + a, end), min(start + b, end))
            )
            for (a, b), answer in zip(spans, answers, strict=True)
        )
        label, confidence = type_of(steps)
        node = Node(
            stream_id=segment.stream_id, id=f"rn_{self._nodes}", type=label, confidence=confidence,
            text=segment.text, order=segment.order, span=segment.span, steps=steps, position=position or None,
        )  # fmt: skip
        self._nodes += 1
        return node


def type_of(steps: Sequence[ReasoningStep]) -> tuple[Label, float]:
    """A block's type and confidence from its sentences.

    Each sentence adds its confidence times its label's weight, and the label with the largest sum wins: a correction
    (3.0) outweighs a plan (2.0), a plan outweighs doubt, recall and judgement, and any of them outweighs deduction. The
    confidence is the mean over the winner's sentences.
    """
    weights = {file.label: file.weight for file in shipped_cues().files}
    sums = dict.fromkeys(Label, 0.0)
    for step in steps:
        sums[step.type] += step.confidence * weights.get(step.type, 0.5)
    best = max(Label, key=lambda label: sums[label]) if steps else Label.OTHER
    won = [step.confidence for step in steps if step.type is best]
    return best, round(sum(won) / len(won), 4) if won else 0.0
