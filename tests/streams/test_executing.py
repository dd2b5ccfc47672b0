"""Tools of each kind: what they say about themselves, what they refuse, what they do and how they fail."""

import asyncio
import sys
import time
from pathlib import Path

import pytest
from aiohttp import web

from processors.dispatching.errors import Fault
from processors.tools.definition import ToolFormatError
from processors.tools.guidance import has_side_effects
from streams.executing.command_tool import command
from streams.executing.http_tool import http_tools
from streams.executing.load import load_tools
from streams.executing.protocol import Answer, plain
from streams.executing.python_tool import tool
from streams.executing.results import outcome
from streams.settings import ConfigError

TOOLS = load_tools(Path(__file__).parent / "dispatch_tools.py")


def test_a_file_of_tools_is_loaded_by_name() -> None:
    assert sorted(TOOLS) == ["broken", "look_up", "pay", "say", "sleepy"]


@pytest.mark.parametrize(
    ("text", "why"), [("x = 1", "no tool"), ("x = (", "never closed"), ("import no_such_thing", "No module")]
)
def test_a_file_that_has_none_is_refused(tmp_path, text, why) -> None:
    (tmp_path / "t.py").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=why):
        load_tools(tmp_path / "t.py")


def test_a_function_is_described_by_signature_and_docstring() -> None:
    told = TOOLS["look_up"].describe()
    assert told["parameters"]["properties"]["city"] == {"type": "string", "description": "name of the city"}
    assert told["parameters"]["properties"]["unit"]["enum"] == ["c", "f"]
    assert told["parameters"]["required"] == ["city"]
    assert told["annotations"] == {"readOnlyHint": True}
    assert "When not to use: forecasts." in told["description"]
    assert told["when_to_use"] == "the user asks about weather now."
    assert (told["when_not_to_use"], told["side_effects"]) == ("forecasts.", "none")


@pytest.mark.parametrize(
    ("docstring", "has_effects"),
    [
        ("", True), ("Look.\n\nSide effects: none", False), ("SIDE EFFECTS: None.", False), ("副作用：无", False),
        ("Side effects: none yet known", True), ("Side effects: sends mail", True), ("no side effects", True),
    ],
)  # fmt: skip
def test_side_effects_are_assumed_unless_denied(docstring, has_effects) -> None:
    assert has_side_effects(docstring) is has_effects


@pytest.mark.parametrize(
    ("name", "arguments", "wrong"),
    [
        ("look_up", {"city": "Oslo"}, None),
        ("look_up", {}, '"city" is a required property'),
        ("look_up", {"city": "Oslo", "unit": "k"}, "unit"),
        ("look_up", {"city": "Oslo", "other": 1}, "other"),
        ("pay", {"amount": "10"}, "amount"),
        ("say", {"what": "-n"}, "may not begin with `-`"),
        ("say", {"what": "a\0b"}, "NUL"),
        ("say", {"what": "\ud800"}, "what"),
        ("say", {"what": "$(date); `date`"}, None),
        ("say", {"other": "x"}, "other"),
    ],
)
def test_wrong_arguments_are_said(name, arguments, wrong) -> None:
    found = TOOLS[name].validate(arguments)
    assert found is None if wrong is None else wrong in found


def test_a_command_gets_its_words_as_they_are_and_no_shell() -> None:
    found = asyncio.run(TOOLS["say"].execute({"what": "$(date); *", "more": 7}, "x"))
    assert found == Answer({"text": "$(date); *|7|"})
    assert asyncio.run(TOOLS["say"].execute({"what": "a b"}, "x")) == Answer({"text": "a b|"})


