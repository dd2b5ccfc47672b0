"""The export page and its download: the same exports as the command, piece by piece; what commands ask the page for."""

import asyncio
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

import orjson
from aiohttp import web

from streams.export import Choice, Tally, jsonl, parquet, training
from streams.forget import BY, forget
from streams.recall import RECALLED_MAX, Recall
from streams.reminding import SIMILAR_MAX, Wanted, remember
from streams.rows import DEFAULT_TENANT
from streams.store import QueryError
from streams.training import FORMS
from streams.web.filters import OUTCOMES, filter_of
from streams.web.state import READER, facets, render

LINES_AT_ONCE = 500
"""Lines made in one turn of a thread."""
FORMATS = {
    "jsonl": "One line for each step, with its whole text.",
    "sharegpt": "One conversation for each run, for the usual trainers; runs that are no training data are left out.",
    "openai": "One list of chat messages for each run, with tool calls; runs that are no training data are left out.",
    "parquet": "A tar of Parquet files: steps and runs, with the columns of the tables.",
}


async def export_page(request: web.Request) -> web.Response:
    """Choose what to take along."""
    chosen = filter_of(request.query)
    given = {"facets": await facets(request, chosen), "formats": FORMATS, "outcomes": OUTCOMES}
    return await render(request, "export.html", **given)


async def download(request: web.Request) -> web.StreamResponse:
    """The file, as it is made."""
    form = request.query.get("format", "jsonl")
    if form not in FORMATS:
        raise web.HTTPNotFound(reason="There is no such format.")
    chosen = filter_of(request.query)
    since, until = chosen.times(datetime.now(UTC))
    choice = Choice(
        since=since, until=until, tenant=chosen.tenant, outcome=chosen.outcome, agent=chosen.agent, model=chosen.model,
        tool=chosen.tool,
    )  # fmt: skip
    kind, ending = ("application/x-tar", "tar") if form == "parquet" else ("application/x-ndjson", "jsonl")
    name = f"hermes-{form}-{since:%Y%m%d}-{until:%Y%m%d}.{ending}"
    response = web.StreamResponse(
        headers={"Content-Type": kind, "Content-Disposition": f'attachment; filename="{name}"'}
    )
    pieces = _packed(request, choice) if form == "parquet" else _grouped(_pieces(request, choice, form))
    await response.prepare(request)
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        await response.write(piece)
    await response.write_eof()
    return response


def _pieces(request: web.Request, choice: Choice, form: str) -> Iterator[bytes]:
    if form in FORMS:
        return (line for line, is_fit in training(request.app[READER], choice, form, Tally()) if is_fit)
    return jsonl(request.app[READER], choice, Tally())


def _packed(request: web.Request, choice: Choice) -> Iterator[bytes]:
    """The parts as a tar, one after the other, so that only one is in memory."""
    for name, content in parquet(request.app[READER], choice, Tally()):
        head = tarfile.TarInfo(name)
        head.size = len(content)
        yield head.tobuf() + content + bytes(-len(content) % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _grouped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    while group := b"".join(islice(pieces, LINES_AT_ONCE)):
        yield group


async def forget_api(request: web.Request) -> web.Response:
    """`{"by": …, "name": …, "dry_run": …}` → what was deleted, for the command `forget`."""
    asked = await request.json()
    if asked.get("by") not in BY or not isinstance(asked.get("name"), str):
        raise QueryError('The body must be {"by": "stream|run|session", "name": …}.')
    dsn = request.app[READER].dsn
    done = await asyncio.to_thread(forget, dsn, asked["by"], asked["name"], dry_run=bool(asked.get("dry_run")))
    return web.json_response({"streams": list(done.stream_ids), "rows": done.rows, "is_off_disk": done.is_off_disk})


async def recall_api(request: web.Request) -> web.Response:
    """`{"goal": …, "tool": …, "n": …, "tenant": …}` → similar reusable records, for the command `recall`."""
    asked = await request.json()
    goal, n = asked.get("goal"), asked.get("n", 5)
    if not isinstance(goal, str) or n not in range(1, RECALLED_MAX + 1):
        raise QueryError(f'The body must be {{"goal": text, "n": 1 to {RECALLED_MAX}, "tool": …, "tenant": …}}.')
    search = Recall(request.app[READER])
    given = {"tool": asked.get("tool"), "n": int(n), "tenant": asked.get("tenant") or DEFAULT_TENANT}
    found = await asyncio.to_thread(search.find, goal, **given)
    return web.Response(body=orjson.dumps({"records": found}), content_type="application/json")


async def remember_api(request: web.Request) -> web.Response:
    """`{"goal": …, "run": …, "done": […], "tenant": …}` → what a prompt is reminded of, for `recall --prompt`."""
    asked = await request.json()
    goal, most, done = asked.get("goal"), asked.get("similar_max", SIMILAR_MAX), asked.get("done", [])
    is_text = isinstance(goal, str) and isinstance(done, list) and all(isinstance(one, str) for one in done)
    if not is_text or most not in range(1, RECALLED_MAX + 1):
        raise QueryError('The body must be {"goal": text, "run": text, "done": [text], "tenant": text}.')
    wanted = Wanted(
        goal=goal, run=str(asked.get("run") or ""), done=tuple(done), similar_max=int(most),
        tenant=asked.get("tenant") or DEFAULT_TENANT,
    )  # fmt: skip
    found = await asyncio.to_thread(remember, request.app[READER], wanted)
    return web.Response(body=orjson.dumps(found), content_type="application/json")


ROUTES = (
    web.get("/export", export_page),
    web.get("/export/download", download),
    web.post("/api/forget", forget_api),
    web.post("/api/recall", recall_api),
    web.post("/api/remember", remember_api),
)
