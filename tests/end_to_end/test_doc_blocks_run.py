"""What the documentation shows is run: Python and commands against the embedded engines and one worker of all stages.

A block that is not run says so above itself, with the reason: `<!-- not run: … -->`. What runs until it is ended is run
until it has done what it is there for; commands that serve until Ctrl-C are asked for their help.
"""

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anthropic
import openai
import pytest
from langchain_core.language_models.fake import FakeStreamingListLLM

from processors.dispatching.errors import read_rules
from schemas.jsonvalue import JsonObject
from schemas.wire import decode
from streams.cli.app import main
from streams.client import TokenProducer
from streams.executing.load import load_tools
from streams.settings import Settings, environment_of, load
from tests.doc_blocks import ROOT, Block, doc_blocks
from tests.scripted_server import scripted_server
from tests.server_streams import CHAT
from tests.streams.flow import prepared

ASKED = [{"role": "user", "content": "How is the weather?"}]
SERVING = {"up", "run", "web", "proxy", "dispatch", "mend", "tail", "demo"}
SHOP = {
    "openapi": "3.1.0", "info": {"title": "shop", "version": "1"},
    "paths": {"/orders/{id}": {"get": {"operationId": "get_order", "summary": "One order.", "parameters": [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]}}},
}  # fmt: skip


@pytest.fixture(scope="module")
def stages(running, tmp_path_factory) -> Iterator[Settings]:
    """All four stages on topics of this module's own, in a process of their own."""
    settings, _ = asyncio.run(prepared(running.settings, "documented."))
    variables = {**os.environ, **environment_of(settings), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "streams", "run", "segment", "reason", "tool", "clean"]
    log = (tmp_path_factory.mktemp("stages") / "log").open("wb")
    process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        yield settings
    finally:
        process.terminate()
        process.wait(60)
        log.close()


@pytest.fixture
def surroundings(stages, tmp_path, monkeypatch) -> Iterator[str]:
    """What a reader has: settings in the environment, a model server, a folder with files of the names on the pages."""
    for name, value in environment_of(stages).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HERMES_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CLICKHOUSE_DSN", f"chdb://{tmp_path}/data/clickhouse")
    monkeypatch.chdir(tmp_path)
    Path("outputs.jsonl").write_text('{"id": "1", "text": "<think>a</think>It is 7 °C."}\n', encoding="utf-8")
    Path("tools.json").write_bytes((ROOT / "examples" / "tools.json").read_bytes())
    Path("shop.json").write_text(json.dumps(SHOP))
    with scripted_server() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        yield url


def defined(block: Block) -> JsonObject:
    """The names that a block defines, after it ran as a program."""
    names: JsonObject = {"__name__": "__main__"}
    exec(compile(block.text, block.name, "exec"), names)
    return names


async def teed(stream_id: str) -> None:
    async with TokenProducer(load()) as producer:
        list(producer.tee(CHAT, {"messages": ASKED}, stream_id=stream_id))
        await producer.flush()


def own_stream(block: Block, url: str, capsys) -> None:
    defined(block)
    assert "Looking both up." in capsys.readouterr().out


def until_printed(block: Block, url: str, words: str) -> None:
    """Run a program that never ends, with a stream for it to see, until it prints something."""
    Path("program.py").write_text(block.text, encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen([sys.executable, "program.py"], env=variables, stdout=subprocess.PIPE, text=True)
    try:
        asyncio.run(teed("seen-by-the-program"))
        assert any(words in line for line in process.stdout)
    finally:
        process.kill()
        process.wait()


def readme_consumer(block: Block, url: str, capsys) -> None:
    until_printed(block, url, "get_weather ok {'city': 'Oslo'}")


def asynchronous_tee(block: Block, url: str, capsys) -> None:
    request = {"model": "gpt-x", "messages": ASKED}

    async def ask() -> str:
        async with openai.AsyncOpenAI(max_retries=0) as client:
            return await defined(block)["answer"](client, request)

    assert asyncio.run(ask())
    assert "ChatCompletionChunk" in capsys.readouterr().out


def synchronous_tee(block: Block, url: str, capsys) -> None:
    request = {"model": "claude-x", "messages": ASKED, "max_tokens": 100}
    with anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        defined(block)["answer"](client, request)
    assert "RawContentBlockDeltaEvent" in capsys.readouterr().out


def langchain(block: Block, url: str, capsys) -> None:
    assert defined(block)["answer"](FakeStreamingListLLM(responses=["It is 7 °C."]), "Oslo?") == "It is 7 °C."


def limits(block: Block, url: str, capsys) -> None:
    assert isinstance(defined(block)["producer"], TokenProducer)


def executor(block: Block, url: str, capsys) -> None:
    ran = []

    async def run(name: str, arguments: JsonObject, idempotency_key: str) -> JsonObject:
        ran.append((name, arguments, idempotency_key))
        if arguments == {"city": "Oslo"}:
            raise ValueError("no such city")
        return {"celsius": 7}

    async def until_two() -> None:
        task = asyncio.create_task(defined(block)["execute"](run))
        await teed("executed")
        for _ in range(600):
            if [key for _, _, key in ran if key.startswith("executed/")][1:] or task.done():
                break
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(until_two())
    own = [(name, arguments) for name, arguments, key in ran if key.startswith("executed/")]
    assert own == [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "北京"})]


