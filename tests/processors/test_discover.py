"""Which outputs become samples for the learner."""

from processors.discover import sample_of
from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from schemas.token import Meta

TOOLS = (
    {
        "type": "function",
        "function": {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}},
    },
)


def sample_from(text: str, tools=TOOLS):
    return sample_of(run("s", [text], Meta(tools=tools, model="m", tenant="t"), shipped_knowledge()))


def test_text_that_names_a_tool_and_was_not_read_is_a_clean_sample() -> None:
    failure = sample_from("⟪call get_weather⟫ city ⇒ Oslo, ring 13812345678")
    sample = failure.context["sample"]
    assert "13812345678" not in sample["text"]
    assert "[PHONE_REDACTED]" in sample["text"]
    assert sample["source"] == "t/m"
    assert sample["tools"][0]["function"]["name"] == "get_weather"


def test_what_was_read_or_can_teach_nothing_is_none() -> None:
    assert sample_from('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>') is None
    assert sample_from("The weather in Oslo is fine today.") is None
    assert sample_from("⟪call get_weather⟫ city ⇒ Oslo", tools=()) is None
