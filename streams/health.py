"""/metrics, /healthz and /readyz of a worker process, on one port."""

from collections.abc import Callable, Sequence

from aiohttp import web

from streams.settings import ConfigError
from streams.telemetry import Kinds, Watched, page

CONTENT = "text/plain; version=0.0.4; charset=utf-8"

NotReady = Callable[[], str | None]
"""What is not ready yet, in a few words; None when everything is."""


async def serve(address: str, watched: Sequence[Watched], kinds: Kinds, not_ready: NotReady) -> web.AppRunner:
    """Listen at `host:port`; the caller cleans the runner up. Raises ConfigError for a port in use."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise ConfigError(f"HERMES_METRICS_ADDRESS: {address!r} is not host:port")

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=page(watched, kinds), headers={"Content-Type": CONTENT})

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        lacks = not_ready()
        return web.Response(status=503 if lacks else 200, text=f"{lacks or 'ok'}\n")

    app = web.Application()
    app.add_routes([web.get("/metrics", metrics), web.get("/healthz", healthz), web.get("/readyz", readyz)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host or "127.0.0.1", int(port)).start()
    except OSError as error:
        await runner.cleanup()
        raise ConfigError(f"HERMES_METRICS_ADDRESS: {address}: {error.strerror}") from error
    return runner
