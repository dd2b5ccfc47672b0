"""The tee around streams of the vendors' own clients, and callbacks inside of LangChain and LiteLLM, as installed.

LiteLLM is 200 MB and not in the lock file: its tests are there when it is installed.
"""

import asyncio
import importlib.util
import os
import time
from collections.abc import Iterator

import anthropic
import openai
import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake import FakeStreamingListLLM
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from schemas.output import Output
from schemas.token import Meta, Token
from streams.client import AsyncTee, Limits, SyncTee, TokenProducer
from streams.client.for_langchain import LangChainNotes
from streams.proxy import proxying
from streams.settings import Settings
from tests.scripted_server import scripted_server

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}  # fmt: skip
CLAUDE_TOOL = {"name": "get_weather", "input_schema": TOOL["function"]["parameters"]}
ASKED = [{"role": "user", "content": "How is the weather?"}]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with scripted_server() as url:
        yield url


@pytest.fixture
def producer() -> TokenProducer:
    """One that was never connected: what it was given stays in its queue."""
    return TokenProducer(Settings(kafka_bootstrap="127.0.0.1:9"), limits=Limits(close_s_max=0.1))


def output_of(producer: TokenProducer) -> tuple[Output, list[Token]]:
    tokens = []
    while taken := producer.waiting.take():
        tokens += taken
    assert tokens
    assert len({token.stream_id for token in tokens}) == 1
    assert tokens[-1].done
    meta = tokens[0].meta or Meta()
    return run(tokens[0].stream_id, [token.text for token in tokens], meta, shipped_knowledge()), tokens


def expect_two_cities(output: Output) -> None:
    assert output.reasoning.text == "Two cities. Ask for both </think> at once."
    assert output.response == "Looking both up."
    calls = [(call.name, call.arguments, call.status) for call in output.tool_calls]
    assert calls == [("get_weather", {"city": "Oslo"}, "ok"), ("get_weather", {"city": "北京"}, "ok")]
    assert output.meta.user == "How is the weather?"


def openai_client(server: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server}/v1", api_key="k", max_retries=0)


def test_openai_chat(server, producer) -> None:
    request = {"model": "gpt-x", "messages": ASKED, "tools": [TOOL]}
    with openai_client(server) as client, client.chat.completions.create(**request, stream=True) as stream:
        got = list(producer.tee(stream, request))
    assert {type(item).__name__ for item in got} == {"ChatCompletionChunk"}
    expect_two_cities(output_of(producer)[0])


def test_openai_responses(server, producer) -> None:
    request = {"model": "gpt-x", "input": ASKED, "tools": [{"type": "function", **TOOL["function"]}]}
    with openai_client(server) as client:
        got = list(producer.tee(client.responses.create(**request, stream=True), request))
    assert len(got) > 5
    expect_two_cities(output_of(producer)[0])


def test_openai_asynchronous(server, producer) -> None:
    async def main() -> None:
        request = {"model": "gpt-x", "messages": ASKED, "tools": [TOOL]}
        async with openai.AsyncOpenAI(base_url=f"{server}/v1", api_key="k", max_retries=0) as client:
            tee = producer.tee(await client.chat.completions.create(**request, stream=True), request)
            assert isinstance(tee, AsyncTee)
            assert len([item async for item in tee]) == 12
            assert tee.response.status_code == 200

    asyncio.run(main())
    output, tokens = output_of(producer)
    expect_two_cities(output)
    assert tokens[-1].usage == {"prompt_tokens": 9, "completion_tokens": 30}


def test_anthropic_messages(server, producer) -> None:
    request = {"model": "claude-x", "messages": ASKED, "tools": [CLAUDE_TOOL], "max_tokens": 100}
    client = anthropic.Anthropic(base_url=server, api_key="k", max_retries=0)
    with client, client.messages.create(**request, stream=True) as stream:
        got = list(producer.tee(stream, request))
    assert {type(item).__name__ for item in got} >= {"RawMessageStartEvent", "RawContentBlockDeltaEvent"}
    expect_two_cities(output_of(producer)[0])


def test_anthropic_helper_with_derived_events(server, producer) -> None:
    request = {"model": "claude-x", "messages": ASKED, "tools": [CLAUDE_TOOL], "max_tokens": 100}
    client = anthropic.Anthropic(base_url=server, api_key="k", max_retries=0)
    with client, client.messages.stream(**request) as stream:
        tee = producer.tee(stream, request)
        assert isinstance(tee, SyncTee)
        kinds = {item.type for item in tee}
    assert {"text", "content_block_delta"} <= kinds
    expect_two_cities(output_of(producer)[0])


def test_anthropic_asynchronous(server, producer) -> None:
    async def main() -> None:
        request = {"model": "claude-x", "messages": ASKED, "tools": [CLAUDE_TOOL], "max_tokens": 100}
        async with anthropic.AsyncAnthropic(base_url=server, api_key="k", max_retries=0) as client:
            stream = await client.messages.create(**request, stream=True)
            assert [item async for item in producer.tee(stream, request)]

    asyncio.run(main())
    expect_two_cities(output_of(producer)[0])


