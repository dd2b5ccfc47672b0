"""Edges with evidence, corrections applied in both directions, gaps between blocks."""

import time

from processors.reason import ReasonStage
from processors.reasoning.link import Known, Linked, link
from schemas.failure import Failure, FailureCode, Stage
from schemas.reasoning import Label, Node, StateEntry
from schemas.segment import Segment, SegmentKind
from schemas.token import GivenResult
from schemas.toolcall import CallStatus, ToolCall


def nodes(*texts: tuple[int, str]) -> list[Node]:
    stage = ReasonStage()
    segments = [
        Segment(
            stream_id="s",
            order=order,
            kind=SegmentKind.REASONING,
            text=text,
            span=(order * 1000, order * 1000 + len(text)),
        )
        for order, text in texts
    ]
    return [event for segment in segments for event in stage.feed(segment) if isinstance(event, Node)]


def call(order: int, number: int, arguments: dict[str, object] | None, **more: object) -> ToolCall:
    given = {"name": "get_weather", "requested_name": "get_weather", "status": CallStatus.OK} | more
    return ToolCall(
        stream_id="s", id=f"call_{number}", arguments=arguments, raw="", order=order, span=(order * 1000, order * 1000 + 9),
        strategy="json", confidence=0.9, **given,
    )  # fmt: skip


def evidence(linked: Linked, source: str, kind: str, target: str) -> str | None:
    return next((x.evidence for x in linked.links if (x.source, x.kind, x.target) == (source, kind, target)), None)


BEIJING = {"city": "北京", "date": "2026-06-01"}
PLAN = (0, "我需要先获取当前时间，然后查询北京的天气，也许应该先确认偏好。")
REDO = (4, "等等，刚才的调用格式有误，需要重新来。")


def test_blocks_are_joined_in_time_and_to_the_calls_they_announce() -> None:
    linked = link(nodes(PLAN, REDO), [call(2, 0, BEIJING), call(5, 1, BEIJING, duplicate_of="call_0")])
    first, second = linked.nodes
    assert (first.type, second.type) == (Label.PLANNING, Label.SELF_CORRECTION)
    assert linked.edges == (("rn_0", "rn_1"),)
    assert (first.led_to, second.led_to) == (("call_0",), ("call_1",))
    assert second.based_on == ("rn_0", "schema:get_weather")
    assert evidence(linked, "rn_0", "led_to", "call_0") == "comes next and says 北京"
    assert second.position == "after:reasoning,before:tool_call"


def test_block_rests_on_an_answer_of_a_tool_that_the_prompt_held() -> None:
    known = Known(
        user="How warm is it?",
        results=(GivenResult(call_id="c7", content='{"temperature": 28.5, "站": "海淀观测站"}'),),
    )
    linked = link(nodes((0, "The station says 28.5 degrees, so a jacket is not needed.")), [], known=known)
    assert linked.nodes[0].based_on[0] == "tool_result:c7"
    assert evidence(linked, "rn_0", "based_on", "tool_result:c7") == "repeats 28.5"
    assert (
        link(nodes((0, "根据海淀观测站的数据，现在很热。")), [], known=known).nodes[0].based_on[0] == "tool_result:c7"
    )


def test_replaced_call_is_linked_to_the_correction_between() -> None:
    calls = [call(2, 0, BEIJING, superseded_by="call_1"), call(5, 1, BEIJING | {"date": "2026-06-02"})]
    linked = link(nodes(PLAN, REDO), calls)
    assert evidence(linked, "rn_1", "supersedes", "call_0") == "call_1 calls get_weather again"
    assert evidence(link([], calls), "call_1", "supersedes", "call_0") is not None


def test_calls_that_all_stand_have_no_such_link() -> None:
    linked = link(nodes(PLAN, REDO), [call(2, 0, BEIJING), call(5, 1, BEIJING, duplicate_of="call_0")])
    assert not [one for one in linked.links if one.kind == "supersedes" and one.target.startswith("call_")]


