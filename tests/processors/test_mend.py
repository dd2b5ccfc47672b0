"""Streams with calls that an answer could mend: what is asked, and the Output that comes of it."""

from dataclasses import replace

from processors.knowledge import shipped_knowledge
from processors.mend import filled, gap_questions, output_again, questions
from processors.pipeline import tokens
from processors.processor import chain
from processors.reason import ReasonStage
from processors.tokens import SegmentStage
from processors.tool import ToolStage
from schemas.output import Output, Reasoning
from schemas.reasoning import Gap, Label, Node
from schemas.token import Meta
from schemas.toolcall import CallStatus
from schemas.trajectory import Step

TOOL = {
    "name": "set_priority",
    "parameters": {
        "type": "object",
        "properties": {"level": {"type": "string", "enum": ["low", "high"]}, "who": {"type": "string"}},
        "required": ["level"],
    },
}
KNOWLEDGE = shipped_knowledge()
GOOD = '<tool_call>\n{"name": "set_priority", "arguments": {"level": "low"}}\n</tool_call>'
BAD = '<tool_call>\n{"name": "set_priority", "arguments": {"level": "xyzzy", "who": "13800138000"}}\n</tool_call>'


def parsed(text, user=None):
    """What the tool stage gives for a text."""
    stages = chain(SegmentStage(KNOWLEDGE), ReasonStage(), ToolStage(KNOWLEDGE.toolbox, KNOWLEDGE.tool_options))
    meta = Meta(tools=({"type": "function", "function": TOOL},), user=user)
    return [event for token in tokens("s", [text], meta) for event in stages.feed(token)]


def test_a_refused_call_is_asked_about_with_what_was_said() -> None:
    (question,) = questions(parsed(BAD, "Make it high."), KNOWLEDGE)
    assert (question.call.status, question.conversation) == (CallStatus.REFUSED, "Make it high.")
    assert question.schema.name == "set_priority"


def test_good_calls_and_those_issued_again_are_not_asked_about() -> None:
    assert questions(parsed(GOOD), KNOWLEDGE) == []
    assert questions(parsed(BAD + "\nAgain.\n" + GOOD), KNOWLEDGE) == []
    assert questions(parsed("plain text"), KNOWLEDGE) == []
    assert questions([], KNOWLEDGE) == []


def test_the_output_comes_again_with_the_mended_call_and_clean() -> None:
    events = parsed(BAD + "\nDone.", "Make it high.")
    (question,) = questions(events, KNOWLEDGE)
    call = replace(
        question.call, status=CallStatus.REPAIRED, strategy="llm", refusal=None,
        arguments={"level": "high", "who": "13800138000"},
    )  # fmt: skip
    *steps, output = output_again(events, {call.id: call}, KNOWLEDGE)
    assert isinstance(output, Output)
    assert output.rev == 1
    assert output.tool_calls[0].arguments == {"level": "high", "who": "[PHONE_REDACTED]"}
    assert output.response == "Done."
    assert [(type(step), step.kind, step.rev, step.status) for step in steps] == [(Step, "tool_call", 1, "repaired")]


def node(order, text) -> Node:
    span = (100 * order, 100 * order + len(text))
    return Node(
        stream_id="s", id=f"rn_{order}", type=Label.PLANNING, confidence=0.9, text=text, order=order, span=span
    )  # fmt: skip


def test_a_gap_is_asked_about_and_filled_with_a_marked_and_clean_node() -> None:
    nodes = (node(0, "First the weather."), node(1, "Book the flight."))
    gaps = (Gap(between=("rn_0", "rn_1"), similarity=0.0), Gap(between=("rn_7", "rn_8"), similarity=0.0))
    gapped = Output(stream_id="s", reasoning=Reasoning(nodes=nodes, gaps=gaps))
    (first, asked), (second, _) = gap_questions(gapped)
    assert "First the weather." in asked
    out = filled(gapped, [(first, "The weather is good; call 13800138000."), (second, "x")]).reasoning
    assert [one.auto_filled for one in out.nodes] == [False, True, False]
    assert out.nodes[1].text == "The weather is good; call [PHONE_REDACTED]."
    assert out.gaps == (second,)
    assert filled(gapped, [(first, "NONE")]) == gapped