def live_steps(block: Block, url: str, capsys) -> None:
    async def until_seen() -> None:
        task = asyncio.create_task(defined(block)["show"]())
        printed, deadline = "", time.monotonic() + 60
        while "Looking both up." not in printed and time.monotonic() < deadline and not task.done():
            await teed(f"live-{time.monotonic_ns()}")  # it begins where the topic ends: again until it is there
            await asyncio.sleep(0.5)
            printed += capsys.readouterr().out
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert "Looking both up." in printed

    asyncio.run(until_seen())


def tools(block: Block, url: str, capsys) -> None:
    Path("tools_of_the_page.py").write_text(block.text, encoding="utf-8")
    assert load_tools(Path("tools_of_the_page.py")).keys() >= {"order_status", "disk_use", "get_order"}


PYTHON = {
    "README-python-0": own_stream, "README-python-1": readme_consumer,
    "tee-your-stream-python-0": asynchronous_tee, "tee-your-stream-python-1": synchronous_tee,
    "tee-your-stream-python-2": langchain, "tee-your-stream-python-4": limits, "tee-your-stream-python-5": limits,
    "consume-calls-safely-python-0": executor, "consume-calls-safely-python-1": live_steps,
    "dispatch-python-0": tools,
}  # fmt: skip
"""Block → how it is run, and what shows that it did what its page says."""


def test_every_python_block_is_run_or_says_why_not() -> None:
    run = {block.name for block in doc_blocks("python") if block.why_not_run is None}
    assert run == PYTHON.keys()


@pytest.mark.engines
@pytest.mark.parametrize(
    "block", [block for block in doc_blocks("python") if block.name in PYTHON], ids=lambda b: b.name
)
def test_python_runs(block, surroundings, capsys) -> None:
    PYTHON[block.name](block, surroundings, capsys)


def ran(line: str, monkeypatch) -> int:
    """Exit code of one line of a shell block."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["export"]:
        name, _, value = words[1].partition("=")
        if name != "HERMES_CONFIG":  # its settings are in the environment already
            monkeypatch.setenv(name, value)
        return 0
    if words[0] == "python":
        variables = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, str(ROOT / words[1])], env=variables, capture_output=True, check=False, timeout=90
        )
        return done.returncode
    assert words[0] == "hermes-streams", line
    arguments = [words[1], "--help"] if words[1] in SERVING else words[1:]
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    return leaving.value.code or 0


NOT_OURS = ("pip install", "make ", "python3 -m venv", ". .venv", "python examples/executor.py")
"""Installation is what `make setup` and the packaging test do; the executor, which waits for calls for ever, is run by
tests/end_to_end/test_examples.py."""


@pytest.mark.engines
@pytest.mark.parametrize(
    "block", [block for block in doc_blocks("sh") if block.why_not_run is None], ids=lambda block: block.name
)
def test_commands_run(block, surroundings, monkeypatch, capfd) -> None:
    if any(word in block.text for word in ("recall", "forget", "retrospect")):
        ran("hermes-streams migrate", monkeypatch)
    ran("hermes-streams audit keys new a-ring.json", monkeypatch)
    ran("export HERMES_AUDIT_KEYS=file:a-ring.json", monkeypatch)
    for line in filter(None, block.text.splitlines()):
        if not line.startswith(NOT_OURS):
            code = ran(line, monkeypatch)
            assert code in {0, 1}, (line, code, capfd.readouterr().err)  # 1: asked and found nothing


def test_events_in_json_blocks_are_events_and_rules_in_toml_blocks_prove_their_examples() -> None:
    for block in doc_blocks("json"):
        for line in block.text.splitlines():
            if line.startswith('{"schema"'):
                decode(line.encode())
    for block in doc_blocks("toml"):
        if block.text.startswith("[[rule]]"):
            assert read_rules(block.text)


def test_no_block_is_without_a_language_but_pictures_and_texts() -> None:
    for block in doc_blocks(""):
        assert "hermes-streams " not in block.text, block.name
