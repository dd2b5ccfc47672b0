"""Producer kit: the user's objects pass unchanged; what they say becomes tokens, whatever happens to Kafka."""

import asyncio
import gc
import time
from dataclasses import replace
from types import SimpleNamespace

import orjson
import pytest

from processors.channels.items import ItemReader
from processors.channels.part import Part
from processors.channels.render import Renderer
from processors.channels.request import meta_of_request
from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from schemas.token import GivenResult, Meta, Token
from streams.client import Limits, SyncTokenProducer, TokenProducer
from streams.client.tee import AsyncTee, Notes, SyncTee
from streams.client.waiting import TOKEN_CHARS_MAX, Line, Waiting
from streams.settings import ServerAwayError, Settings
from tests.server_streams import ANTHROPIC, CHAT, RESPONSES
from tests.streams.flow import consumed, prepared

TOOL = {"name": "get_weather", "description": "d", "parameters": {"type": "object"}}
IN_OPENAI_FORM = ({"type": "function", "function": TOOL},)


class Target:
    """A producer without Kafka."""

    def __init__(self, **limits) -> None:
        self.waiting = Waiting(Limits(**limits))

    def wake(self) -> None:
        pass

    def may_block(self) -> bool:
        return True


def objects(value):
    """JSON as an SDK's objects: attributes, nothing to index by name."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: objects(item) for key, item in value.items()})
    return [objects(item) for item in value] if isinstance(value, list) else value


def tokens_of(target: Target) -> list[Token]:
    found = []
    while taken := target.waiting.take():
        target.waiting.delivered(taken)
        found += taken
    return found


def text_of(tokens: list[Token]) -> str:
    assert [token.seq for token in tokens] == [sum(t.count for t in tokens[:i]) for i in range(len(tokens))]
    assert [token.done for token in tokens] == [False] * (len(tokens) - 1) + [True]
    return "".join(token.text for token in tokens)


@pytest.mark.parametrize("as_object", [False, True], ids=["dicts", "objects"])
@pytest.mark.parametrize("stream", [CHAT, RESPONSES, ANTHROPIC], ids=["chat", "responses", "anthropic"])
def test_tee_gives_the_very_same_objects_and_notes_what_they_say(stream, as_object) -> None:
    given = [objects(item) if as_object else item for item in stream]
    target = Target()
    got = list(SyncTee(given, Notes(target, "s", Meta(user="u"))))
    assert len(got) == len(given)
    assert all(one is other for one, other in zip(got, given, strict=True))
    tokens = tokens_of(target)
    output = run("s", [text_of(tokens)], Meta(), shipped_knowledge())
    assert output.reasoning.text == "Two cities. Ask for both </think> at once."
    assert [call.arguments for call in output.tool_calls] == [{"city": "Oslo"}, {"city": "北京"}]
    assert output.response == "Looking both up."
    assert tokens[0].meta.user == "u"
    assert tokens[0].meta.model
    assert tokens[0].meta.attrs["response_id"]
    assert tokens[-1].usage
    assert tokens[-1].finish_reason


def test_tee_of_an_async_stream() -> None:
    async def main() -> None:
        async def stream():
            for item in CHAT:
                yield item

        target = Target()
        got = [item async for item in AsyncTee(stream(), Notes(target, "s", Meta()))]
        assert all(one is other for one, other in zip(got, CHAT, strict=True))
        assert text_of(tokens_of(target)).endswith("<|channels:end|>")

    asyncio.run(main())


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_server_sent_events_as_strings_and_as_bytes_cut_anywhere(size) -> None:
    body = "".join(f"data: {orjson.dumps(item).decode()}\n\n" for item in CHAT) + "data: [DONE]\n\n"
    raw = body.encode()
    expected = None
    for items in (
        body.splitlines(),
        body.splitlines(keepends=True),
        [raw[i : i + size] for i in range(0, len(raw), size)],
    ):
        target = Target()
        assert list(SyncTee(items, Notes(target, "s", Meta()))) == items
        text = text_of(tokens_of(target))
        expected = expected or text
        assert text == expected
    assert "北京" in expected


def test_strings_of_a_model_are_its_text() -> None:
    texts = ["data", ": x\n", "data: [1]\n", "", "你好 😀", "\ud83d"]
    target = Target()
    assert list(SyncTee(iter(texts), Notes(target, "s", Meta()))) == texts
    assert text_of(tokens_of(target)) == "".join(texts)


def test_objects_of_no_known_shape_pass_and_are_counted() -> None:
    reader = ItemReader()
    assert [reader.read(item) for item in (3, object(), {"a": 1}, [1], None)] == [()] * 5
    assert reader.unknown == 5


def test_what_the_stream_raises_passes_after_its_end_was_noted() -> None:
    def stream():
        yield "half"
        raise KeyError("mine")

    target = Target()
    with pytest.raises(KeyError, match="mine"):
        list(SyncTee(stream(), Notes(target, "s", Meta())))
    (token,) = tokens_of(target)
    assert (token.text, token.done, token.finish_reason) == ("half", True, "error")


def test_a_stream_that_is_left_ends_as_abandoned_and_its_open_call_is_never_executable() -> None:
    target = Target()
    for number, _ in enumerate(SyncTee(CHAT, Notes(target, "s", Meta()))):
        if number == 6:
            break
    gc.collect()
    tokens = tokens_of(target)
    assert tokens[-1].finish_reason == "abandoned"
    (call,) = run("s", [text_of(tokens)], Meta(), shipped_knowledge()).tool_calls
    assert call.status == "truncated"


def test_tee_looks_like_the_stream_it_wraps() -> None:
    class Stream:
        response = "headers"
        closed = 0

        def __iter__(self):
            return iter(["a", "b"])

        def close(self) -> None:
            self.closed += 1

    stream = Stream()
    with SyncTee(stream, Notes(Target(), "s", Meta())) as tee:
        assert next(tee) == "a"
        assert tee.response == "headers"
    assert stream.closed == 1
    with pytest.raises(AttributeError):
        _ = tee.nothing


def test_full_and_told_to_drop_counts_what_is_lost_and_leaves_a_gap() -> None:
    target = Target(waiting_chars_max=3, when_full="drop")
    tee = SyncTee(iter("abcdef"), Notes(target, "s", Meta()))
    assert [next(tee) for _ in range(5)] == list("abcde")
    first = target.waiting.take()
    target.waiting.delivered(first)
    assert list(tee) == ["f"]
    second = target.waiting.take()
    assert [(token.seq, token.text) for token in first + second] == [(0, "abc"), (5, "f")]
    assert target.waiting.dropped == 2


def test_deltas_are_joined_and_long_ones_are_cut() -> None:
    waiting, line = Waiting(Limits()), Line("s", Meta(), Renderer())
    for text in ("a", "b", "x" * (2 * TOKEN_CHARS_MAX), "z"):
        waiting.add(line, Part(text))
    waiting.end(line, None)
    tokens = []
    while taken := waiting.take():
        assert len(taken) == 1
        tokens += taken
        waiting.delivered(taken)
    assert text_of(tokens) == "ab" + "x" * (2 * TOKEN_CHARS_MAX) + "z"
    assert max(len(token.text) for token in tokens) <= TOKEN_CHARS_MAX
    assert [token.meta is not None for token in tokens] == [True] + [False] * (len(tokens) - 1)
    assert waiting.chars == 0


@pytest.mark.parametrize(
    ("request_", "user"),
    [
        ({"messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "x"}]}, "one"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "image"}]}]}, "two"),
        ({"messages": [{"role": "user", "content": "q"}, {"role": "user", "content": [{"type": "tool_result"}]}]}, "q"),
        ({"input": "three"}, "three"),
        ({"input": [{"role": "user", "content": [{"type": "input_text", "text": "four"}]}]}, "four"),
        ({"prompt": "five"}, "five"),
        ({"messages": 5, "tools": 7}, None),
    ],
)
def test_request_says_what_the_person_asked(request_, user) -> None:
    assert meta_of_request(request_).user == user


@pytest.mark.parametrize(
    "request_",
    [
        {"messages": [{"role": "tool", "tool_call_id": "c1", "content": "28 °C"}, {"role": "user", "content": "x"}]},
        {"input": [{"type": "function_call_output", "call_id": "c1", "output": "28 °C"}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "28 °C"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "28 °C"}]}]}]},
    ],
    ids=["chat", "responses", "anthropic", "anthropic-blocks"],
)  # fmt: skip
def test_answers_of_tools_come_along(request_) -> None:
    assert meta_of_request(request_).results == (GivenResult(call_id="c1", content="28 °C"),)


def test_latest_answers_of_tools_fit() -> None:
    messages = [{"role": "tool", "tool_call_id": f"c{n}", "content": "x" * 9_000} for n in range(4)]
    results = meta_of_request({"messages": messages}).results
    assert [(result.call_id, len(result.content)) for result in results] == [
        ("c1", 2_000),
        ("c2", 9_000),
        ("c3", 9_000),
    ]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": TOOL},
        {"type": "function", **TOOL},
        {"name": "get_weather", "description": "d", "input_schema": {"type": "object"}},
    ],
    ids=["chat", "responses", "anthropic"],
)
def test_tools_of_every_api_become_openai_functions(tool) -> None:
    assert meta_of_request({"model": "m", "tools": [tool, {"type": "web_search"}]}).tools == IN_OPENAI_FORM


@pytest.mark.engines
def test_tokens_of_teed_streams_arrive_in_order(running) -> None:
    async def main() -> list:
        settings, _ = await prepared(running.settings, "tee.")
        async with TokenProducer(settings) as producer:

            async def one(number: int) -> None:
                async def stream():
                    for item in CHAT:
                        await asyncio.sleep(0.001)
                        yield item

                tee = producer.tee(stream(), {"tools": list(IN_OPENAI_FORM)}, stream_id=f"s{number}", tenant="acme")
                assert [item async for item in tee] == CHAT

            await asyncio.gather(*map(one, range(20)))
            await producer.flush()
        return await consumed(settings, "llm.tokens", 20)

    records = asyncio.run(main())
    by_stream: dict[str, list] = {}
    for record in records:
        token = orjson.loads(record.value)
        assert record.key.decode() == token["stream_id"]
        by_stream.setdefault(token["stream_id"], []).append(token)
    assert len(by_stream) == 20
    texts = set()
    for tokens in by_stream.values():
        assert [token["seq"] for token in tokens] == [sum(t["count"] for t in tokens[:i]) for i in range(len(tokens))]
        assert tokens[0]["meta"]["tenant"] == "acme"
        assert tokens[0]["meta"]["tools"] == list(IN_OPENAI_FORM)
        assert tokens[-1]["done"]
        texts.add("".join(token["text"] for token in tokens))
    assert len(texts) == 1


@pytest.mark.engines
def test_the_sync_twin_does_the_same(running) -> None:
    settings, _ = asyncio.run(prepared(running.settings, "sync."))
    with SyncTokenProducer(settings) as producer:
        assert list(producer.tee(iter(["It ", "is."]), stream_id="s")) == ["It ", "is."]
        producer.flush()
    records = asyncio.run(consumed(settings, "llm.tokens", 1))
    assert "".join(orjson.loads(record.value)["text"] for record in records) == "It is."


def test_kafka_away_never_breaks_a_stream() -> None:
    away = Settings(kafka_bootstrap="127.0.0.1:9")

    async def main() -> None:
        async with TokenProducer(away, limits=Limits(close_s_max=0.1)) as producer:
            took = time.perf_counter()
            assert list(producer.tee(iter(["a"] * 1_000))) == ["a"] * 1_000
            assert time.perf_counter() - took < 1
            assert producer.waiting.chars == 1_000
            with pytest.raises(ServerAwayError):
                await producer.send(Token(stream_id="s", seq=0, text="a"))
        with pytest.raises(ServerAwayError):
            await TokenProducer(away, must_connect=True).__aenter__()

    asyncio.run(main())


def test_an_unknown_field_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="tenannt"):
        TokenProducer(Settings()).tee([], tenannt="x")


@pytest.mark.engines
def test_what_came_while_kafka_was_away_is_delivered_in_order_when_it_is_back(running) -> None:
    async def main() -> None:
        settings, _ = await prepared(running.settings, "late.")
        host, port = settings.kafka_bootstrap.split(",")[0].rsplit(":", 1)

        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection(host, int(port))

            async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
                while data := await source.read(65_536):
                    target.write(data)
                target.close()

            await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)

        free = await asyncio.start_server(forward, "127.0.0.1", 0)
        address = free.sockets[0].getsockname()[1]
        free.close()
        await free.wait_closed()
        away = replace(settings, kafka_bootstrap=f"127.0.0.1:{address}")
        async with TokenProducer(away) as producer:
            assert list(producer.tee(iter("abc"), stream_id="s")) == list("abc")
            await asyncio.sleep(0.3)
            assert list(producer.tee(iter("def"), stream_id="t")) == list("def")
            async with await asyncio.start_server(forward, "127.0.0.1", address):
                await asyncio.wait_for(producer.flush(), 30)
        records = await consumed(settings, "llm.tokens", 2)
        texts: dict[str, str] = {}
        for record in records:
            token = orjson.loads(record.value)
            texts[token["stream_id"]] = texts.get(token["stream_id"], "") + token["text"]
        assert texts == {"s": "abc", "t": "def"}

    asyncio.run(main())
