"""The LLM client against a local HTTP server: limits, breaker, and what becomes of a call."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from processors.repair import compile_tool
from schemas.toolcall import CallStatus, Refusal, ToolCall
from streams.llm_repair import Budget, LlmClient, LlmError, LlmOptions, LlmRepairer, read_options
from streams.settings import ConfigError

SCHEMA = compile_tool(
    {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
)
CALL = ToolCall(
    stream_id="s", id="call_0", name="f", requested_name="f", arguments=None, raw="f: the number is 七 or 7", order=0,
    span=(0, 9), status=CallStatus.REFUSED, strategy="none", confidence=0.0, refusal=Refusal(code="wrong_type"),
)  # fmt: skip
MESSAGES = [{"role": "user", "content": "?"}]


def completion(text, **more):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], **more}


class Endpoint:
    """A chat-completions server that answers what it is told and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers = []
        self.asked = []
        self.delay = 0.0
        self.url = ""

    async def answer(self, request):
        self.asked.append((dict(request.headers), await request.json()))
        await asyncio.sleep(self.delay)
        answer = self.answers.pop(0) if self.answers else completion("{}")
        if isinstance(answer, int):
            return web.Response(status=answer, headers={"Location": "http://127.0.0.1:1/"})
        return web.Response(body=answer) if isinstance(answer, bytes) else web.json_response(answer)


@asynccontextmanager
async def serving(**options):
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", endpoint.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    clock = [0.0]
    client = LlmClient(LlmOptions(url=endpoint.url, model="m", **options), now=lambda: clock[0])
    async with client:
        yield endpoint, client, clock
    await runner.cleanup()


def run(story):
    return asyncio.run(story())


def test_a_good_answer_mends_the_call(monkeypatch) -> None:
    monkeypatch.setenv("THE_KEY", "secret")

    async def story():
        async with serving(key_variable="THE_KEY") as (endpoint, client, _):
            endpoint.answers = [completion('{"n": 7}')]
            return await LlmRepairer(client).mend(CALL, SCHEMA, "hello"), endpoint.asked

    out, ((headers, body),) = run(story)
    assert (out.status, out.arguments, out.strategy) == (CallStatus.REPAIRED, {"n": 7}, "llm")
    assert out.confidence <= 0.8
    assert headers["Authorization"] == "Bearer secret"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0, 1024)
    assert "hello" in body["messages"][1]["content"]


def test_an_invented_value_is_not_used() -> None:
    async def story():
        async with serving() as (endpoint, client, _):
            endpoint.answers = [completion('{"n": 8}')]
            return await LlmRepairer(client).mend(CALL, SCHEMA)

    out = run(story)
    assert (out.status, out.arguments) == (CallStatus.REFUSED, None)
    assert "/n" in out.warnings[0].message


def test_what_needs_no_repair_is_not_asked() -> None:
    async def story():
        async with serving() as (endpoint, client, _):
            repairer = LlmRepairer(client)
            cut = replace(CALL, status=CallStatus.TRUNCATED)
            assert await repairer.mend(cut, SCHEMA) == cut
            assert await repairer.mend(CALL, None) == CALL
            return endpoint.asked

    assert run(story) == []


NO_ANSWER = [
    (500, "HTTP status 500"),
    (429, "HTTP status 429"),
    (307, "HTTP status 307"),
    (b"\xff", "not a chat completion"),
    ({}, "not a chat completion"),
    ({"choices": []}, "not a chat completion"),
    ({"choices": [{"message": {"content": None}}]}, "not a chat completion"),
    ([], "not a chat completion"),
    ({"choices": [{"message": {"content": "{"}, "finish_reason": "length"}]}, "cut off"),
    (b" " * 1_000_002, "longer than"),
]


@pytest.mark.parametrize(
    ("answer", "why"), NO_ANSWER, ids=[f"{why} {place}" for place, (_, why) in enumerate(NO_ANSWER)]
)
def test_no_usable_answer_leaves_the_call_with_a_warning(answer, why) -> None:
    async def story():
        async with serving() as (endpoint, client, _):
            endpoint.answers = [answer]
            return await LlmRepairer(client).mend(CALL, SCHEMA)

    out = run(story)
    assert out.status is CallStatus.REFUSED
    assert why in out.warnings[0].message


