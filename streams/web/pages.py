"""Runs → their pages: list, run, step, stream."""

import asyncio
from datetime import UTC, datetime

from aiohttp import web

from schemas.jsonvalue import JsonObject
from streams.web import runs
from streams.web.calls import calls_of_run
from streams.web.difference import of_call
from streams.web.filters import OUTCOMES, filter_of
from streams.web.progress import progress_of
from streams.web.state import CACHE, ask, facets, render
from streams.web.waterfall import rows_of

TABS = ("timeline", "transcript", "pipeline", "json")
JSON_CHARS_MAX = 200_000


async def home(_: web.Request) -> web.Response:
    """The runs are the front page."""
    raise web.HTTPSeeOther("/runs")


async def run_list(request: web.Request) -> web.Response:
    """Runs, newest first."""
    chosen, now = filter_of(request.query), datetime.now(UTC)

    async def bars() -> list[JsonObject]:
        return await ask(request, runs.volume, chosen, now)

    key = ("volume", chosen.tenant, chosen.range, chosen.since, chosen.until)
    page, volume, choices = await asyncio.gather(
        ask(request, runs.run_list, chosen, now), request.app[CACHE].get(key, bars, 10), facets(request, chosen)
    )
    since, until = chosen.times(now)
    return await render(
        request, "runs.html", page=page, bars=_bars(volume, (since, until)), facets=choices, outcomes=OUTCOMES,
        since=since, until=until,
    )  # fmt: skip


async def run_page(request: web.Request) -> web.Response:
    """One run, under one of its tabs."""
    run = await _run(request)
    tab = request.query.get("tab", TABS[0])
    if tab not in TABS:
        raise web.HTTPNotFound(reason="No such tab.")
    offset = _number(request.query.get("offset", "0"))
    limit = runs.TRANSCRIPT_PAGE if tab == "transcript" else runs.STEPS_PAGE
    streams, steps, calls = await asyncio.gather(
        ask(request, runs.streams_of, run["run_id"]), ask(request, runs.steps_of, run, offset, limit + 1),
        ask(request, calls_of_run, run),
    )  # fmt: skip
    for stream in streams:
        if stream["state"] == "open":
            stream["ended_at"] = datetime.now(UTC)
    has_more = len(steps) > limit
    steps = steps[:limit]
    context: JsonObject = {"run": run, "streams": streams, "steps": steps, "tab": tab, "tabs": TABS, "offset": offset}
    context |= {
        "next_offset": offset + limit if has_more else 0,
        "progress": progress_of(streams, steps, calls),
        "calls": calls,
    }
    if tab == "timeline":
        context["axis"], context["rows"] = rows_of(streams, steps)
    elif tab == "transcript":
        texts = await ask(request, runs.texts_of, run, steps)
        context["turns"] = [step | texts.get(_key(step), {}) for step in steps]
    else:
        context["outputs"] = await _outputs(request, run, streams)
    is_more = "more" in request.query
    template = f"_{tab}_rows.html" if is_more and tab in {"timeline", "transcript"} else "run.html"
    return await render(request, template, **context)


async def step_page(request: web.Request) -> web.Response:
    """Everything about one step: as a pane of the run's page, or alone."""
    run = await _run(request)
    stream_id = request.match_info["stream"]
    order, part = _number(request.match_info["order"]), _number(request.match_info["part"])
    step = await ask(request, runs.one_step, run, stream_id, order, part)
    if step is None:
        raise web.HTTPNotFound(reason="The run has no such step.")
    streams = await ask(request, runs.streams_of, run["run_id"])
    stream = next((stream for stream in streams if stream["stream_id"] == stream_id), None)
    output = await ask(request, runs.output_of, run["tenant"], stream["output_hash"]) if stream else {}
    found = _found_in(output, step)
    raw = found.get("raw") or step["text"]
    arguments = found.get("arguments") if found else step["detail"].get("arguments")
    result = None
    if step["kind"] == "tool_call":
        result = await ask(request, runs.one_step, run, stream_id, order, 65_535)
    return await render(
        request, "step.html", run=run, step=step, stream=stream, found=found, result=result, raw=raw,
        arguments=arguments,
        difference=of_call(raw, arguments) if step["kind"] == "tool_call" and isinstance(arguments, dict) else None,
        near=[failure for failure in output.get("failures", ()) if _overlaps(failure, step)],
    )  # fmt: skip