def test_official_clients_through_the_proxy(server, producer) -> None:
    async def main() -> list[Output]:
        found = []
        async with proxying(server, producer, "127.0.0.1:0", repairs=False) as url:
            request = {"model": "gpt-x", "messages": ASKED, "tools": [TOOL]}
            async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
                direct = openai.AsyncOpenAI(base_url=f"{server}/v1", api_key="k", max_retries=0)
                got = [item async for item in await client.chat.completions.create(**request, stream=True)]
                async with direct:
                    assert got == [item async for item in await direct.chat.completions.create(**request, stream=True)]
                found.append(output_of(producer)[0])
                asked = {"model": "gpt-x", "input": ASKED, "tools": [{"type": "function", **TOOL["function"]}]}
                assert [item async for item in await client.responses.create(**asked, stream=True)]
                found.append(output_of(producer)[0])
            claude = {"model": "claude-x", "messages": ASKED, "tools": [CLAUDE_TOOL], "max_tokens": 100}
            async with anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
                async with client.messages.stream(**claude) as stream:
                    assert (await stream.get_final_message()).stop_reason == "tool_use"
                found.append(output_of(producer)[0])
        return found

    for output in asyncio.run(main()):
        expect_two_cities(output)


def test_official_client_gets_repaired_calls_from_the_proxy_if_it_asks(server, producer) -> None:
    async def main() -> None:
        async with (
            proxying(server, producer, "127.0.0.1:0", repairs=False) as url,
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client,
        ):
            request = {"model": "gpt-x", "messages": ASKED, "tools": [TOOL]}
            for headers, arguments in (({}, '{"city": "Oslo",}'), ({"x-hermes-repair": "true"}, '{"city":"Oslo"}')):
                answer = await client.chat.completions.create(**request, extra_headers=headers)
                (call,) = answer.choices[0].message.tool_calls
                assert call.function.arguments == arguments

    asyncio.run(main())


class CityModel(BaseChatModel):
    """A chat model of LangChain that has its answer ready."""

    is_streaming: bool = True

    @property
    def _llm_type(self) -> str:
        return "city"

    def _stream(self, messages, stop=None, run_manager=None, **kwargs) -> Iterator[ChatGenerationChunk]:
        first = {"index": 0, "id": "call_a", "name": "get_weather", "args": '{"city": '}
        second = {"index": 1, "id": "call_b", "name": "get_weather", "args": '{"city": "北京"}'}
        for message in (
            AIMessageChunk(content="", additional_kwargs={"reasoning_content": "Two cities. "}),
            AIMessageChunk(content="", additional_kwargs={"reasoning_content": "Ask for both </think> at once."}),
            AIMessageChunk(content="Looking "),
            AIMessageChunk(content=[{"type": "text", "text": "both up."}]),
            AIMessageChunk(content="", tool_call_chunks=[first]),
            AIMessageChunk(content="", tool_call_chunks=[{"index": 0, "id": None, "name": None, "args": '"Oslo"}'}]),
            AIMessageChunk(content="", tool_call_chunks=[second]),
            AIMessageChunk(content="", response_metadata={"finish_reason": "tool_calls", "model_name": "city-1"},
                           usage_metadata={"input_tokens": 9, "output_tokens": 30, "total_tokens": 39}),
        ):  # fmt: skip
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                run_manager.on_llm_new_token(message.text, chunk=chunk)
            yield chunk
            if kwargs.get("fails"):
                raise ValueError("the model is gone")

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        call = {"name": "get_weather", "args": {"city": "Oslo"}, "id": "call_a"}
        broken = {"name": "get_weather", "args": '{"city": "北京",}', "id": "call_b", "error": "no JSON"}
        message = AIMessage(content="Looking both up.", tool_calls=[call], invalid_tool_calls=[broken])
        return ChatResult(generations=[ChatGeneration(message=message)])


def langchain_model(**kwargs):
    return CityModel(**kwargs).bind(tools=[TOOL])


def test_langchain_model_that_streams(producer) -> None:
    config = {"callbacks": [LangChainNotes(producer, tenant="acme")], "metadata": {"hermes": {"goal_id": "g"}}}
    got = list(langchain_model().stream("How is the weather?", config))
    assert "".join(item.text for item in got) == "Looking both up."
    output, tokens = output_of(producer)
    expect_two_cities(output)
    assert (output.meta.tenant, output.meta.goal_id, output.meta.tools) == ("acme", "g", (TOOL,))
    assert tokens[-1].finish_reason == "tool_calls"
    assert tokens[-1].usage["output_tokens"] == 30


