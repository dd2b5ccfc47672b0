"""Records that are no `token/1`: what each shape adds to its stream, and why others can't be used."""

import base64
import json
import random

import orjson
import pytest

from processors.knowledge import shipped_knowledge
from processors.pipeline import run
from processors.read_record import Foreign, read_record
from schemas.token import Meta, Token
from streams.foreign import ForeignLine
from tests.server_streams import ANTHROPIC, CHAT, GEMINI, LLAMA_CPP, OLLAMA, RESPONSES, TGI


def rendered(records: list[bytes], headers=(), key: bytes | None = b"s") -> tuple[str, list[Token]]:
    line, tokens = None, []
    for record in records:
        found = read_record(record, key, headers)
        assert isinstance(found, Foreign), found
        line = line or ForeignLine(found.stream_id, found.meta)
        for part in found.parts:
            token = line.token(part, len(tokens))
            tokens += [token] if token else []
    return "".join(token.text for token in tokens), tokens


@pytest.mark.parametrize(
    ("objects", "model"),
    [(CHAT, "gpt-x"), (RESPONSES, "gpt-x"), (ANTHROPIC, "claude-x"), (OLLAMA, "llama-x"), (GEMINI, "gemini-x")],
    ids=["chat", "responses", "anthropic", "ollama", "gemini"],
)
def test_channels_that_a_server_kept_apart_arrive_as_reasoning_calls_and_response(objects, model) -> None:
    text, tokens = rendered([orjson.dumps(item) for item in objects])
    assert [token.done for token in tokens].count(True) == 1
    assert tokens[-1].done
    assert tokens[-1].usage
    assert tokens[-1].finish_reason
    assert tokens[0].meta.model == model
    output = run("s", [text], Meta(), shipped_knowledge())
    assert output.reasoning.text == "Two cities. Ask for both </think> at once."
    assert [(call.name, call.arguments) for call in output.tool_calls] == [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "北京"}),
    ]
    assert output.response == "Looking both up."


@pytest.mark.parametrize("objects", [LLAMA_CPP, TGI], ids=["llama.cpp", "tgi"])
def test_plain_text_servers(objects) -> None:
    text, tokens = rendered([orjson.dumps(item) for item in objects])
    assert text == "It is 7 °C."
    assert tokens[-1].done


def test_server_sent_events_and_their_end() -> None:
    lines = [b"data: " + orjson.dumps(item) for item in CHAT]
    text, tokens = rendered([b": ping", b"event: message\n" + lines[0], *lines[1:-1], b"data: [DONE]"])
    assert text.startswith("<|channels:reasoning|>Two cities.")
    assert tokens[-1].done


def test_plain_text_says_so_in_its_headers() -> None:
    headers = [("Content-Type", b"text/plain; charset=utf-8"), ("llm-model", b"m"), ("llm-run-id", b"r1")]
    text, tokens = rendered([b"It is ", "7 °C.".encode()], headers)
    assert text == "It is 7 °C."
    assert tokens[0].meta == Meta(model="m", run_id="r1")
    found = read_record(b"", b"s", headers)
    assert found == "the record is empty"


def test_cloud_events_around_every_shape() -> None:
    about = {"specversion": "1.0", "type": "llm.chunk", "id": "1", "source": "/a", "subject": "run-7"}
    chunk = {"choices": [{"index": 0, "delta": {"content": "hi"}}]}
    token = {"schema": "token/1", "stream_id": "s", "seq": 3, "text": "hi"}
    found = read_record(orjson.dumps({**about, "data": chunk}), None, ())
    assert (found.stream_id, found.parts[0].text) == ("run-7", "hi")
    found = read_record(
        orjson.dumps({**about, "data_base64": base64.b64encode(orjson.dumps(chunk)).decode()}), b"k", ()
    )
    assert (found.stream_id, found.parts[0].text) == ("k", "hi")
    assert read_record(orjson.dumps({**about, "data": token}), None, ()) == Token(stream_id="s", seq=3, text="hi")
    assert read_record(orjson.dumps(chunk), None, [("ce_subject", b"run-8")]).stream_id == "run-8"


def test_prefix_of_a_schema_registry_is_taken_off() -> None:
    chunk = orjson.dumps({"choices": [{"index": 0, "delta": {"content": "hi"}}]})
    assert read_record(b"\x00\x00\x00\x00\x07" + chunk, b"s", ()).parts[0].text == "hi"
    assert read_record(b"\x01" + bytes(16) + chunk, b"s", ()).parts[0].text == "hi"


