"""The blocks of a stream → its gaps, each with evidence: breaks of topic, and signs that something was left out.

A gap stands between two blocks (`rn_0`, `rn_1`) or two steps of one (`rn_0#3`, `rn_0#4`). Breaks of topic come from
gaps.py over all steps. A chain of few steps gives it too little to compare, so between two blocks that share no name,
no value and no rare word, and of which the second neither looks back nor corrects, a break is told as well. A sign
alone is a hint: its similarity is the joint's, and it is reported as it is.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from processors.reasoning.gaps import find_gaps, vectors_of
from processors.reasoning.references import Introduced, leaves_of, looks_back, pairs_of, values_of
from processors.reasoning.signs import skipped_numbers, unknown_values
from processors.reasoning.supersede import Block, step_id
from schemas.reasoning import Gap, Label, StateEntry
from schemas.toolcall import ToolCall

GAPS_MAX = 50
"""Most gaps reported of one stream, the least similar first."""
WORDS_MIN = 3
"""Rare words that both blocks must have before their having none in common means a break."""
_ANSWERS = frozenset({Label.SELF_CORRECTION, Label.EVALUATION, Label.UNCERTAINTY})
"""Types of a block that speaks of what came before without naming it."""


def breaks_of(
    blocks: Sequence[Block], calls: Sequence[ToolCall], states: Sequence[StateEntry], known: Introduced
) -> tuple[Gap, ...]:
    """Gaps of one stream in order of writing; values of calls and state are added to what is known."""
    places = [(block, index) for block in blocks for index in range(len(block.texts)) if block.texts[index]]
    steps = [block.texts[index] for block, index in places]
    found = find_gaps(steps)
    evidence: dict[int, list[str]] = {joint: ["topic"] for joint in found.gaps}
    for joint, sign in skipped_numbers(steps).items():
        evidence.setdefault(joint, []).append(sign)
    for joint, sign in unknown_values(steps, _with_values(known, calls, states)).items():
        evidence.setdefault(joint, []).append(sign)
    similarity = dict(enumerate(found.similarity))
    for joint, likeness in _strangers(blocks, places):
        if "topic" not in evidence.get(joint, ()):
            evidence.setdefault(joint, []).append("nothing_in_common")
            similarity[joint] = likeness
    kept = sorted(evidence, key=lambda joint: similarity[joint])[:GAPS_MAX]
    return tuple(
        Gap(
            between=_ends(places[joint], places[joint + 1]),
            similarity=similarity[joint],
            evidence=tuple(evidence[joint]),
        )
        for joint in sorted(kept)
    )


def _with_values(given: Introduced, calls: Sequence[ToolCall], states: Sequence[StateEntry]) -> Introduced:
    for source, content in [
        *((call.id, call.arguments) for call in calls),
        *((one.key, one.content) for one in states),
    ]:
        for leaf in leaves_of(content):
            given.add_value(source, leaf)
    return given


def _ends(left: tuple[Block, int], right: tuple[Block, int]) -> tuple[str, str]:
    if left[0] is not right[0]:
        return left[0].node.id, right[0].node.id
    return step_id(left[0].node, left[1]), step_id(right[0].node, right[1])


def _strangers(blocks: Sequence[Block], places: Sequence[tuple[Block, int]]) -> list[tuple[int, float]]:
    """Joints between blocks that have nothing in common, with the likeness of the blocks' words."""
    last = {id(block): joint for joint, (block, _) in enumerate(places)}
    found: list[tuple[int, float]] = []
    for left, right in pairwise(blocks):
        if id(left) not in last or id(right) not in last or right.node.type in _ANSWERS or looks_back(right.node.text):
            continue
        vectors = vectors_of([left.node.text, right.node.text])
        likeness = float(vectors[0] @ vectors[1])
        is_rich = min(np.count_nonzero(vectors[0]), np.count_nonzero(vectors[1])) >= WORDS_MIN
        if is_rich and likeness < 0.02 and not _names(left) & _names(right):
            found.append((last[id(left)], round(likeness, 4)))
    return found


def _names(block: Block) -> set[str]:
    return set(values_of(block.node.text)) | set(pairs_of(block.node.text))
