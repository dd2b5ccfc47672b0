"""Panels, the pipeline, SQL: what analysts and operators look at."""

import asyncio
import csv
import io
from datetime import UTC, datetime

import orjson
from aiohttp import web

from schemas.jsonvalue import Json, JsonObject
from streams.panel import PAGES, Panel, panels, parameters
from streams.store import QueryError, Reader, Table
from streams.web.filters import Filter, filter_of
from streams.web.state import CACHE, ask, render

ROUND_S = 10
"""Times of panels are rounded to this, so that answers can be kept."""
SQL_ROWS_MAX = 1_000
EXAMPLES = {
    "Tools that fail": """SELECT name, error_class, count() AS n
FROM steps FINAL
WHERE kind = 'tool_call' AND error_class != '' AND started_at > now() - INTERVAL 7 DAY
GROUP BY name, error_class
ORDER BY n DESC""",
    "Longest reasoning": """SELECT run_id, stream_id, model, reasoning_chars
FROM streams FINAL
WHERE started_at > now() - INTERVAL 1 DAY
ORDER BY reasoning_chars DESC
LIMIT 20""",
    "What was repaired": """SELECT arrayJoin(repairs) AS repair, format, count() AS n
FROM steps FINAL
WHERE started_at > now() - INTERVAL 7 DAY
GROUP BY repair, format
ORDER BY n DESC""",
}


async def dashboard(request: web.Request) -> web.Response:
    """One page of panels; each fetches its own rows."""
    page = request.match_info.get("page", "overview")
    if page not in PAGES or page == "pipeline":
        raise web.HTTPNotFound(reason="There is no such dashboard.")
    shown = [panel for panel in panels() if panel.page == page]
    return await render(request, "dashboard.html", panels=shown, page=page, pages=PAGES[:3])


async def pipeline(request: web.Request) -> web.Response:
    """How the stages do: newest figures, dead letters, what the sink set aside, and the panels."""
    stages, topics, aside = await asyncio.gather(
        _records(request, _STAGES), _records(request, _LETTERS), _records(request, _ASIDE)
    )
    shown = [panel for panel in panels() if panel.page == "pipeline"]
    return await render(request, "pipeline.html", panels=shown, stages=stages, letters=topics, aside=aside)


async def panel_rows(request: web.Request) -> web.Response:
    """A panel's answer as JSON: columns, types, rows."""
    panel = next((panel for panel in panels() if panel.id == request.match_info["panel"]), None)
    if panel is None:
        raise web.HTTPNotFound(reason="There is no such panel.")
    chosen = filter_of(request.query)

    async def asked() -> Table:
        return await ask(request, Reader.query, panel.sql, _parameters(chosen))

    key = (panel.id, chosen.tenant, chosen.range, chosen.since, chosen.until)
    table = await request.app[CACHE].get(key, asked)
    return _json(_panel_answer(panel, table))


async def sql_page(request: web.Request) -> web.Response:
    """Ask the tables."""
    tables = await _records(
        request,
        "SELECT table, groupArray((name, type, comment)) AS columns FROM (SELECT table, name, type, comment, position"
        " FROM system.columns WHERE database = currentDatabase() ORDER BY table, position)"
        " GROUP BY table ORDER BY table",
    )
    return await render(
        request, "sql.html", examples=EXAMPLES, tables=tables, sql=request.query.get("sql", EXAMPLES["Tools that fail"])
    )


async def sql_rows(request: web.Request) -> web.Response:
    """The answer of a typed query, as a part of the page or as CSV."""
    form = await request.post()
    try:
        table = await ask(request, Reader.query_of_a_person, str(form.get("sql", "")), SQL_ROWS_MAX)
    except QueryError as error:
        return await render(request, "_sql_rows.html", error=str(error), table=None)
    if form.get("as") == "csv":
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerows([table.columns, *([_csv(value) for value in row] for row in table.rows)])
        name = {"Content-Disposition": 'attachment; filename="answer.csv"'}
        return web.Response(text=out.getvalue(), content_type="text/csv", headers=name)
    return await render(request, "_sql_rows.html", error="", table=table, rows_max=SQL_ROWS_MAX)


async def sql_api(request: web.Request) -> web.Response:
    """`{"sql": …}` → `{"columns": …, "rows": …}`, for the command `sql`."""
    try:
        asked = await request.json()
        sql = str(asked["sql"])
    except (ValueError, TypeError, KeyError):  # not JSON, not an object, no such key
        raise QueryError('The body must be {"sql": "SELECT …"}.') from None
    table = await ask(request, Reader.query_of_a_person, sql)
    return _json({"columns": table.columns, "rows": table.records()})


def _panel_answer(panel: Panel, table: Table) -> JsonObject:
    options = {key: list(value) for key, value in panel.options.items()}
    rows = [list(row) for row in table.rows]
    return {"chart": panel.chart, "options": options, "columns": table.columns, "types": table.types, "rows": rows}


def _parameters(chosen: Filter) -> JsonObject:
    now = datetime.now(UTC)
    rounded = datetime.fromtimestamp(now.timestamp() // ROUND_S * ROUND_S, UTC)
    return parameters(chosen.tenant, *chosen.times(rounded))


async def _records(request: web.Request, sql: str) -> list[JsonObject]:
    table = await ask(request, Reader.query, sql)
    return table.records()


def _json(value: JsonObject) -> web.Response:
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z
    return web.Response(body=orjson.dumps(value, default=str, option=options), content_type="application/json")


def _csv(value: Json) -> Json:
    """A cell that a spreadsheet won't run as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value[:1] else value


_STAGES = """SELECT stage, uniqExact(instance) AS workers, sum(lag_now) AS lag, max(oldest_now) AS oldest_ms,
  sum(read) / 60 AS read_per_s, sum(written) / 60 AS written_per_s,
  sum(failed) AS n_failures, sum(letters) AS n_letters, max(slow) AS p95, sum(open_now) AS n_open,
  max(seen) AS last_seen FROM (
  SELECT stage, instance, topic, partition, argMax(lag, ts) AS lag_now, argMax(oldest_ms, ts) AS oldest_now,
    sumIf(records_in, ts > now() - 60) AS read, sumIf(records_out, ts > now() - 60) AS written,
    sum(failures) AS failed, sum(dead_letters) AS letters, argMax(p95_ms, ts) AS slow,
    argMax(open_streams, ts) AS open_now, max(ts) AS seen
  FROM stage_stats WHERE ts > now() - INTERVAL 1 HOUR GROUP BY stage, instance, topic, partition)
GROUP BY stage ORDER BY stage"""
_LETTERS = """SELECT stage, topic, partition, sum(dead_letters) AS letters, max(ts) AS last_seen FROM stage_stats
WHERE dead_letters > 0 AND ts > now() - INTERVAL 7 DAY GROUP BY stage, topic, partition
ORDER BY last_seen DESC LIMIT 50"""
_ASIDE = """SELECT reason, count() AS events, min(seen_at) AS first_seen, max(seen_at) AS last_seen
FROM quarantine FINAL GROUP BY reason ORDER BY reason"""

ROUTES = (
    web.get("/dashboards", dashboard),
    web.get("/dashboards/{page}", dashboard),
    web.get("/pipeline", pipeline),
    web.get("/api/panels/{panel}", panel_rows),
    web.get("/sql", sql_page),
    web.post("/sql", sql_rows),
    web.post("/api/sql", sql_api),
)