def test_langchain_model_that_streams_asynchronously(producer) -> None:
    async def main() -> None:
        config = {"callbacks": [LangChainNotes(producer)]}
        assert [item async for item in langchain_model().astream("How is the weather?", config)]

    asyncio.run(main())
    expect_two_cities(output_of(producer)[0])


def test_langchain_answer_that_comes_at_once_with_a_call_that_langchain_could_not_read(producer) -> None:
    langchain_model(disable_streaming=True).invoke("How is the weather?", {"callbacks": [LangChainNotes(producer)]})
    output, _ = output_of(producer)
    assert output.response == "Looking both up."
    calls = [(call.arguments, call.status) for call in output.tool_calls]
    assert calls == [({"city": "Oslo"}, "ok"), ({"city": "北京"}, "repaired")]


def test_langchain_model_of_plain_text(producer) -> None:
    notes = LangChainNotes(producer)
    assert "".join(FakeStreamingListLLM(responses=["It is 7 °C."]).stream("Oslo?", {"callbacks": [notes]}))
    output, tokens = output_of(producer)
    assert (output.response, output.meta.user) == ("It is 7 °C.", "Oslo?")
    assert tokens[-1].done


def test_langchain_stream_that_fails_or_is_left_ends(producer) -> None:
    notes = LangChainNotes(producer)
    with pytest.raises(ValueError, match="gone"):
        list(langchain_model().stream("q", {"callbacks": [notes]}, fails=True))
    assert output_of(producer)[1][-1].finish_reason == "error"
    for _ in langchain_model().stream("q", {"callbacks": [notes]}):
        break
    assert output_of(producer)[1][-1].finish_reason == "abandoned"
    assert not notes._open


def test_a_mistake_in_the_metadata_does_not_reach_the_chain(producer) -> None:
    config = {"callbacks": [LangChainNotes(producer)], "metadata": {"hermes": {"tenannt": "x"}}}
    assert langchain_model().invoke("q", config).text == "Looking both up."


if importlib.util.find_spec("litellm") is not None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

    ONE = TokenProducer(Settings(kafka_bootstrap="127.0.0.1:9"))
    """LiteLLM keeps the first callback of a class, whatever the list says later."""

    @pytest.fixture
    def producer() -> TokenProducer:
        return ONE

    @pytest.fixture
    def litellm():
        import litellm

        from streams.client.for_litellm import LiteLLMNotes

        litellm.callbacks = litellm.callbacks or [LiteLLMNotes(ONE, tenant="acme")]
        return litellm

    def arguments(server: str) -> dict:
        about = {"metadata": {"hermes": {"goal_id": "g"}}, "api_key": "k", "api_base": f"{server}/v1"}
        return {"model": "openai/gpt-x", "messages": ASKED, "tools": [TOOL], "num_retries": 0, **about}

    def wait_for_end(producer: TokenProducer) -> None:
        deadline = time.monotonic() + 10
        while not len(producer.waiting) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)  # a second event about the same answer would come now

    def test_litellm_stream_through_the_tee(server, producer) -> None:
        import litellm

        request = arguments(server)
        tee = producer.tee(litellm.completion(**request, stream=True), request)
        assert {type(item).__name__ for item in tee} == {"ModelResponseStream"}
        expect_two_cities(output_of(producer)[0])

    def test_litellm_stream(server, producer, litellm) -> None:
        assert len(list(litellm.completion(**arguments(server), stream=True))) > 5
        wait_for_end(producer)
        output, tokens = output_of(producer)
        expect_two_cities(output)
        assert (output.meta.tenant, output.meta.goal_id, output.meta.tools[0]) == ("acme", "g", TOOL)
        assert tokens[-1].finish_reason == "tool_calls"

    def test_litellm_stream_asynchronously(server, producer, litellm) -> None:
        async def main() -> None:
            assert [item async for item in await litellm.acompletion(**arguments(server), stream=True)]
            await asyncio.to_thread(wait_for_end, producer)

        asyncio.run(main())
        expect_two_cities(output_of(producer)[0])

    def test_litellm_answer_that_comes_at_once(server, producer, litellm) -> None:
        litellm.completion(**arguments(server))
        wait_for_end(producer)
        (call,) = output_of(producer)[0].tool_calls
        assert (call.arguments, call.status) == ({"city": "Oslo"}, "repaired")

    def test_litellm_proxy_notes_its_streams_as_they_go_and_once(server, producer, litellm) -> None:
        async def main() -> None:
            (notes,) = litellm.callbacks
            request = {**arguments(server), "litellm_call_id": "c1"}
            response = await litellm.acompletion(**request, stream=True)
            hooked = notes.async_post_call_streaming_iterator_hook(None, response, request)
            seen = 0
            async for _ in hooked:
                seen += 1
                assert len(producer.waiting)
            assert seen > 5
            await asyncio.sleep(1)

        asyncio.run(main())
        output, tokens = output_of(producer)
        expect_two_cities(output)
        assert {token.stream_id for token in tokens} == {"c1"}
