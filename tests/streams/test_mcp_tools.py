"""Tools of real MCP servers, over a pipe and over HTTP: listed, called, crashed, hung, and never called twice."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from processors.dispatching.bounds import Bounds
from processors.dispatching.errors import Fault, class_of
from processors.tools.definition import ToolFormatError
from streams.dispatch import Dispatcher, DispatchOptions
from streams.executing.load import load_tools
from streams.executing.mcp_server import McpLimits, McpServer
from streams.executing.mcp_tool import McpChoice, McpTool, tools_of_server
from streams.executing.protocol import Answer
from streams.executing.results import outcome
from streams.leases import leases
from streams.settings import ServerAwayError
from tests.streams.test_dispatching import output

SHOP = Path(__file__).parent / "mcp_shop.py"
READS = McpChoice(reads=("order_status", "hang", "crash", "broken"))


@pytest.fixture
def notes(tmp_path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def server(notes) -> Iterator[McpServer]:
    made = McpServer("shop", (sys.executable, str(SHOP)), {"STARTS": str(notes)}, limits=McpLimits(sign_s_max=1))
    yield made
    made.close()


@pytest.fixture
def tools(server) -> dict[str, McpTool]:
    return {tool.remote: tool for tool in tools_of_server(server, READS)}


def ran(tool: McpTool, arguments: dict, s_max: float = 20) -> Answer | Fault:
    return asyncio.run(outcome(tool.execute(arguments, "e1"), s_max))[0]


def test_tools_are_taken_with_their_schemas_and_have_side_effects_unless_named(server) -> None:
    assert tools_of_server(server, McpChoice())[0].rule.has_side_effects
    trusted = {tool.remote: tool for tool in tools_of_server(server, McpChoice(trusts_hints=True, prefix="shop_"))}
    status = trusted["order_status"]
    assert not status.rule.has_side_effects
    assert trusted["refund"].rule.has_side_effects
    told = status.describe()
    assert told["name"] == "shop_order_status"
    assert told["when_to_use"] == "the user asks where an order is."
    assert (told["side_effects"], told["annotations"]) == ("none", {"readOnlyHint": True})
    assert "not described" in trusted["refund"].describe()["side_effects"]
    assert status.validate({"order_id": "x"}) == 'order_id: "x" is not of type "integer"'
    assert status.validate({"order_id": 5}) is None
    with pytest.raises(ToolFormatError, match="no tool 'nothing'"):
        tools_of_server(server, McpChoice(only=("nothing",)))


def test_a_call_gives_its_answer_or_whose_fault_it_was(tools) -> None:
    assert ran(tools["order_status"], {"order_id": 5}) == Answer({"order_id": 5, "state": "sent"})
    said_no = ran(tools["order_status"], {"order_id": 500})
    assert said_no == Fault(kind="mcp-tool", text="order was sent already to mail@example.com")
    assert class_of(said_no)[1] == "mcp-tool-business"
    wrong = ran(tools["order_status"], {})
    assert class_of(wrong) == ("param_error", "mcp-tool-arguments"), wrong
    assert class_of(ran(tools["broken"], {})) == ("system_error", "mcp-system")


def test_a_server_that_crashed_is_started_again_and_the_call_is_not_repeated(tools, server, notes) -> None:
    crashed = ran(tools["crash"], {})
    assert class_of(crashed) == ("system_error", "mcp-system"), crashed
    assert ran(tools["order_status"], {"order_id": 5}) == Answer({"order_id": 5, "state": "sent"})
    assert notes.read_text(encoding="utf-8").split() == ["start", "crash", "start"]
    assert server.starts == 2


def test_a_server_that_hangs_is_given_up_and_replaced(tools, server) -> None:
    assert ran(tools["hang"], {}, s_max=3) == Fault(kind="TimeoutError", text="no answer within 3 s")
    assert ran(tools["order_status"], {"order_id": 5}) == Answer({"order_id": 5, "state": "sent"})
    assert server.starts == 2


def test_a_slow_call_of_a_server_that_is_alive_does_not_end_it(tools, server) -> None:
    async def cut() -> None:
        await outcome(tools["order_status"].execute({"order_id": 5}, "e"), 0.0)

    asyncio.run(cut())
    assert ran(tools["order_status"], {"order_id": 6}) == Answer({"order_id": 6, "state": "sent"})
    assert server.starts == 1


@pytest.mark.parametrize("target", [("no-such-program",), (sys.executable, "-c", "raise SystemExit(3)")])
def test_a_server_that_does_not_start_is_away(target) -> None:
    broken = McpServer("gone", target, limits=McpLimits(start_s_max=10))
    with pytest.raises(ServerAwayError, match="MCP server gone"):
        broken.listed()
    broken.close()


def test_a_server_that_says_nothing_is_waited_for_no_longer_than_it_may_take() -> None:
    silent = McpServer("mute", (sys.executable, "-c", "import time; time.sleep(60)"), limits=McpLimits(start_s_max=1))
    began = time.monotonic()
    with pytest.raises(ServerAwayError, match="within 1 s"):
        silent.listed()
    assert time.monotonic() - began < 15
    silent.close()


def test_over_http_it_is_the_same(notes) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(SHOP), str(port)], env={"STARTS": str(notes)}, stderr=subprocess.DEVNULL
    )
    server = McpServer("web", f"http://127.0.0.1:{port}/mcp", limits=McpLimits(start_s_max=20))
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        tools = {tool.remote: tool for tool in tools_of_server(server, READS)}
        assert ran(tools["order_status"], {"order_id": 5}) == Answer({"order_id": 5, "state": "sent"})
        process.kill()
        process.wait()
        assert class_of(ran(tools["order_status"], {"order_id": 5}))[0] == "system_error"
    finally:
        process.kill()
        process.wait()
        server.close()


FILE = """
import sys
from streams.executing.mcp_tool import McpChoice, mcp_tools
shop = mcp_tools("shop", (sys.executable, {shop!r}), McpChoice(reads=("order_status", "crash")), {{"STARTS": {notes!r}}})
"""


@pytest.mark.engines
def test_a_dispatcher_calls_them_under_its_policy_and_its_circuit(running, tmp_path, notes) -> None:
    file = tmp_path / "tools_of_shop.py"
    file.write_text(FILE.format(shop=str(SHOP), notes=str(notes)), encoding="utf-8")
    tools = load_tools(file)
    calls = [("order_status", {"order_id": 5}), ("order_status", {"order_id": 500}), ("refund", {"order_id": 1})]
    crashing = [output(f"s{n}", ("crash", {}), run_id=f"r{n}") for n in range(8)]
    options = DispatchOptions(bounds=Bounds(steps_max=50))

    async def main():
        async with leases(running.settings.redis_url, f"{uuid4()}.") as kept:
            first = await Dispatcher(tools, kept, options).dispatch(output("s", *calls))
            may = Dispatcher(tools, kept, replace(options, permitted=frozenset({"refund"})))
            second = await may.dispatch(output("t", calls[2]))
            return first, second, [(await may.dispatch(one))[0] for one in crashing]

    first, second, crashed = asyncio.run(main())
    found = {result.call_id: (result.status, result.error) for result in first}
    assert found["call_0"] == ("ok", None)
    assert found["call_1"] == ("business_failure", "order was sent already to [EMAIL_REDACTED]")
    assert found["call_2"][0] == "not_run"
    assert (second[0].status, second[0].content) == ("ok", {"result": "refunded 1"})
    assert [result.content["rule"] for result in crashed] == ["mcp-system"] * 3 + ["breaker"] * 5
    lines = notes.read_text(encoding="utf-8").split("\n")
    assert (lines.count("refund 1"), lines.count("crash")) == (1, 3)
    tools["refund"].server.close()
