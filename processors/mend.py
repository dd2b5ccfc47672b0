"""Parsed events of one stream, with what a language model answered → its Output again, as the next revision.

Calls come out mended where an answer could be trusted; a gap between two reasoning nodes is filled with a node that
says of itself that it was filled in. The events are cleaned and assembled by the same stages as the first time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from processors.knowledge import Knowledge
from processors.pii.redact import redact
from processors.pipeline import clean_stage
from processors.reasoning.fill import fill_gap, supplement_request
from processors.reasoning.link import Linked
from processors.repair import ToolSchema
from processors.tools.llm_answer import can_ask
from processors.tools.toolbox import Toolbox
from schemas.output import Output
from schemas.reasoning import Gap
from schemas.segment import Opened, SegmentKind
from schemas.toolcall import EXECUTABLE, ToolCall
from schemas.trajectory import Step
from schemas.wire import Event

GAPS_MAX = 5
"""Most gaps of one stream that are asked about."""


@dataclass(frozen=True, slots=True)
class Question:
    """A call to ask about, the schema it must fit, and what was said."""

    call: ToolCall
    schema: ToolSchema
    conversation: str


def questions(events: Sequence[Event], knowledge: Knowledge) -> list[Question]:
    """The calls of a closed stream that an answer could mend.

    A call that was issued again afterwards is none of them: mended, it would be executed beside its successor.
    """
    opened = next((event for event in events if isinstance(event, Opened)), None)
    if opened is None:
        return []
    toolbox = Toolbox(opened.meta.tools, knowledge.toolbox)
    calls = {event.id: event for event in events if isinstance(event, ToolCall)}
    last = {call.name: call.order for call in calls.values() if call.status in EXECUTABLE}
    found = []
    for call in calls.values():
        schema = toolbox.schema(call.name or "")
        if isinstance(schema, ToolSchema) and can_ask(call) and last.get(call.name, -1) < call.order:
            found.append(Question(call, schema, opened.meta.user or ""))
    return found


def output_again(
    events: Sequence[Event], mended: Mapping[str, ToolCall], knowledge: Knowledge
) -> Iterator[Output | Step]:
    """The Output with the mended calls, and their steps, each one revision on."""
    stage = clean_stage(knowledge)
    for event in events:
        given = mended.get(event.id, event) if isinstance(event, ToolCall) else event
        for out in stage.feed(given):
            is_mended = isinstance(out, Step) and out.kind == SegmentKind.TOOL_CALL and out.detail.get("id") in mended
            if isinstance(out, Output) or (isinstance(out, Step) and is_mended):
                yield replace(out, rev=out.rev + 1)


def gap_questions(output: Output) -> list[tuple[Gap, str]]:
    """What to ask about the gaps in an output's reasoning: on clean texts."""
    linked = _linked(output)
    return [(gap, supplement_request(linked, gap)) for gap in output.reasoning.gaps[:GAPS_MAX]]


def filled(output: Output, answers: Sequence[tuple[Gap, str]]) -> Output:
    """The output with a marked node in each gap that was answered."""
    linked = _linked(output)
    for gap, answer in answers:
        linked = fill_gap(linked, gap, redact(answer).text)
    if linked.gaps == output.reasoning.gaps:
        return output
    tree = replace(output.reasoning, nodes=linked.nodes, edges=linked.edges, links=linked.links, gaps=linked.gaps)
    return replace(output, reasoning=tree)


def _linked(output: Output) -> Linked:
    tree = output.reasoning
    return Linked(nodes=tree.nodes, calls=output.tool_calls, links=tree.links, gaps=tree.gaps)
