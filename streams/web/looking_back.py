"""A button on a call, or a POST → what came of looking back at it; with `apply` the strategy goes into the registry."""

import asyncio
from dataclasses import asdict

import orjson
from aiohttp import web

from processors.learning.lifecycle import Approval
from processors.retrospect import Found
from schemas.jsonvalue import JsonObject
from schemas.pattern import Pattern
from streams.looking_back import Asked, looked_back
from streams.redis_client import AWAY
from streams.registry_changes import StaleChangeError, edit
from streams.retrospect_stage import surveyed
from streams.settings import ConfigError, Settings
from streams.store import QueryError
from streams.strategy_changes import strategy_changes
from streams.web.state import READER, REGISTRY, SETTINGS, render

BODY = 'The body must be {"id": stream or run, "call": …, "why": …, "apply": true or false}.'


async def retrospect_api(request: web.Request) -> web.Response:
    """`{"id": …, "call": …, "why": …, "apply": …}` → the retrospection, and what changed in the registry."""
    try:
        asked = await request.json()
    except ValueError:
        raise QueryError(BODY) from None
    given = [asked.get(name, "") for name in ("id", "call", "why")] if isinstance(asked, dict) else []
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < 3 or not texts[0]:
        raise QueryError(BODY)
    found = await _found(request, Asked(id=texts[0], call=texts[1], why=texts[2]))
    changed = await _applied(request, found) if found is not None and asked.get("apply") is True else ()
    answer: JsonObject = {
        "retrospection": asdict(found.retrospection) if found is not None else None,
        "strategy": found.entry.definition if found is not None and found.entry is not None else None,
        "changed": [f"{one.kind}/{one.id}: {one.state}" for one in changed],
    }
    return web.Response(body=orjson.dumps(answer), content_type="application/json")


async def retrospect_page(request: web.Request) -> web.Response:
    """The same for a person: each step of the evidence, and the strategy if there is one."""
    place = request.match_info
    posted = await request.post()
    found = await _found(request, Asked(id=place["stream"], call=place["call"], why="asked on the page"))
    is_applied = found is not None and found.entry is not None and posted.get("apply") == "yes"
    changed = await _applied(request, found) if found is not None and is_applied else ()
    return await render(
        request, "retrospection.html", found=found, changed=changed, run_id=place["run"], is_applied=is_applied,
        stream_id=place["stream"], call_id=place["call"],
    )  # fmt: skip


async def _found(request: web.Request, asked: Asked) -> Found | None:
    settings = request.app[SETTINGS]
    try:
        return await asyncio.to_thread(_look, request, asked, settings)
    except ConfigError as error:
        raise QueryError(str(error)) from None


def _look(request: web.Request, asked: Asked, settings: Settings) -> Found | None:
    return looked_back(request.app[READER], asked, surveyed(settings), approval_of(settings))


def approval_of(settings: Settings) -> Approval:
    """Who lets a strategy in."""
    try:
        return Approval(settings.learn_approval)
    except ValueError:
        raise ConfigError(f"learn_approval: {settings.learn_approval!r} is none of {', '.join(Approval)}") from None


async def _applied(request: web.Request, found: Found) -> tuple[Pattern, ...]:
    entry = found.entry
    if entry is None:
        return ()
    if REGISTRY not in request.app:
        raise QueryError("The page has no registry, so nothing was changed.")
    try:
        return await edit(request.app[REGISTRY], lambda snapshot: strategy_changes(snapshot, (entry,)))
    except StaleChangeError:
        raise QueryError("Somebody else is changing the registry; try again.") from None
    except AWAY:
        raise QueryError("The registry does not answer; nothing was changed.") from None


ROUTES = (
    web.post("/api/retrospect", retrospect_api),
    web.post("/runs/{run:[^/]+}/streams/{stream:[^/]+}/calls/{call:[^/]+}/retrospect", retrospect_page),
)
