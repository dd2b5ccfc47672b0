"""What every page needs: the reader, the registry, the templates, and answers kept for a short time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

import jinja2
from aiohttp import web

from schemas.jsonvalue import Json
from streams.registry_changes import Registry
from streams.settings import Settings
from streams.store import Reader
from streams.web.filters import RANGES, Filter, filter_of

Answer = TypeVar("Answer")
KEPT_S = 30.0
ANSWERS_MAX = 500


class Cache:
    """Answers by key, each kept for some seconds; one asker asks, others with the same key wait for its answer."""

    def __init__(self) -> None:
        self._answers: dict[object, tuple[float, asyncio.Future[Json]]] = {}

    async def get(self, key: object, ask: Callable[[], Awaitable[Answer]], seconds: float = KEPT_S) -> Answer:
        """The kept answer, or a new one; a failed question isn't kept."""
        now = time.monotonic()
        kept = self._answers.get(key)
        if kept and kept[0] > now:
            return await asyncio.shield(kept[1])
        if len(self._answers) >= ANSWERS_MAX:
            self._answers = {other: value for other, value in self._answers.items() if value[0] > now}
        asked = asyncio.ensure_future(ask())
        self._answers[key] = (now + seconds, asked)
        try:
            return await asked
        except BaseException:
            self._answers.pop(key, None)
            raise


READER = web.AppKey("reader", Reader)
REGISTRY = web.AppKey("registry", Registry)
SETTINGS = web.AppKey("settings", Settings)
TEMPLATES = web.AppKey("templates", jinja2.Environment)
CACHE = web.AppKey("cache", Cache)
STOPPING = web.AppKey("stopping", asyncio.Event)
LISTENERS = web.AppKey("listeners", set)


async def ask(request: web.Request, query: Callable[..., Answer], *arguments: object) -> Answer:
    """Run a blocking query of the reader in a thread."""
    return await asyncio.to_thread(query, request.app[READER], *arguments)


async def render(request: web.Request, template: str, **context: object) -> web.Response:
    """A page; the filter of the address, the tenants and the time are there on each."""
    chosen = filter_of(request.query)
    given = {
        "f": chosen,
        "ranges": RANGES,
        "now": datetime.now(UTC),
        "path": request.path,
        "tenants": await tenants(request),
        "is_part": "HX-Request" in request.headers,
        "can_change": REGISTRY in request.app,
    }
    text = request.app[TEMPLATES].get_template(template).render(given | context)
    return web.Response(text=text, content_type="text/html")


async def tenants(request: web.Request) -> list[str]:
    """Tenants that have streams."""

    async def asked() -> list[str]:
        table = await ask(request, Reader.query, "SELECT DISTINCT tenant FROM streams ORDER BY tenant LIMIT 200")
        return [row[0] for row in table.rows]

    return await request.app[CACHE].get("tenants", asked)


async def facets(request: web.Request, chosen: Filter) -> dict[str, list[str]]:
    """Values to choose from in filters: what occurs in the chosen time."""

    async def asked() -> dict[str, list[str]]:
        since, until = chosen.times(datetime.now(UTC))
        table = await ask(
            request,
            Reader.query,
            "SELECT groupUniqArray(100)(agent) AS agent, groupUniqArray(100)(model) AS model,"
            " groupUniqArrayArray(100)(tools) AS tool FROM streams"
            " WHERE (tenant = {tenant:String} OR {tenant:String} = '')"
            " AND hour >= {since:DateTime} AND hour < {until:DateTime}",
            {"tenant": chosen.tenant, "since": int(since.timestamp()), "until": int(until.timestamp())},
        )
        return {name: sorted(filter(None, values)) for name, values in table.records()[0].items()}

    return await request.app[CACHE].get(("facets", chosen.tenant, chosen.range, chosen.since, chosen.until), asked)
