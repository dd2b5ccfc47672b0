"""Runs that change → rows for an open list, as server-sent events."""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime

from aiohttp import web

from streams.store import Reader
from streams.web import runs
from streams.web.filters import filter_of
from streams.web.state import LISTENERS, STOPPING, TEMPLATES, ask

LOOK_S = 0.25
"""How often the store is asked whether anything is new: with the sink's 0.5 s this keeps a row within a second."""
BEAT_S = 15.0
"""A comment is sent when nothing happened for this long, so that a closed page is noticed."""
LISTENERS_MAX = 50


async def run_events(request: web.Request) -> web.StreamResponse:
    """`event: runs` with the rows' HTML, newest first, whenever runs were written."""
    listeners = request.app[LISTENERS]
    if len(listeners) >= LISTENERS_MAX:
        raise web.HTTPServiceUnavailable(text="too many live pages")
    me = object()
    listeners.add(me)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    try:
        await response.prepare(request)
        with suppress(ConnectionResetError):
            await _follow(request, response)
    finally:
        listeners.discard(me)
    return response


async def _follow(request: web.Request, response: web.StreamResponse) -> None:
    chosen = filter_of(request.query)
    newest = await ask(request, Reader.query, "SELECT max(ingested_at) FROM streams")
    mark: datetime = newest.rows[0][0]
    template = request.app[TEMPLATES].get_template("_run_rows.html")
    quiet_s = 0.0
    await response.write(b": live\n\n")
    while not request.app[STOPPING].is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(request.app[STOPPING].wait(), LOOK_S)
        found, moved = await ask(request, runs.runs_since, chosen, mark, datetime.now(UTC))
        quiet_s = 0.0 if found else quiet_s + LOOK_S
        if found:
            html = template.render(runs=found, f=chosen, now=datetime.now(UTC))
            await response.write(b"event: runs\ndata: " + json.dumps({"html": html}).encode() + b"\n\n")
        elif quiet_s >= BEAT_S:
            quiet_s = 0.0
            await response.write(b": still here\n\n")
        mark = moved


ROUTES = (web.get("/live/runs", run_events),)
