"""Token → Output, whole: the two texts that the mission names, and the same bytes however a text is cut."""

import json
import random
import tomllib
from pathlib import Path

import pytest

from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from schemas.failure import FailureCode
from schemas.reasoning import Label
from schemas.token import Meta
from schemas.toolcall import EXECUTABLE, CallStatus
from schemas.wire import encode

EXAMPLES = Path(__file__).parents[2] / "examples"
TOOLS = {tool["function"]["name"]: tool for tool in json.loads((EXAMPLES / "tools.json").read_text(encoding="utf-8"))}
STREAMS = tomllib.loads((EXAMPLES / "streams.toml").read_text(encoding="utf-8"))["stream"]


def text_of(stream) -> str:
    return (EXAMPLES / "raw" / f"{stream['file']}.txt").read_bytes().decode("utf-8")


def meta_of(stream) -> Meta:
    given = {key: stream[key] for key in ("model", "user", "now", "reasoning_open") if key in stream}
    return Meta(tools=tuple(TOOLS[name] for name in stream["tools"]), **given)


def output_of(stream, pieces=None):
    return run(stream["file"], pieces or [text_of(stream)], meta_of(stream), shipped_knowledge())


def executable(output):
    return [call for call in output.tool_calls if call.status in EXECUTABLE and not call.duplicate_of]


def test_weather_text_has_two_nodes_one_call_and_its_state() -> None:
    output = output_of(STREAMS[0])
    assert [(node.id, node.type) for node in output.reasoning.nodes] == [
        ("rn_0", Label.PLANNING),
        ("rn_1", Label.SELF_CORRECTION),
    ]
    assert ("rn_0", "rn_1") in output.reasoning.edges
    (call,) = executable(output)
    assert (call.name, call.arguments) == ("get_weather", {"city": "北京", "date": "2026-06-01"})
    weather = next(entry for entry in output.state.values() if entry.source == "html_comment")
    assert weather.content == {"temperature": "28°C", "humidity": "45%", "aqi": 82}
    assert weather.confidence >= 0.9
    knowledge = output.state["domain_knowledge"]
    assert knowledge.source == "natural_text"
    assert knowledge.confidence == pytest.approx(0.7, abs=0.05)
    assert not [mark for mark in ("<", "```", "thinking") if mark in output.response]
    assert "晴转多云" in output.response
    assert output.metadata.parse_confidence == pytest.approx(0.9, abs=0.07)
    assert output.metadata.repairs_applied >= 1


def test_sales_text_is_repaired_from_the_users_words() -> None:
    (call,) = output_of(STREAMS[1]).tool_calls
    assert call.status is CallStatus.REPAIRED
    assert call.arguments == {"date_range": ["2026-01-01", "2026-03-31"], "metrics": ["revenue"]}
    assert call.confidence >= 0.9
    assert len(call.repairs) >= 2


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream["file"])
def test_any_cut_gives_the_same_bytes(stream) -> None:
    text = text_of(stream)
    whole = encode(output_of(stream))
    assert encode(output_of(stream, list(text))) == whole
    draw = random.Random(stream["file"])
    for _ in range(3):
        cuts = sorted(draw.sample(range(1, len(text)), min(len(text) - 1, 40)))
        pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert encode(output_of(stream, pieces)) == whole


def test_nothing_personal_is_in_an_output() -> None:
    streams = [stream for stream in STREAMS if "pii" in stream["file"] or "secrets" in stream["file"]]
    for stream in streams:
        data = encode(output_of(stream)).decode()
        for value in (
            "13812345678",
            "110101199003074477",
            "li.lei@example.com",
            "sk-proj-",
            "maria.huber",
            "660 1234567",
        ):
            assert value not in data


def test_a_cut_call_leaves_one_failure() -> None:
    text = '<tool_call>{"name": "save_note", "arguments": {"t": "x'
    output = run("s", [text], Meta(), shipped_knowledge())
    assert [call.status for call in output.tool_calls] == [CallStatus.TRUNCATED]
    assert [failure.code for failure in output.failures if failure.code is FailureCode.TRUNCATED_CALL] == [
        FailureCode.TRUNCATED_CALL
    ]
