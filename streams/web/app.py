"""Reader, settings and registry → a web server: routes, who may come in, and what every answer carries.

On loopback anybody on the machine may look, as with a terminal; on any other address a token is needed. Nothing is
loaded from elsewhere and no inline script or style runs (CSP), so text of a model can't do anything on a page.
"""

import asyncio
import hmac
import json
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import jinja2
from aiohttp import web

from streams.registry_changes import Registry
from streams.running_page import PAGE_FILE
from streams.settings import ConfigError, Settings
from streams.store import QueryError, Reader
from streams.web import calls, download, explore, learned, live, looking_back, pages
from streams.web.state import CACHE, LISTENERS, READER, REGISTRY, SETTINGS, STOPPING, TEMPLATES, Cache
from streams.web.words import FILTERS, visible

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
COOKIE = "hermes_token"
BODY_BYTES_MAX = 200_000
PORT_TRIES = 20
"""A port in use isn't fatal on loopback: the next ones are tried."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
TOKEN = web.AppKey("token", str)
COMMANDS_TOKEN = web.AppKey("commands_token", str)
"""What commands of the same user show, who may read the note in the data directory; browsers don't have it."""
HOSTS = web.AppKey("hosts", frozenset)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Web:
    """The running server."""

    url: str
    runner: web.AppRunner
    note: Path | None

    async def close(self) -> None:
        """Stop answering."""
        if self.note:
            with suppress(FileNotFoundError):
                self.note.unlink()
        self.runner.app[STOPPING].set()
        await self.runner.cleanup()


async def start_web(reader: Reader, settings: Settings, registry: Registry | None = None) -> Web:
    """Serve the page at `settings.web_host` and `web_port`; raises ConfigError when that can't be."""
    host = settings.web_host
    is_local = host in LOOPBACK
    if not is_local and not settings.web_token:
        raise ConfigError("HERMES_WEB_TOKEN must be set to show the page on an address other than loopback")
    application = create_app(reader, settings, registry)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    port = await _listening(runner, host, settings.web_port)
    url = f"http://{'[' + host + ']' if ':' in host else host}:{port}"
    return Web(url, runner, _note(settings, url, application[COMMANDS_TOKEN]))


def create_app(reader: Reader, settings: Settings, registry: Registry | None = None) -> web.Application:
    """The application without a port."""
    application = web.Application(middlewares=[_carry, _admit], client_max_size=BODY_BYTES_MAX)
    application[READER], application[CACHE], application[STOPPING] = reader, Cache(), asyncio.Event()
    application[TOKEN], application[LISTENERS], application[SETTINGS] = settings.web_token, set(), settings
    application[COMMANDS_TOKEN] = secrets.token_hex(16)
    application[HOSTS] = LOOPBACK | {settings.web_host}
    if registry is not None:
        application[REGISTRY] = registry
    loader = jinja2.PackageLoader("streams.web")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=visible
    )
    environment.filters.update(FILTERS)
    application[TEMPLATES] = environment
    for module in (pages, calls, learned, explore, download, live, looking_back):
        application.add_routes(module.ROUTES)
    application.router.add_get("/static/{name}", _static)
    application.router.add_get("/login", _login_page)
    application.router.add_post("/login", _login)
    application.router.add_get("/healthz", _health)
    return application


@web.middleware
async def _carry(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Headers on each answer; what went wrong as a page or, under /api, as JSON."""
    try:
        response = await handler(request)
    except QueryError as error:
        response = await _wrong(request, 400, str(error))
    except web.HTTPNotFound as error:
        response = await _wrong(request, 404, error.reason)
    except web.HTTPRequestEntityTooLarge:
        response = await _wrong(request, 413, "The request is too large.")
    if not response.prepared:
        response.headers.update(HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")
    return response


@web.middleware
async def _admit(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Names that a browser may call us by (against DNS rebinding), the token, and no change from another site."""
    host = urlsplit(f"//{request.host}").hostname or ""
    is_local = request.app[HOSTS] == LOOPBACK
    if is_local and host not in request.app[HOSTS]:
        return web.Response(status=421, text="unknown host name")
    if request.method == "POST" and not _is_own(request):
        return web.Response(status=403, text="a change must come from this page")
    is_open = request.path.startswith("/static/") or request.path in {"/login", "/healthz"}
    if request.app[TOKEN] and not is_open and not _knows_token(request):
        if request.path.startswith("/api/") or request.method != "GET":
            return web.json_response({"error": "a token is needed"}, status=401)
        raise web.HTTPSeeOther("/login")
    if request.path == "/api/forget" and not _is_command(request):
        return web.json_response({"error": "only the command `forget` may do this"}, status=403)
    return await handler(request)


def _is_own(request: web.Request) -> bool:
    """Commands send no Origin; browsers do, and it must be ours."""
    origin = request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == request.host


def _knows_token(request: web.Request) -> bool:
    given = request.cookies.get(COOKIE) or _bearer(request)
    return hmac.compare_digest(given.encode(), request.app[TOKEN].encode()) or _is_command(request)


def _is_command(request: web.Request) -> bool:
    return hmac.compare_digest(_bearer(request).encode(), request.app[COMMANDS_TOKEN].encode())


def _bearer(request: web.Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


async def _wrong(request: web.Request, status: int, message: str) -> web.Response:
    if request.path.startswith("/api/"):
        return web.json_response({"error": message}, status=status)
    template = request.app[TEMPLATES].get_template("error.html")
    text = template.render(status=status, message=message, path=request.path, is_part="HX-Request" in request.headers)
    return web.Response(status=status, text=text, content_type="text/html")


async def _static(request: web.Request) -> web.Response:
    entry = files("streams.web").joinpath("static", request.match_info["name"])
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain"}
    kind = kinds.get(Path(request.match_info["name"]).suffix)
    if kind is None or not entry.is_file():
        raise web.HTTPNotFound(reason="No such file.")
    is_versioned = any(character.isdigit() for character in request.match_info["name"])
    kept = "max-age=31536000, immutable" if is_versioned else "no-cache"
    return web.Response(body=entry.read_bytes(), content_type=kind, charset="utf-8", headers={"Cache-Control": kept})


async def _health(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _login_page(request: web.Request) -> web.Response:
    text = request.app[TEMPLATES].get_template("login.html").render(path="/login", is_wrong="wrong" in request.query)
    return web.Response(text=text, content_type="text/html")


async def _login(request: web.Request) -> web.Response:
    given = str((await request.post()).get("token", ""))
    if not hmac.compare_digest(given.encode(), request.app[TOKEN].encode()):
        raise web.HTTPSeeOther("/login?wrong=1")
    response = web.HTTPSeeOther("/runs")
    response.set_cookie(COOKIE, given, httponly=True, samesite="Strict", secure=request.secure)
    raise response


async def _listening(runner: web.AppRunner, host: str, port: int) -> int:
    for offset in range(PORT_TRIES):
        try:
            await web.TCPSite(runner, host, port + offset if port else 0).start()
        except OSError as error:
            if offset == PORT_TRIES - 1:
                await runner.cleanup()
                raise ConfigError(f"HERMES_WEB_PORT: {host}:{port}: {error.strerror}") from error
            continue
        break
    address = runner.addresses[0]
    return int(address[1])


def _note(settings: Settings, url: str, token: str) -> Path | None:
    directory = Path(settings.data_dir)
    if not directory.is_dir():
        return None
    note = directory / PAGE_FILE
    with os.fdopen(os.open(note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump({"url": url, "token": token, "kafka_bootstrap": settings.kafka_bootstrap}, out)
    return note
