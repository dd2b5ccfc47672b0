"""Nodes, calls and state of a whole stream → the reasoning tree: edges with evidence, corrections applied, gaps.

Pure and called once, at the end of a stream. Edges in time join neighbouring nodes. `led_to` joins a node to the
calls that follow it before the next node, and to later calls whose tool it names. `based_on` joins a node to what it
rests on: the person's words (`given`), earlier nodes, calls, state entries and answers of tools (`tool_result:…`)
whose values it repeats, the schema of a tool whose call failed before it, and what it recalls itself (`memory:…`).
Each edge says why it is there.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from processors.reasoning.breaks import breaks_of
from processors.reasoning.references import READ_CHARS_MAX, Introduced, leaves_of, looks_back
from processors.reasoning.supersede import Block, Superseded, block_of, step_id, superseded
from schemas.failure import Failure, FailureCode
from schemas.jsonvalue import Json
from schemas.reasoning import Gap, Label, Link, Node, StateEntry
from schemas.span import Span
from schemas.token import GivenResult
from schemas.toolcall import CallStatus, ToolCall

BASED_ON_MAX = 8
"""Most things one node is said to rest on: the ones it shares most values with."""
MEMORY_CONFIDENCE_MIN = 0.5
RESULTS_MAX = 100
"""Answers of tools that are read, the latest ones."""

_WORD = re.compile(r"[^\W_]+")
_OF_SCHEMA = re.compile(
    r"\b(?:schema|required|format|type|argument|parameter|field|expects?|wants)s?\b|格式|参数|类型|字段|必填|要求",
    re.IGNORECASE,
)
_REFUSALS = frozenset({FailureCode.REFUSED_CALL, FailureCode.UNKNOWN_TOOL, FailureCode.UNPARSEABLE_CALL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What was said before the stream: the person's words, and the answers of tools that its prompt held."""

    user: str = ""
    results: tuple[GivenResult, ...] = ()

    def introduced(self) -> Introduced:
        """The values in it, by where they were said."""
        said = Introduced()
        said.add("given", self.user[:READ_CHARS_MAX])
        for result in self.results[-RESULTS_MAX:]:
            said.add(f"tool_result:{result.call_id}", result.content)
        return said


NOTHING_KNOWN = Known()


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The tree of one stream, and its calls in order of writing."""

    nodes: tuple[Node, ...]
    calls: tuple[ToolCall, ...]
    links: tuple[Link, ...]
    gaps: tuple[Gap, ...]

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges in time."""
        return tuple((link.source, link.target) for link in self.links if link.kind == "time")


def link(
    nodes: Sequence[Node],
    calls: Sequence[ToolCall],
    states: Sequence[StateEntry] = (),
    failures: Sequence[Failure] = (),
    known: Known = NOTHING_KNOWN,
) -> Linked:
    """The tree of one stream."""
    blocks = [block_of(node) for node in sorted(nodes, key=lambda node: (node.order, node.span))]
    ordered = sorted(calls, key=lambda call: (call.order, call.span))
    back = superseded(blocks, ordered)
    links = [*_in_time(blocks), *_led_to(blocks, ordered)]
    links += _based_on(blocks, ordered, states, [*failures], known.introduced())
    links += back.links
    by_source: dict[str, list[Link]] = {}
    for one in links:
        by_source.setdefault(one.source, []).append(one)
    return Linked(
        nodes=tuple(_marked(block, by_source.get(block.node.id, ()), back, ordered) for block in blocks),
        calls=tuple(ordered),
        links=tuple(links),
        gaps=breaks_of(blocks, ordered, states, known.introduced()),
    )


def _in_time(blocks: Sequence[Block]) -> list[Link]:
    ids = [block.node.id for block in blocks]
    return [Link(source=a, target=b, kind="time", evidence="comes next") for a, b in pairwise(ids)]


def _led_to(blocks: Sequence[Block], calls: Sequence[ToolCall]) -> list[Link]:
    links: list[Link] = []
    lowered = [block.node.text[:20_000].lower() for block in blocks]
    place = 0
    for call in calls:
        while place < len(blocks) and blocks[place].node.order < call.order:
            place += 1
        if place == 0:
            continue
        links.append(_announced(blocks[place - 1].node, lowered[place - 1], call))
        name = (call.requested_name or call.name or "").lower()
        named = [i for i in range(max(0, place - 20), place - 1) if len(name) > 2 and name in lowered[i]]
        if named:
            source = blocks[named[-1]].node.id
            links.append(Link(source=source, target=call.id, kind="led_to", evidence=f"names {name}"))
    return links