def test_a_slow_endpoint_is_not_waited_for() -> None:
    async def story():
        async with serving(timeout_s=0.1) as (endpoint, client, _):
            endpoint.delay = 5.0
            return await asyncio.wait_for(LlmRepairer(client).mend(CALL, SCHEMA), 2)

    assert "no answer in time" in run(story).warnings[0].message


def test_an_endpoint_that_is_away_is_a_warning() -> None:
    async def story():
        async with LlmClient(LlmOptions(url="http://127.0.0.1:1/v1", model="m")) as client:
            return await LlmRepairer(client).mend(CALL, SCHEMA)

    assert "not answered" in run(story).warnings[0].message


def test_after_failures_in_a_row_nothing_is_asked_until_a_rest_is_over() -> None:
    async def story():
        async with serving(failures_max=2, rest_s=30) as (endpoint, client, clock):
            endpoint.answers = [500, 500, 500, completion("x"), completion("y")]
            for why in ("status 500", "status 500", "2 failures"):
                with pytest.raises(LlmError, match=why):
                    await client.ask(MESSAGES)
            assert len(endpoint.asked) == 2
            clock[0] = 31
            with pytest.raises(LlmError, match="status 500"):
                await client.ask(MESSAGES)
            with pytest.raises(LlmError, match="3 failures"):
                await client.ask(MESSAGES)
            clock[0] = 62
            assert await client.ask(MESSAGES) == "x"
            assert await client.ask(MESSAGES) == "y"

    run(story)


def test_a_day_never_costs_more_than_its_limit() -> None:
    prices = {"usd_per_million_in": 100.0, "usd_per_million_out": 100.0, "answer_tokens_max": 100}

    async def story():
        async with serving(day_usd_max=0.0202, **prices) as (endpoint, client, clock):
            endpoint.answers = [completion("x", usage={"prompt_tokens": 1, "completion_tokens": 99})]
            assert await client.ask(MESSAGES) == "x"
            assert client.budget.spent == pytest.approx(0.01)
            endpoint.answers = [completion("y")]
            assert await client.ask(MESSAGES) == "y"
            assert client.budget.spent == pytest.approx(0.0201)
            with pytest.raises(LlmError, match="spent"):
                await client.ask(MESSAGES)
            clock[0] = 86_401
            endpoint.answers = [completion("z")]
            assert await client.ask(MESSAGES) == "z"

    run(story)


def test_money_is_set_aside_before_it_is_spent() -> None:
    budget = Budget(1.0)
    assert budget.reserve(0.6, 0)
    assert not budget.reserve(0.6, 1)
    budget.settle(0.6, 0.1)
    assert budget.reserve(0.6, 2)


BAD_FILES = [
    ('url = "http://x"', "model"),
    ('url = "x"\nmodel = "m"', "url"),
    ('url = "http://x"\nmodel = "m"\nspeed = 1', "speed"),
    ('url = "http://x"\nmodel = "m"\ntimeout_s = "10"', "timeout_s"),
    ('url = "http://x"\nmodel = "m"\nfailures_max = -1', "failures_max"),
    ("url = ", "Invalid value"),
]


@pytest.mark.parametrize(("text", "place"), BAD_FILES, ids=[place for _, place in BAD_FILES])
def test_wrong_options_are_refused_with_the_key(tmp_path, text, place) -> None:
    path = tmp_path / "llm.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=place):
        read_options(path)


def test_options_come_from_a_file(tmp_path) -> None:
    path = tmp_path / "llm.toml"
    path.write_text('url = "http://x/v1"\nmodel = "m"\ntimeout_s = 2\nday_usd_max = 0.5\n', encoding="utf-8")
    assert read_options(path) == LlmOptions(url="http://x/v1", model="m", timeout_s=2, day_usd_max=0.5)


@pytest.mark.parametrize(("send", "is_told"), [("clean", False), ("raw", True)])
def test_personal_data_only_leaves_when_the_options_say_so(send, is_told) -> None:
    async def story():
        async with serving(send=send) as (endpoint, client, _):
            await client.ask([{"role": "user", "content": "ring 13812345678"}])
            (_, asked) = endpoint.asked[0]
            assert ("13812345678" in asked["messages"][0]["content"]) is is_told

    run(story)