def test_correction_inside_a_block_takes_back_the_step_it_shares_a_value_with() -> None:
    (node,) = link(
        nodes((0, "The fee is 4711 euros. The rate is low. Wait, that's wrong: 4711 is the invoice number.")), []
    ).nodes
    assert [step.superseded for step in node.steps] == [True, False, False]


def test_correction_of_a_plan_supersedes_the_block() -> None:
    plan = (0, "The plan is to crawl the site with fetch_page.")
    linked = link(nodes(plan, (2, "No, that approach is wrong, let me redo it with the export.")), [])
    assert (linked.nodes[0].superseded, linked.nodes[0].superseded_by) == (True, "rn_1")
    assert evidence(linked, "rn_1", "supersedes", "rn_0") == "takes back the approach"


def test_block_rests_on_whoever_said_its_values_last() -> None:
    state = StateEntry(
        stream_id="s",
        key="weather_data",
        source="html_comment",
        content={"aqi": 82, "t": "28°C"},
        confidence=0.95,
        order=3,
        span=(0, 1),
    )
    linked = link(
        nodes((0, "Look up order 55120."), (4, "Order 55120 is late and the aqi of 82 is high. I recall that rain delays vans.")),
        [call(2, 0, {"order": 55120})], [state], known=Known(user="where is 99817"),
    )  # fmt: skip
    assert linked.nodes[1].based_on[:2] == ("call_0", "state:weather_data")
    assert linked.nodes[1].based_on[-1].startswith("memory:rn_1#")
    assert evidence(linked, "rn_1", "based_on", "call_0") == "repeats 55120"


def test_block_after_a_refused_call_rests_on_the_schema() -> None:
    refused = call(1, 0, None, status=CallStatus.REFUSED)
    failure = Failure(stream_id="s", code=FailureCode.REFUSED_CALL, stage=Stage.TOOL, span=refused.span)
    linked = link(nodes((0, "Call the tool."), (2, "Try once more.")), [refused], failures=[failure])
    assert evidence(linked, "rn_1", "based_on", "schema:get_weather") == "call_0 was refused"


def test_blocks_with_nothing_in_common_have_a_gap_between_them() -> None:
    weather = (0, "The weather in Beijing will be sunny tomorrow. Call get_weather for Beijing.")
    flights = (2, "Search flights from Boston to Oslo. Then reserve the cheapest seat near the window.")
    (gap,) = link(nodes(weather, flights), [call(1, 0, {"city": "Beijing"})]).gaps
    assert (gap.between, gap.suggestion) == (("rn_0", "rn_1"), "model_supplement")
    assert gap.similarity < 0.1


def test_signs_of_something_left_out_are_gaps_with_evidence() -> None:
    text = "Step 1: load the rows. Step 2: drop nulls. Step 4: the 88.5 we got goes into the report."
    (gap,) = link(nodes((0, text)), []).gaps
    assert gap.between == ("rn_0#1", "rn_0#2")
    assert gap.evidence == ("skipped_number:3", "never_introduced:88.5")


def test_text_that_cleaning_made_longer_is_still_read() -> None:
    (node,) = nodes((0, "Call 13812345678. Wait, that number is wrong."))
    cleaned = Node(
        **{field: getattr(node, field) for field in Node.__dataclass_fields__}
        | {"text": "Call [PHONE_REDACTED]. Wait, that number is wrong."}
    )
    assert [step.superseded for step in link([cleaned], []).nodes[0].steps] == [True, False]


def test_nothing_gives_an_empty_tree() -> None:
    assert link([], []) == Linked(nodes=(), calls=(), links=(), gaps=())


def test_cost_is_linear_in_blocks_and_calls() -> None:
    start = time.process_time()
    many = nodes(
        *((order * 2, f"Then call tool number {order} with id {order}77. Wait, wrong.") for order in range(1_000))
    )
    link(many, [call(order * 2 + 1, order, {"id": order}) for order in range(1_000)])
    link(nodes((0, "Wait, wrong 17. " * 20_000)), [])
    assert time.process_time() - start < 12