def _announced(node: Node, text: str, call: ToolCall) -> Link:
    words = [word for word in _WORD.findall((call.requested_name or call.name or "").lower()) if len(word) > 2]
    values = [leaf.lower() for leaf in leaves_of(call.arguments) if 1 < len(leaf) < 60]
    said = [word for word in dict.fromkeys([*words, *values]) if word in text][:3]
    evidence = f"comes next and says {', '.join(said)}" if said else "comes next"
    return Link(source=node.id, target=call.id, kind="led_to", evidence=evidence)


def _based_on(
    blocks: Sequence[Block],
    calls: Sequence[ToolCall],
    states: Sequence[StateEntry],
    failures: Sequence[Failure],
    said: Introduced,
) -> list[Link]:
    waiting = deque(sorted(_sources(calls, states), key=lambda source: source.order))
    refused = frozenset(failure.span for failure in failures if failure.code in _REFUSALS)
    links: list[Link] = []
    before: Node | None = None
    for block in blocks:
        while waiting and waiting[0].order < block.node.order:
            source = waiting.popleft()
            for leaf in leaves_of(source.content):
                said.add_value(source.id, leaf)
        links += _rests_on(block, before, said)
        links += _schemas(block.node, calls, refused)
        said.add(block.node.id, block.node.text)
        before = block.node
    return links


class _Source(NamedTuple):
    order: int
    id: str
    content: Json


def _sources(calls: Sequence[ToolCall], states: Sequence[StateEntry]) -> list[_Source]:
    said = [_Source(call.order, call.id, call.arguments) for call in calls]
    return said + [_Source(entry.order, f"state:{entry.key}", entry.content) for entry in states]


def _rests_on(block: Block, before: Node | None, said: Introduced) -> list[Link]:
    node = block.node
    shared = said.shared(node.text)
    most = sorted(shared, key=lambda source: (-len(shared[source]), source))[:BASED_ON_MAX]
    links = [
        Link(source=node.id, target=source, kind="based_on", evidence=f"repeats {', '.join(shared[source][:3])}")
        for source in most
        if source != node.id
    ]
    back = looks_back(node.text)
    if back and before and before.id not in most:
        links.append(Link(source=node.id, target=before.id, kind="based_on", evidence=f"says {back.lower()}"))
    for index, step in enumerate(node.steps):
        if (
            step.type is Label.MEMORY_RETRIEVAL
            and step.confidence >= MEMORY_CONFIDENCE_MIN
            and len(links) < 2 * BASED_ON_MAX
        ):
            links.append(
                Link(
                    source=node.id,
                    target=f"memory:{step_id(node, index)}",
                    kind="based_on",
                    evidence=block.texts[index][:80],
                )
            )
    return links


def _schemas(node: Node, calls: Sequence[ToolCall], refused: frozenset[Span]) -> list[Link]:
    """The schema of the call before a node, where that call was refused or the node speaks of its form."""
    before = bisect_left(calls, node.order, key=lambda call: call.order)
    call = calls[before - 1] if before else None
    if call is None or not (call.name or call.requested_name):
        return []
    target = f"schema:{call.name or call.requested_name}"
    cue = _OF_SCHEMA.search(node.text[:2_000])
    is_refused = call.status in {CallStatus.REFUSED, CallStatus.UNKNOWN_TOOL, CallStatus.UNPARSEABLE}
    if is_refused or call.span in refused:
        return [Link(source=node.id, target=target, kind="based_on", evidence=f"{call.id} was {call.status}")]
    if cue:
        return [Link(source=node.id, target=target, kind="based_on", evidence=f"says {cue[0].lower()} after {call.id}")]
    return []


def _marked(block: Block, mine: Sequence[Link], back: Superseded, calls: Sequence[ToolCall]) -> Node:
    node = block.node
    position = node.position
    at = bisect_left(calls, node.order + 1, key=lambda call: call.order)
    if at < len(calls) and calls[at].order == node.order + 1:
        position = f"{position},before:tool_call" if position and position != "start" else "before:tool_call"
    return replace(
        node,
        steps=tuple(
            replace(step, superseded=step.superseded or step_id(node, index) in back.steps)
            for index, step in enumerate(node.steps)
        ),
        based_on=tuple(dict.fromkeys(link.target for link in mine if link.kind == "based_on")),
        led_to=tuple(dict.fromkeys(link.target for link in mine if link.kind == "led_to")),
        superseded=node.superseded or node.id in back.nodes,
        superseded_by=back.nodes.get(node.id, node.superseded_by),
        position=position,
    )