@pytest.mark.parametrize(
    ("value", "key", "why"),
    [
        (None, b"s", "empty"),
        (b"hello", b"s", "text/plain"),
        (b"[1]", b"s", "a JSON array"),
        (b'{"a": 1}', b"s", "no known shape"),
        (b'{"seq": 1, "text": "secret"}', b"s", "lacks stream_id"),
        (b'{"choices": [{"delta": {"content": "secret"}}]}', None, "give the record a key"),
        (b"\x00", b"s", "not JSON"),
        (b"[" * 100_000, b"s", "not JSON"),
        (b'{"specversion": "1.0", "data": {"stream_id": "s", "text": "secret"}}', None, "seq"),
    ],
)
def test_what_is_of_no_known_shape_is_refused_with_a_reason_and_without_its_content(value, key, why) -> None:
    found = read_record(value, key, ())
    assert isinstance(found, str)
    assert why in found
    assert "secret" not in found


@pytest.mark.parametrize(
    "value",
    [
        {"choices": None}, {"choices": [None, 3, {"delta": 4}, {"delta": {"tool_calls": [7, {"function": "x"}]}}]},
        {"type": "response.output_item.done", "item": {"type": "function_call"}}, {"type": "content_block_delta"},
        {"type": "message_start", "message": "x"}, {"candidates": [{"content": {"parts": [1]}}]}, {"token": {"text": 3}},
        {"done": True, "message": {"tool_calls": [{"function": {"arguments": [[1]]}}]}}, {"content": 5, "stop": 5},
    ],
    ids=str,
)  # fmt: skip
def test_odd_objects_never_raise(value) -> None:
    found = read_record(orjson.dumps(value), b"s", ())
    assert isinstance(found, Foreign | str)
    if isinstance(found, Foreign):
        line = ForeignLine("s", Meta())
        assert all(isinstance(line.token(part, 0), Token | None) for part in found.parts)


def test_a_call_that_the_limit_cut_is_never_executable() -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "c1", "function": {"name": "pay", "arguments": '{"amount": 1'}}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}]  # fmt: skip
    text, _ = rendered([orjson.dumps(item) for item in chunks])
    (call,) = run("s", [text], Meta(), shipped_knowledge()).tool_calls
    assert call.status == "truncated"


def test_a_server_that_gives_all_its_calls_the_same_index() -> None:
    def chunk(call_id: str, name: str) -> bytes:
        call = {"index": 0, "id": call_id, "function": {"name": name, "arguments": "{}"}}
        return orjson.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})

    end = orjson.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    text, _ = rendered([chunk("a", "one"), chunk("b", "two"), end])
    output = run("s", [text], Meta(), shipped_knowledge())
    assert [(call.id, call.name) for call in output.tool_calls] == [("a", "one"), ("b", "two")]


KEYS = [
    "choices",
    "delta",
    "content",
    "message",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "index",
    "finish_reason",
    "usage",
    "model",
    "type",
    "response",
    "item",
    "output_index",
    "content_block",
    "partial_json",
    "thinking",
    "text",
    "done",
    "stop",
    "token",
    "details",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "specversion",
    "data",
    "data_base64",
    "subject",
    "stream_id",
    "seq",
    "tool_call_chunks",
    "additional_kwargs",
    "reasoning_content",
    "reason",
    "input",
]
VALUES = (
    "", "x", "\ud83d", "response.output_item.done", "response.function_call_arguments.delta", "response.completed",
    "content_block_delta", "content_block_start", "message_delta", "message_stop", "text_delta", "function_call", "tool_use",
    "<|channels:end|>", None, True, False, 0, -3, 10**30, 1.5, float("nan"), "length",
)  # fmt: skip


def drawn(draw: random.Random, depth: int):
    kind = draw.random()
    if depth == 0 or kind < 0.35:
        return draw.choice(VALUES)
    if kind < 0.5:
        return [drawn(draw, depth - 1) for _ in range(draw.randrange(4))]
    return {draw.choice(KEYS): drawn(draw, depth - 1) for _ in range(draw.randrange(6))}


@pytest.mark.parametrize("seed", range(4))
def test_no_record_raises_whatever_its_fields_hold(seed) -> None:
    draw = random.Random(seed)
    for _ in range(2_000):
        data = json.dumps(drawn(draw, 5)).encode()
        data = data if draw.random() < 0.9 else b"data: " + data[: draw.randrange(len(data) + 1)]
        found = read_record(data, draw.choice([b"k", None, b"\xff"]), ())
        if isinstance(found, Foreign):
            line = ForeignLine("s", found.meta)
            assert all(isinstance(line.token(part, 0), Token | None) for part in found.parts)
