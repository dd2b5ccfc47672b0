"""An MCP server → one live session with it, started on first use and again after it broke. Extra `mcp`.

Each server has a thread with an event loop of its own: the SDK wants a session to be opened and closed by one task, and
calls come from any loop. Nothing is sent twice: a call during which the server broke is a fault of that call, and the
next one starts the server anew. A server that let a call run over its time is asked for a sign of life before the next.
"""

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TextIO, TypeVar

import httpx2
import orjson
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, CallToolResult

from processors.dispatching.errors import Fault
from schemas.jsonvalue import Json, JsonObject
from streams.executing.protocol import Answer
from streams.settings import ServerAwayError

Found = TypeVar("Found")
EXECUTION_META = "hermes-streams/execution-id"
"""Key in a request's `_meta`: the id of this execution, for servers that take an idempotency key."""
PAGES_MAX = 100
ENDED_S_MAX = 0.2
"""Longest wait for the reason why a server did not start; one that is silent gives none."""
CLOSE_S_MAX = 8.0
"""The SDK waits 2 s for a server to end by itself, then ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpLimits:
    """How long a server may take for what is not a call."""

    start_s_max: float = 30.0
    """From its start to its first answer."""
    sign_s_max: float = 5.0
    """For a sign of life."""


@dataclass(slots=True, eq=False)
class _Session:
    client: Client
    task: asyncio.Task[None]
    stop: asyncio.Event
    is_doubtful: bool = False
    """A call did not come to its end: the server may be stuck."""


@dataclass(slots=True, eq=False)
class McpServer:
    """A server that is started by a command, or is at an address."""

    name: str
    target: tuple[str, ...] | str
    """Words of a command that speaks over standard input and output, or the URL of a streamable HTTP endpoint."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Given to the command beside PATH and HOME."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with each request to a URL: credentials, for example."""
    limits: McpLimits = field(default_factory=McpLimits)
    starts: int = 0
    """How often it was started."""
    _loop: asyncio.AbstractEventLoop | None = None
    _lock: asyncio.Lock | None = None
    _session: _Session | None = None
    _ending: set[asyncio.Task[None]] = field(default_factory=set)
    """Sessions that never began or are being closed: the SDK takes some seconds to end a server that does not."""

    def listed(self) -> list[JsonObject]:
        """Its tools as it lists them; raises ServerAwayError. Blocks."""
        waiting = asyncio.run_coroutine_threadsafe(self._listed(), self._running_loop())
        try:
            found = waiting.result(2 * self.limits.start_s_max)
        except FutureTimeoutError:
            waiting.cancel()
            found = Fault(kind="mcp", text=f"did not list its tools within {2 * self.limits.start_s_max:g} s")
        if isinstance(found, Fault):
            raise ServerAwayError(f"MCP server {self.name}: {found.text}")
        return found

    async def call(self, tool: str, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        """Call a tool once."""
        loop = self._running_loop()
        called = asyncio.run_coroutine_threadsafe(self._call(tool, arguments, execution_id), loop)
        try:
            return await asyncio.wrap_future(called)
        except asyncio.CancelledError:
            # At once: the call itself may take a while to end, and the next one must not wait for the same server.
            if self._session is not None:
                self._session.is_doubtful = True
            raise

    def close(self) -> None:
        """End the session, and with it a server that a command started."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        atexit.unregister(self.close)
        with suppress(FutureTimeoutError):  # then its pipes close with this process, which ends it too
            asyncio.run_coroutine_threadsafe(self._close(), loop).result(CLOSE_S_MAX)
        loop.call_soon_threadsafe(loop.stop)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop, self._lock = asyncio.new_event_loop(), asyncio.Lock()
            threading.Thread(target=self._loop.run_forever, name=f"mcp {self.name}", daemon=True).start()
            atexit.register(self.close)
        return self._loop

    async def _listed(self) -> list[JsonObject] | Fault:
        async def work(client: Client) -> list[JsonObject]:
            found: list[JsonObject] = []
            cursor = None
            for _ in range(PAGES_MAX):
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
                found += [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    break
            return found

        return await self._with_session(work)

    async def _call(self, tool: str, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        async def work(client: Client) -> Answer | Fault:
            meta: Any = {EXECUTION_META: execution_id}  # the SDK's type has its own key alone; any may stand there
            return answer_of(await client.call_tool(tool, arguments, meta=meta), tool)

        return await self._with_session(work)

    async def _with_session(self, work: Callable[[Client], Awaitable[Found]]) -> Found | Fault:
        session = await self._opened()
        if isinstance(session, Fault):
            return session
        has_ended = False
        try:
            found = await work(session.client)
            has_ended = True
        except MCPError as error:
            has_ended = error.code != CONNECTION_CLOSED
            return Fault(kind="mcp", code=error.code, text=str(error))
        finally:
            session.is_doubtful = session.is_doubtful or not has_ended
        return found

    async def _opened(self) -> _Session | Fault:
        assert self._lock, "made with the loop"
        async with self._lock:
            if self._session and not await self._is_alive(self._session):
                await self._close()
            if self._session is None:
                self.starts += 1
                started = await self._start()
                if isinstance(started, Fault):
                    return started
                self._session = started
            return self._session

    async def _is_alive(self, session: _Session) -> bool:
        if session.task.done():
            return False
        if session.is_doubtful:
            try:
                async with asyncio.timeout(self.limits.sign_s_max):
                    await session.client.list_tools(cache_mode="bypass")
            except MCPError as error:
                if error.code == CONNECTION_CLOSED:
                    return False
            except TimeoutError:
                return False
            session.is_doubtful = False
        return True

    async def _start(self) -> _Session | Fault:
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        stop = asyncio.Event()
        task = asyncio.create_task(self._live(ready, stop))
        try:
            waited: set[asyncio.Future[Any]] = {ready, task}
            await asyncio.wait(waited, timeout=self.limits.start_s_max, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not ready.done():
                task.cancel()
        if ready.done():
            return _Session(ready.result(), task, stop)
        self._ending.add(task)
        await asyncio.wait({task}, timeout=ENDED_S_MAX)
        # Asked for, not caught: whatever kept it from starting is its own.
        error = task.exception() if task.done() and not task.cancelled() else None
        said = f"{type(error).__name__}: {error}" if error else f"no answer within {self.limits.start_s_max:g} s"
        return Fault(kind="mcp", text=f"{self.name} did not start: {said}")

    async def _live(self, ready: asyncio.Future[Client], stop: asyncio.Event) -> None:
        async with self._client() as client:
            ready.set_result(client)
            await stop.wait()

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        if isinstance(self.target, str):
            async with (
                httpx2.AsyncClient(headers=dict(self.headers)) as http,
                Client(streamable_http_client(self.target, http_client=http)) as client,
            ):
                yield client
            return
        command, *words = self.target
        asked = StdioServerParameters(command=command, args=words, env=dict(self.environment))
        async with Client(stdio_client(asked, errlog=_nowhere())) as client:
            yield client

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session:
            session.stop.set()
            self._ending.add(session.task)
        if self._ending:
            done, self._ending = await asyncio.wait(self._ending, timeout=CLOSE_S_MAX)
            for task in done:
                task.cancelled() or task.exception()  # looked at, so that nobody is told of it


@cache
def _nowhere() -> TextIO:
    """Where a server's log goes: it may hold what the server was asked. A server's own file is the place for it."""
    return Path(os.devnull).open("w", encoding="utf-8")


def answer_of(result: CallToolResult, tool: str) -> Answer | Fault:
    """A tool's result as the server gave it; pictures and sounds are named, not carried."""
    texts = [block.text for block in result.content if block.type == "text"]
    others: list[Json] = [{"type": block.type} for block in result.content if block.type != "text"]
    text = "\n".join(texts)
    if result.is_error:
        crashed, started = f"Error executing tool {tool}", f"Error executing tool {tool}: "
        return Fault(kind="mcp-crash" if text == crashed else "mcp-tool", text=text.removeprefix(started))
    if result.structured_content is not None:
        return Answer(result.structured_content)
    if others:
        return Answer({"text": text, "others": others})
    try:
        return Answer(orjson.loads(text))
    except orjson.JSONDecodeError:  # most answers that are JSON say so only by being it
        return Answer({"text": text})
