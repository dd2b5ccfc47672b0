"""Corrections → what each of them takes back: an earlier step, a whole plan, or a call.

A correcting step takes back the nearest earlier step of its block that shares a value with it, else the one before it.
A block that begins with a correction takes back the step of the block before that it shares most with. Which call
replaced which the tool stage has decided; here the correction between them is found. What is taken back stays in the
tree, marked, and is left out of the clean view.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from processors.reasoning.references import pairs_of, values_of
from processors.reasoning.sentences import split_steps
from schemas.reasoning import Label, Link, Node
from schemas.toolcall import ToolCall

CONFIDENCE_MIN = 0.5
"""Least confidence with which a step must be a correction to take anything back."""
LOOK_BACK = 6
"""Steps before a correction among which the one it shares a value with is looked for."""

_OF_PLANS = re.compile(
    r"\b(?:plan|approach|strategy|idea|method|route|path)\b|方案|思路|方法|计划|方向|路子", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """What corrections take back: ids of steps (`rn_0#2`) and nodes → what they were replaced by."""

    steps: dict[str, str]
    nodes: dict[str, str]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A node and the text of each of its steps."""

    node: Node
    texts: tuple[str, ...]


def block_of(node: Node) -> Block:
    """A node's steps as text.

    Spans are in the raw text, and cleaning may have made the node's text longer or shorter, so the text is split again;
    where that gives another number of sentences, steps without a text of their own are empty.
    """
    texts = [node.text[start:end] for start, end in split_steps(node.text)]
    texts += [""] * (len(node.steps) - len(texts))
    return Block(node=node, texts=tuple(texts[: len(node.steps)]))


def superseded(blocks: Sequence[Block], calls: Sequence[ToolCall]) -> Superseded:
    """Corrections of a stream's nodes, in order of writing, applied."""
    out = Superseded(steps={}, nodes={}, links=())
    links: list[Link] = []
    for place, block in enumerate(blocks):
        node, before = block.node, blocks[place - 1] if place else None
        for index, step in enumerate(node.steps):
            if step.type is Label.SELF_CORRECTION and step.confidence >= CONFIDENCE_MIN:
                links += _take_back(out, block, index, before)
    return Superseded(steps=out.steps, nodes=out.nodes, links=(*links, *_call_links(blocks, calls)))


def step_id(node: Node, index: int) -> str:
    """Id of one step of a node."""
    return f"{node.id}#{index}"


def _take_back(out: Superseded, block: Block, index: int, before: Block | None) -> list[Link]:
    said = block.texts[index]
    home = block if index else before
    if home is None:
        return []
    high = index or len(home.node.steps)
    target, shared = _nearest(home, range(max(0, high - LOOK_BACK), high), said)
    if target is None or (home is before and not shared):
        return _take_back_plan(out, block.node, home, said) if home is before else []
    why = f"shares {', '.join(shared[:3])}" if shared else "follows it"
    source, taken = step_id(block.node, index), step_id(home.node, target)
    out.steps[taken] = source
    links = [Link(source=source, target=taken, kind="supersedes", evidence=why)]
    return links + (_take_back_plan(out, block.node, home, said) if home is before else [])


def _take_back_plan(out: Superseded, node: Node, home: Block, said: str) -> list[Link]:
    plan = _OF_PLANS.search(said)
    if plan is None or home.node.type is not Label.PLANNING:
        return []
    out.nodes[home.node.id] = node.id
    why = f"takes back the {plan[0].lower()}"
    return [Link(source=node.id, target=home.node.id, kind="supersedes", evidence=why)]


def _nearest(home: Block, places: range, said: str) -> tuple[int | None, list[str]]:
    """The nearest step that shares a value with what is said, else the last that is neither doubt nor correction."""
    wanted = values_of(said) | pairs_of(said)
    fallback: int | None = None
    for place in reversed(places):
        if home.node.steps[place].type in {Label.UNCERTAINTY, Label.SELF_CORRECTION}:
            continue
        text = home.texts[place]
        shared = [value for value in (values_of(text) | pairs_of(text)) if value in wanted]
        if shared:
            return place, shared
        fallback = place if fallback is None else fallback
    return fallback, []


def _call_links(blocks: Sequence[Block], calls: Sequence[ToolCall]) -> list[Link]:
    """A link from the correction between a call and the one that replaced it; the tool stage says which did."""
    by_id = {call.id: call for call in calls}
    orders = [block.node.order for block in blocks]
    links: list[Link] = []
    for call in calls:
        again = by_id.get(call.superseded_by or "")
        if again is None:
            continue
        between = blocks[bisect_right(orders, call.order) : bisect_left(orders, again.order)]
        source = next((block.node for block in reversed(between) if _corrects(block.node)), None)
        evidence = f"{again.id} calls {again.name} again"
        links.append(
            Link(source=source.id if source else again.id, target=call.id, kind="supersedes", evidence=evidence)
        )
    return links


def _corrects(node: Node) -> bool:
    return node.type is Label.SELF_CORRECTION or any(step.type is Label.SELF_CORRECTION for step in node.steps)
