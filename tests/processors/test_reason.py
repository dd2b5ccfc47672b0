"""Which events the reason stage turns into which."""

from processors.reason import ReasonStage, type_of
from schemas.reasoning import Label, Node, ReasoningStep, StateEntry
from schemas.segment import Closed, Delta, Relabel, Segment, SegmentKind
from schemas.wire import Event

PLAN = "先获取当前时间。然后查询天气，也许先确认偏好。"
CORRECTION = "等等，刚才的调用格式有误，需要重新来。"


def segment(order: int, kind: SegmentKind, text: str) -> Segment:
    return Segment(stream_id="s", order=order, kind=kind, text=text, span=(order * 100, order * 100 + len(text)))


def run(*events: Event) -> list[Event]:
    stage = ReasonStage()
    return [out for event in events for out in stage.feed(event)] + list(stage.close())


CLOSED = Closed(stream_id="s", chars=1, tokens=1)


def test_reasoning_becomes_nodes_in_order_of_writing() -> None:
    call = segment(1, SegmentKind.TOOL_CALL, "{}")
    first, passed, second, closed = run(
        segment(0, SegmentKind.REASONING, PLAN), call, segment(2, SegmentKind.REASONING, CORRECTION), CLOSED
    )
    assert isinstance(first, Node)
    assert isinstance(second, Node)
    assert (first.id, first.type, first.position) == ("rn_0", Label.PLANNING, "start")
    assert (second.id, second.type, second.position) == ("rn_1", Label.SELF_CORRECTION, "after:tool_call")
    assert [PLAN[a:b] for a, b in (step.span for step in first.steps)] == [
        "先获取当前时间。",
        "然后查询天气，也许先确认偏好。",
    ]
    assert (passed, closed) == (call, CLOSED)


def test_state_comes_from_comments_at_once_and_from_the_answer_before_the_end() -> None:
    answer = segment(0, SegmentKind.RESPONSE, "初夏气温通常在25-35°C。")
    first, comment, said, last = run(answer, segment(1, SegmentKind.STATE, "<!-- aqi: 82 -->"), CLOSED)
    assert (first, last) == (answer, CLOSED)
    assert isinstance(comment, StateEntry)
    assert isinstance(said, StateEntry)
    assert (comment.content, comment.order, said.source) == ({"aqi": 82}, 1, "natural_text")


def test_answer_that_turns_out_to_be_reasoning_becomes_a_node() -> None:
    change = Relabel(stream_id="s", order=0, kind=SegmentKind.REASONING)
    answer = segment(0, SegmentKind.RESPONSE, "First, call the tool. It is usually fast.")
    passed, relabel, node, _ = run(answer, change, CLOSED)
    assert (passed, relabel) == (answer, change)
    assert isinstance(node, Node)
    assert (node.order, node.text) == (0, answer.text)


def test_reasoning_that_turns_out_to_be_the_answer_is_given_as_a_segment() -> None:
    change = Relabel(stream_id="s", order=0, kind=SegmentKind.RESPONSE)
    *_, again = run(segment(0, SegmentKind.REASONING, "hello"), change)
    assert again == segment(0, SegmentKind.RESPONSE, "hello")


def test_everything_else_passes() -> None:
    delta = Delta(stream_id="s", order=0, kind=SegmentKind.RESPONSE, text="x")
    assert run(delta, Relabel(stream_id="s", order=9, kind=SegmentKind.REASONING))[0] is delta


def test_correction_outweighs_a_plan() -> None:
    steps = [
        ReasoningStep(type=label, confidence=0.8, span=(0, 1)) for label in (Label.PLANNING, Label.SELF_CORRECTION)
    ]
    assert type_of(steps) == (Label.SELF_CORRECTION, 0.8)
    assert type_of([]) == (Label.OTHER, 0.0)
