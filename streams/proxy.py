"""An OpenAI-compatible server, upstream → the same answers, byte for byte as they come; what they say goes to Kafka.

Any path and method is passed on; answers of chat, completions, responses and messages are noted. The header
`x-hermes-stream-id` of an answer names its stream; on a request it chooses the name, and `x-hermes-tenant`,
`-run-id`, `-session-id`, `-goal-id` and `-user` say what the stream's meta says. They are not passed upstream. With
`x-hermes-repair: true`, or as the proxy was told, a chat answer is read as a whole, its calls are checked and repaired,
and it is written anew (`streams/proxy_repair.py`).
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import uuid4

import orjson
from aiohttp import (
    ClientConnectionResetError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    TCPConnector,
    web,
)
from multidict import CIMultiDict, CIMultiDictProxy

from schemas.jsonvalue import JsonObject
from streams.client.producer import TokenProducer, notes_of
from streams.client.tee import Notes
from streams.proxy_repair import repaired
from streams.settings import ConfigError

NOTED = ("/chat/completions", "/completions", "/responses", "/messages", "/api/chat", "/api/generate")
OWN = "x-hermes-"
ABOUT = ("stream-id", "tenant", "run-id", "session-id", "goal-id", "user")
HOP = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
        "upgrade", "host", "content-length", "accept-encoding",
    }
)  # fmt: skip
REQUEST_BYTES_MAX = 256_000_000
CONNECT_S_MAX = 10.0
ADDRESS_S_MAX = 60
"""How long the upstream's looked-up address is used again."""


class Exchange:
    """One request whose answer is noted.

    Its body is read when the first bytes of the answer have gone on: a long conversation with many tools takes
    milliseconds to read, and the asker should not wait for that.
    """

    def __init__(self, producer: TokenProducer, body: bytes, headers: Mapping[str, str]) -> None:
        self._producer, self._body = producer, body
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        self._about = {"stream_id": uuid4().hex, "now": now, **_about(headers)}
        self.stream_id = str(self._about["stream_id"])

    @cached_property
    def asked(self) -> JsonObject:
        """The request's arguments."""
        return _json(self._body)

    @cached_property
    def notes(self) -> Notes:
        """Where the answer's parts go."""
        return notes_of(self._producer, self.asked, self._about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """What is passed on, to where."""

    upstream: str
    producer: TokenProducer
    session: ClientSession
    repairs: bool = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One request."""
        body = await request.read()
        is_noted = request.method == "POST" and request.path.endswith(NOTED)
        exchange = Exchange(self.producer, body, request.headers) if is_noted else None
        try:
            async with self.session.request(
                request.method, self.upstream + request.path_qs, headers=_passed(request.headers), data=body or None
            ) as answer:
                wants = request.headers.get(f"{OWN}repair", "true" if self.repairs else "false").lower() == "true"
                if exchange is None or answer.status >= 400:  # errors are passed on as they are
                    return await _stream(request, answer, None)
                if wants and request.path.endswith("/chat/completions"):
                    return await _anew(answer, exchange)
                return await _stream(request, answer, exchange)
        except ClientError as error:
            if exchange is not None:
                exchange.notes.end("error")
            message = f"hermes-streams proxy: {self.upstream} does not answer ({type(error).__name__})"
            return web.json_response({"error": {"message": message, "type": "upstream_away"}}, status=502)


async def _stream(request: web.Request, answer: ClientResponse, exchange: Exchange | None) -> web.StreamResponse:
    """Bytes as they come: first to the client, then noted. An answer that breaks off upstream breaks off here."""
    response = web.StreamResponse(status=answer.status, headers=_back(answer.headers, exchange))
    is_events = "json" not in answer.content_type
    whole: list[bytes] = []
    reason: str | None = "abandoned"
    try:
        await response.prepare(request)
        async for data in answer.content.iter_any():
            await response.write(data)
            if exchange is not None and is_events:
                exchange.notes.note(data)
            elif exchange is not None:
                whole.append(data)
        await response.write_eof()
        reason = None
    except ClientConnectionResetError:  # the asker is gone
        return response
    except ClientError:
        reason = "error"
        if request.transport is not None:
            request.transport.abort()
    finally:
        if exchange is not None:
            _note_whole(exchange.notes, b"".join(whole))
            exchange.notes.end(reason)
    return response


async def _anew(answer: ClientResponse, exchange: Exchange) -> web.StreamResponse:
    """The whole answer, its calls repaired."""
    body = await answer.read()
    if "json" in answer.content_type:
        _note_whole(exchange.notes, body)
    else:
        exchange.notes.note(body)
    exchange.notes.end()
    text, kind = repaired(body, exchange.asked, exchange.stream_id)
    headers = _back(answer.headers, exchange)
    headers["content-type"] = kind
    return web.Response(body=text, status=answer.status, headers=headers)


def _note_whole(notes: Notes, body: bytes) -> None:
    """A JSON answer, or JSON lines as Ollama sends them."""
    for line in [body] if body.count(b"\n{") == 0 else body.splitlines():
        if found := _json(line):
            notes.note(found)


def _json(body: bytes) -> JsonObject:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _about(headers: Mapping[str, str]) -> dict[str, object]:
    given = {name.replace("-", "_"): headers.get(OWN + name) for name in ABOUT}
    return {name: value for name, value in given.items() if value}


def _passed(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Headers for upstream: bodies come back as they are, not compressed, so that they can be read."""
    kept = [(name, value) for name, value in headers.items() if name.lower() not in HOP]
    return CIMultiDict([*((n, v) for n, v in kept if not n.lower().startswith(OWN)), ("Accept-Encoding", "identity")])


def _back(headers: CIMultiDictProxy[str], exchange: Exchange | None) -> CIMultiDict[str]:
    kept = CIMultiDict([(name, value) for name, value in headers.items() if name.lower() not in HOP])
    if exchange is not None:
        kept[f"{OWN}stream-id"] = exchange.stream_id
    return kept


@asynccontextmanager
async def proxying(upstream: str, producer: TokenProducer, address: str, *, repairs: bool) -> AsyncIterator[str]:
    """A running proxy; gives its URL. Raises ConfigError for an address that can't be had."""
    host, _, port = address.rpartition(":")
    if not port.isdigit() or not upstream.startswith(("http://", "https://")):
        raise ConfigError("proxy: --upstream is an http(s) URL, --listen is host:port")
    timeout = ClientTimeout(total=None, connect=CONNECT_S_MAX)
    connector = TCPConnector(limit=0, ttl_dns_cache=ADDRESS_S_MAX)
    async with ClientSession(timeout=timeout, auto_decompress=False, connector=connector) as session:
        proxy = Proxy(upstream=upstream.rstrip("/"), producer=producer, session=session, repairs=repairs)
        app = web.Application(client_max_size=REQUEST_BYTES_MAX)
        app.router.add_route("*", "/{path:.*}", proxy.handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host.strip("[]") or "127.0.0.1", int(port))
            try:
                await site.start()
            except OSError as error:
                raise ConfigError(f"proxy: {address}: {error.strerror}") from error
            found = runner.addresses[0]
            yield f"http://{found[0]}:{found[1]}"
        finally:
            await runner.cleanup()