def test_a_command_sees_three_variables(monkeypatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("LANG", "C")
    found = asyncio.run(command("e", ("env",), {"properties": {}}).execute({}, "id1"))
    assert {line.partition("=")[0] for line in found.content["text"].splitlines()} == {
        "PATH",
        "LANG",
        "HERMES_EXECUTION_ID",
    }


def test_a_command_that_fails_or_writes_much_is_bounded() -> None:
    failing = command("f", ("ls", "{path}"), {"properties": {"path": {"type": "string"}}})
    found = asyncio.run(failing.execute({"path": "/no/such/place"}, "x"))
    assert isinstance(found, Fault)
    assert (found.kind, found.code) == ("exit", 2)
    much = command("m", ("head", "-c", "3000000", "/dev/zero"), {"properties": {}})
    assert len(asyncio.run(much.execute({}, "x")).content["text"]) == 256_000


def test_a_command_that_takes_too_long_is_killed_with_its_children(tmp_path) -> None:
    script = tmp_path / "s.sh"
    script.write_text(f"(sleep 1; touch {tmp_path}/late) &\nsleep 30\n", encoding="utf-8")
    slow = command("s", ("sh", str(script)), {"properties": {}})
    began = time.monotonic()

    async def main():
        found = await outcome(slow.execute({}, "x"), 0.3)
        await asyncio.sleep(1.2)
        return found

    assert asyncio.run(main()) == (Fault(kind="TimeoutError", text="no answer within 0.3 s"), True)
    assert time.monotonic() - began < 10
    assert not (tmp_path / "late").exists()


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("not even this")


@tool()
def odd() -> object:
    """Give what can't be written down.

    Side effects: none
    """
    return Odd()


@tool()
def leave() -> None:
    """End the program."""
    sys.exit("bye")


def test_whatever_a_function_does_is_a_fault_of_it() -> None:
    assert asyncio.run(outcome(odd.execute({}, "x"), 5))[0].kind == "RuntimeError"
    assert asyncio.run(outcome(leave.execute({}, "x"), 5)) == (Fault(kind="SystemExit", text="bye"), False)


@pytest.mark.parametrize(
    ("said", "kept"), [(0.5, 0.5), (0, 0), (None, None), (-1.0, None), (float("nan"), None), (float("inf"), None)]
)
def test_an_answer_is_json_and_its_cost_is_an_amount_or_unknown(said, kept) -> None:
    async def work() -> Answer:
        return Answer({1: {2}}, said)

    assert asyncio.run(outcome(work(), 5))[0] == Answer({"1": "{2}"}, kept)


@pytest.mark.parametrize("words", [(), ("{what}",), ("echo",)])
def test_a_command_that_a_model_could_choose_is_refused(words) -> None:
    with pytest.raises(ToolFormatError):
        command("x", words, {"properties": {"what": {"type": "string"}}})


@pytest.mark.parametrize(
    ("value", "found"),
    [({1: {2}}, {"1": "{2}"}), ("\ud800", {"text": "'\\ud800'"}), ([1], [1]), (2**70, {"text": str(2**70)})],
)
def test_answers_become_json(value, found) -> None:
    assert plain(value) == found


def test_a_long_answer_is_cut() -> None:
    assert plain("é" * 300_000)["bytes"] == 600_002


DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/items/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "get": {"operationId": "get_item", "parameters": [
                {"name": "q", "in": "query", "schema": {"type": "integer"}}, {"name": "X-Of", "in": "header", "schema": {}},
            ]},
            "post": {
                "operationId": "set_item",
                "requestBody": {"required": True, "content": {"application/json": {"schema": {
                    "type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}}}},
            },
        },
    },
    "components": {"parameters": {"id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}}},
}  # fmt: skip


def test_operations_of_an_openapi_document_are_requests() -> None:
    seen = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.method, request.raw_path, request.headers["Idempotency-Key"], await request.text()))
        if request.query.get("q") == "4":
            return web.Response(status=403, text="country not supported")
        if request.query.get("q") == "5":
            raise web.HTTPFound("/v1/items/elsewhere")
        return web.json_response({"ok": True})

    async def main() -> list:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        get, post = http_tools(DOCUMENT, f"http://127.0.0.1:{port}/v1/", {"Idempotency-Key": "mine"})
        assert (get.rule.has_side_effects, post.rule.has_side_effects) == (False, True)
        assert get.validate({"id": ".."}) == "id: not a part of a path"
        assert get.validate({"id": "a", "X-Of": "a\r\nb"}) == "X-Of: not the value of a header"
        assert get.validate({"id": "a", "X-Of": 2**70}) is None  # a server may take it
        assert "size" in post.validate({"id": "a"})
        found = [
            await get.execute({"id": "../a?b", "q": 3}, "e"), await get.execute({"id": "a", "q": 4}, "e"),
            await post.execute({"id": "a", "size": 1}, "e"), await get.execute({"id": "a", "q": 5}, "e"),
        ]  # fmt: skip
        await runner.cleanup()
        return found

    found = asyncio.run(main())
    assert found == [
        Answer({"ok": True}), Fault(kind="http", code=403, text="country not supported"), Answer({"ok": True}),
        Fault(kind="http", code=302, text="302: Found"),
    ]  # fmt: skip
    assert seen == [
        ("GET", "/v1/items/..%2Fa%3Fb?q=3", "mine", ""), ("GET", "/v1/items/a?q=4", "mine", ""),
        ("POST", "/v1/items/a", "mine", '{"size":1}'), ("GET", "/v1/items/a?q=5", "mine", ""),
    ]  # fmt: skip
