"""Calls that a dispatcher executes → what is being done, what comes next, what was done; for all runs or for one."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiohttp import web

from schemas.jsonvalue import JsonObject
from streams.panel import parameters
from streams.store import Reader
from streams.web.filters import Filter, filter_of
from streams.web.runs import json_of
from streams.web.state import ask, facets, render

LIST_MAX = 100
"""Calls shown in each list; more are in the table `executions`."""
HANDOVERS_MAX = 20
_BEST = "(e.rank, 1 - e.is_again)"
"""Of the rows of one call the one that counts: the furthest state, and of its end the first telling."""
_NEWEST = ", ".join(
    f"argMax(e.{name}, {_BEST}) AS {name}"
    for name in (
        "`order`", "tool", "status", "reason", "arguments", "error", "duration_ms", "cost_usd", "tokens", "strategies",
    )
)  # fmt: skip
_CALLS = f"""SELECT e.tenant AS tenant, e.task AS task, e.stream_id AS stream_id, e.call_id AS call_id, {_NEWEST},
  argMax(e.state, {_BEST}) AS now,
  argMax(e.changed_at, {_BEST}) AS since FROM executions AS e"""
_KEY = " GROUP BY e.tenant, e.task, e.stream_id, e.call_id"


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls by what is to be said of them."""

    running: list[JsonObject] = field(default_factory=list)
    """What is being done, the oldest first."""
    next: list[JsonObject] = field(default_factory=list)
    """What comes next, in order."""
    done: list[JsonObject] = field(default_factory=list)
    """What was done, the newest first."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many there are in all: `running`, `planned`, `ended`."""
    handovers: list[JsonObject] = field(default_factory=list)
    """Tasks that ended at a bound, the newest first."""

    @property
    def is_busy(self) -> bool:
        """Whether anything is under way or still to come."""
        return bool(self.running or self.next)


def calls_of(reader: Reader, chosen: Filter, now: datetime) -> Calls:
    """Calls whose state changed in the chosen time."""
    since, until = chosen.times(now)
    given = parameters(chosen.tenant, since, until) | {"tool": chosen.tool}
    where = (
        " WHERE e.changed_at >= {since:DateTime64(3, 'UTC')} AND e.changed_at < {until:DateTime64(3, 'UTC')}"
        " AND (e.tenant = {tenant:String} OR {tenant:String} = '') AND (e.tool = {tool:String} OR {tool:String} = '')"
    )
    ended = reader.query(
        "SELECT tenant, task, bound, record, ended_at FROM handovers FINAL"
        " WHERE ended_at >= {since:DateTime64(3, 'UTC')} AND ended_at < {until:DateTime64(3, 'UTC')}"
        " AND (tenant = {tenant:String} OR {tenant:String} = '')"
        f" ORDER BY ended_at DESC LIMIT {HANDOVERS_MAX}",
        given,
    ).records()
    return _sorted(reader, where, given, ended)


def calls_of_run(reader: Reader, run: JsonObject) -> Calls:
    """The calls of one run."""
    given = {"tenant": run["tenant"], "task": run["run_id"]}
    where = " WHERE e.tenant = {tenant:String} AND e.task = {task:String}"
    ended = reader.query(
        f"SELECT tenant, task, bound, record, ended_at FROM handovers AS e FINAL{where} ORDER BY ended_at DESC", given
    ).records()
    return _sorted(reader, where, given, ended)


def _sorted(reader: Reader, where: str, given: JsonObject, ended: list[JsonObject]) -> Calls:
    state = f"SELECT argMax(e.state, {_BEST}) AS now FROM executions AS e{where}{_KEY}"
    table = reader.query(f"SELECT now, count() FROM ({state}) GROUP BY now", given)
    counts = {str(state): int(count) for state, count in table.rows}
    if not counts:
        return Calls(handovers=_read(ended))
    rows = reader.query(
        f"SELECT *, if(now = 'ended', -1, 1) AS way FROM ({_CALLS}{where}{_KEY})"
        f" ORDER BY now, way * toUnixTimestamp64Milli(since), way * `order` LIMIT {LIST_MAX} BY now",
        given,
    ).records()
    by_state: dict[str, list[JsonObject]] = {"running": [], "planned": [], "ended": []}
    for row in rows:
        by_state.setdefault(row["now"], []).append(row)
    return Calls(by_state["running"], by_state["planned"], by_state["ended"], counts, _read(ended))


def _read(ended: list[JsonObject]) -> list[JsonObject]:
    return [row | {"record": json_of(row["record"])} for row in ended]


async def calls_page(request: web.Request) -> web.Response:
    """All runs' calls; the page asks for itself again every two seconds."""
    chosen, now = filter_of(request.query), datetime.now(UTC)
    calls, choices = await asyncio.gather(ask(request, calls_of, chosen, now), facets(request, chosen))
    return await render(request, "calls.html", calls=calls, facets=choices)


ROUTES = (web.get("/calls", calls_page),)