async def stream_json(request: web.Request) -> web.Response:
    """One stream's output as it stands in the store."""
    run = await _run(request)
    streams = await ask(request, runs.streams_of, run["run_id"])
    stream = next((stream for stream in streams if stream["stream_id"] == request.match_info["stream"]), None)
    if stream is None:
        raise web.HTTPNotFound(reason="The run has no such stream.")
    texts = await ask(request, runs.blobs_of, run["tenant"], [stream["output_hash"]])
    text = texts.get(stream["output_hash"], "{}")
    return web.Response(text=text, content_type="application/json", headers={"Content-Disposition": "attachment"})


async def _run(request: web.Request) -> JsonObject:
    run = await ask(request, runs.one_run, request.match_info["run"])
    if run is None:
        raise web.HTTPNotFound(
            reason="There is no such run. It may be past its time, or its first step is not stored yet."
        )
    return run


async def _outputs(request: web.Request, run: JsonObject, streams: list[JsonObject]) -> dict[str, JsonObject]:
    hashes = [stream["output_hash"] for stream in streams[:20]]
    texts = await ask(request, runs.blobs_of, run["tenant"], hashes)
    return {
        stream["stream_id"]: runs.json_of(texts.get(stream["output_hash"], ""))
        if len(texts.get(stream["output_hash"], "")) <= JSON_CHARS_MAX
        else {"too_long": len(texts[stream["output_hash"]])}
        for stream in streams[:20]
    }


def _found_in(output: JsonObject, step: JsonObject) -> JsonObject:
    """The call or node of an output that a step is about."""
    name = {"tool_call": "tool_calls", "reasoning": "nodes"}.get(step["kind"], "")
    among = output.get("reasoning", {}).get("nodes", ()) if name == "nodes" else output.get(name, ())
    return next((found for found in among if found.get("order") == step["order"]), {})


def _overlaps(failure: JsonObject, step: JsonObject) -> bool:
    start, end = failure.get("span") or (0, 0)
    return bool(step["kind"] != "failure" and end > step["span_start"] and start < step["span_end"])


def _bars(volume: list[JsonObject], times: tuple[datetime, datetime]) -> list[JsonObject]:
    """Stacked bars of the volume, in thousandths of the width and hundredths of the height."""
    totals: dict[datetime, int] = {}
    for row in volume:
        totals[row["time"]] = totals.get(row["time"], 0) + row["streams"]
    most, span = max(totals.values(), default=1), (times[1] - times[0]).total_seconds()
    heights: dict[datetime, float] = {}
    bars = []
    for row in sorted(volume, key=lambda row: (row["time"], OUTCOMES.index(row["outcome"]))):
        height = 100 * row["streams"] / most
        base = heights.get(row["time"], 0.0)
        heights[row["time"]] = base + height
        left = 1000 * (row["time"] - times[0]).total_seconds() / span
        bars.append(
            {**row, "left": round(max(0, left), 1), "top": round(100 - base - height, 2), "height": round(height, 2)}
        )
    return bars


def _key(step: JsonObject) -> tuple[str, int, int]:
    return step["stream_id"], step["order"], step["part"]


def _number(text: str) -> int:
    if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit() or len(text) > 9:
        raise web.HTTPNotFound(reason="That is not a number.")
    return int(text)


ROUTES = (
    web.get("/", home),
    web.get("/runs", run_list),
    web.get("/runs/{run:[^/]+}", run_page),
    web.get("/runs/{run:[^/]+}/streams/{stream:[^/]+}.json", stream_json),
    web.get("/runs/{run:[^/]+}/streams/{stream:[^/]+}/steps/{order:[^/]+}/{part:[^/]+}", step_page),
)
