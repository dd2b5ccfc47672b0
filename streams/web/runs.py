"""Filter → runs, one run, its steps, one step: the queries behind the pages. Blocking; call them in a thread.

Lists read `streams` and light columns of `steps`; a text is fetched from `blobs` only where it is shown.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from schemas.jsonvalue import Json, JsonObject
from streams.store import Reader
from streams.web.filters import Filter

RUNS_PAGE = 50
STEPS_PAGE = 300
STEPS_PAGE_MAX = 1_000
TRANSCRIPT_PAGE = 100
STREAMS_MAX = 200
"""Streams of one run that its page shows; more are in the tables."""
LOOKBACKS = tuple(timedelta(hours=hours) for hours in (1, 6, 24, 96))
"""A page of the list is looked for in the newest hours first; only when it isn't full, further back."""
OVERLAP = timedelta(milliseconds=20)
"""Rows written in the same moment as the newest one seen may have come later; a row given twice replaces itself."""
RUN_DAYS_MAX = 7
"""Streams of a run that are further apart than this from the newest are not added up in lists."""

_OUTCOME = """multiIf(countIf(state = 'open') > 0, 'open', countIf(outcome = 'failed') > 0, 'failed',
  countIf(outcome = 'partial') > 0, 'partial', countIf(outcome = 'repaired') > 0, 'repaired', 'clean')"""
_ROLLUP = f"""tenant, run_id, min(started_at) AS first_at, max(started_at) AS latest, max(ended_at) AS last_at,
  countIf(state = 'open') AS open_streams,
  {_OUTCOME} AS run_outcome,
  argMax(title, (title != '', started_at)) AS run_title, any(agent) AS run_agent, groupUniqArray(5)(model) AS models,
  any(session_id) AS session, any(goal_id) AS goal, count() AS n_streams, sum(steps) AS n_steps, sum(calls) AS n_calls,
  sum(errors) AS n_errors, sum(repairs) AS n_repairs, sum(failures) AS n_failures,
  arraySum(mapValues(sumMap(pii))) AS n_pii, sum(tok_in) AS n_tok_in, sum(tok_out) AS n_tok_out, sum(cost_usd) AS usd"""


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, newest first, and where the next page begins."""

    runs: list[JsonObject]
    next: str


def run_list(reader: Reader, chosen: Filter, now: datetime) -> RunPage:
    """One page of runs."""
    since, until = chosen.times(now)
    cursor = chosen.cursor()
    newest = datetime.fromtimestamp(cursor[0] / 1000, until.tzinfo) if cursor else until
    found: list[JsonObject] = []
    for lookback in (*LOOKBACKS, None):
        low = since if lookback is None else max(since, newest - lookback)
        found = _newest(reader, chosen, (low, until))
        if len(found) > RUNS_PAGE or low == since:
            break
    page = found[:RUNS_PAGE]
    more = f"{page[-1]['ms']}~{page[-1]['run_id']}" if len(found) > RUNS_PAGE else ""
    return RunPage(_rolled_up(reader, page), more)


def runs_since(reader: Reader, chosen: Filter, watermark: datetime, now: datetime) -> tuple[list[JsonObject], datetime]:
    """Runs whose rows were written after the watermark, and the new watermark."""
    since, until = chosen.times(now)
    moved = reader.query(
        "SELECT max(ingested_at) FROM streams WHERE ingested_at > {mark:DateTime64(3, 'UTC')}"
        " AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')})",
        {"mark": _text(watermark), "since": _text(since)},
    ).rows[0][0]
    if moved <= watermark:
        return [], watermark
    found = _newest(reader, chosen, (since, until), watermark - OVERLAP)
    return _rolled_up(reader, found[:RUNS_PAGE]), moved


def volume(reader: Reader, chosen: Filter, now: datetime) -> list[JsonObject]:
    """Streams by time and outcome, for the bars above the list."""
    since, until = chosen.times(now)
    seconds = max(60, int((until - since).total_seconds() / 96))
    return reader.query(
        "SELECT toStartOfInterval(started_at, INTERVAL {seconds:UInt32} SECOND) AS time, outcome, count() AS streams"
        " FROM streams FINAL WHERE (tenant = {tenant:String} OR {tenant:String} = '')"
        " AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}"
        " GROUP BY time, outcome ORDER BY time",
        {"seconds": seconds, "tenant": chosen.tenant, "since": _text(since), "until": _text(until)},
    ).records()


def one_run(reader: Reader, run_id: str) -> JsonObject | None:
    """A run's totals."""
    rows = reader.query(
        f"SELECT {_ROLLUP} FROM streams FINAL WHERE run_id = {{run:String}} GROUP BY tenant, run_id", {"run": run_id}
    ).records()
    return rows[0] if rows else None


def streams_of(reader: Reader, run_id: str) -> list[JsonObject]:
    """A run's streams in order of time."""
    return reader.query(
        "SELECT * EXCEPT (is_deleted, rev), mapKeys(pii) AS pii_types FROM streams FINAL WHERE run_id = {run:String}"
        f" ORDER BY started_at, stream_id LIMIT {STREAMS_MAX}",
        {"run": run_id},
    ).records()


def steps_of(reader: Reader, run: JsonObject, offset: int, limit: int) -> list[JsonObject]:
    """Light columns of a run's steps, in order; failures stand at the end of their stream."""
    return reader.query(
        "SELECT stream_id, `order`, part, kind, name, status, error_class, call_id, repairs, pattern_id,"
        " mapKeys(pii) AS pii, started_at, duration_ms, span_start, span_end, chars, preview, confidence"
        f" FROM steps FINAL WHERE {_OF_RUN} ORDER BY started_at, stream_id, if(`order` < 0, 2147483647, `order`), part"
        " LIMIT {limit:UInt32} OFFSET {offset:UInt32}",
        {**_bounds(run), "limit": min(limit, STEPS_PAGE_MAX), "offset": offset},
    ).records()


def texts_of(reader: Reader, run: JsonObject, steps: list[JsonObject]) -> dict[tuple[str, int, int], JsonObject]:
    """Whole text and detail of some steps, by stream, order and part."""
    keys = [(step["stream_id"], step["order"], step["part"]) for step in steps]
    if not keys:
        return {}
    rows = reader.query(
        "SELECT stream_id, `order`, part, preview, content_hash, detail, detail_hash FROM steps FINAL"
        f" WHERE {_OF_RUN} AND stream_id IN {{streams:Array(String)}}",
        {**_bounds(run), "streams": sorted({key[0] for key in keys})},
    ).records()
    wanted = set(keys)
    rows = [row for row in rows if (row["stream_id"], row["order"], row["part"]) in wanted]
    blobs = blobs_of(
        reader, run["tenant"], [str(row[name]) for row in rows for name in ("content_hash", "detail_hash")]
    )
    return {
        (row["stream_id"], row["order"], row["part"]): {
            "text": blobs.get(row["content_hash"], row["preview"]),
            "is_cut": bool(row["content_hash"]) and row["content_hash"] not in blobs,
            "detail": json_of(blobs.get(row["detail_hash"]) or row["detail"]),
        }
        for row in rows
    }


def one_step(reader: Reader, run: JsonObject, stream_id: str, order: int, part: int) -> JsonObject | None:
    """Everything about one step; its result, if it is a call."""
    rows = reader.query(
        "SELECT * EXCEPT is_deleted FROM steps FINAL"
        f" WHERE {_OF_RUN} AND stream_id = {{stream:String}} AND `order` = {{order:Int32}} AND part = {{part:UInt16}}",
        {**_bounds(run), "stream": stream_id, "order": order, "part": part},
    ).records()
    if not rows:
        return None
    step = rows[0]
    return step | texts_of(reader, run, [step]).get((stream_id, order, part), {"text": step["preview"], "detail": {}})


def output_of(reader: Reader, tenant: str, output_hash: str) -> JsonObject:
    """A stream's whole output; empty while it is open, or when its text is past its time."""
    return json_of(blobs_of(reader, tenant, [output_hash]).get(output_hash, "")) if output_hash else {}


def blobs_of(reader: Reader, tenant: str, keys: list[str]) -> dict[str, str]:
    """Texts by their hash."""
    wanted = sorted({key for key in keys if key})
    if not wanted:
        return {}
    found = reader.query(
        "SELECT content_hash, content FROM blobs"
        " WHERE tenant = {tenant:String} AND content_hash IN {keys:Array(String)}",
        {"tenant": tenant, "keys": wanted},
    )
    return {row[0]: row[1] for row in found.rows}


def json_of(text: str) -> JsonObject:
    """A stored JSON object; {} for anything else."""
    try:
        value: Json = orjson.loads(text) if text else {}
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


_OF_RUN = (
    "tenant = {tenant:String} AND run_id = {run:String} AND started_at >= {first:DateTime64(3, 'UTC')}"
    " AND started_at <= {last:DateTime64(3, 'UTC')}"
)


def _bounds(run: JsonObject) -> JsonObject:
    """A run's key; its steps start at or after its first stream, and not after its last token."""
    slack = timedelta(hours=1)
    first, last = run["first_at"] - slack, max(run["last_at"], run["latest"]) + slack
    return {"tenant": run["tenant"], "run": run["run_id"], "first": _text(first), "last": _text(last)}


def _newest(
    reader: Reader, chosen: Filter, times: tuple[datetime, datetime], written_after: datetime | None = None
) -> list[JsonObject]:
    having, given = _conditions(chosen)
    given |= {"since": _text(times[0]), "until": _text(times[1]), "tenant": chosen.tenant}
    if cursor := chosen.cursor():
        having.append("(ms, run_id) < ({cursor_ms:Int64}, {cursor_run:String})")
        given |= {"cursor_ms": cursor[0], "cursor_run": cursor[1]}
    if written_after:
        having.append("max(ingested_at) > {mark:DateTime64(3, 'UTC')}")
        given |= {"mark": _text(written_after)}
    return reader.query(
        f"SELECT tenant, run_id, toUnixTimestamp64Milli(max(started_at)) AS ms, {_OUTCOME} AS run_outcome"
        " FROM streams FINAL WHERE (tenant = {tenant:String} OR {tenant:String} = '')"
        " AND hour >= toStartOfHour({since:DateTime64(3, 'UTC')}) AND hour < {until:DateTime64(3, 'UTC')}"
        f" GROUP BY tenant, run_id HAVING {' AND '.join(having) or '1'}"
        f" ORDER BY ms DESC, run_id DESC LIMIT {RUNS_PAGE + 1}",
        given,
    ).records()


def _conditions(chosen: Filter) -> tuple[list[str], JsonObject]:
    tests = {
        "outcome": "run_outcome = {outcome:String}",
        "agent": "countIf(agent = {agent:String}) > 0",
        "model": "countIf(model = {model:String}) > 0",
        "tool": "countIf(has(tools, {tool:String})) > 0",
        "session": "countIf(session_id = {session:String}) > 0",
        "error": "run_id IN (SELECT run_id FROM steps WHERE error_class = {error:String}"
        " AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')})",
        "text": "(run_id = {text:String} OR countIf(stream_id = {text:String}) > 0"
        " OR run_id IN (SELECT run_id FROM steps WHERE positionCaseInsensitiveUTF8(preview, {text:String}) > 0"
        " AND started_at >= {since:DateTime64(3, 'UTC')} AND started_at < {until:DateTime64(3, 'UTC')}))",
    }
    used = {name: getattr(chosen, name) for name in tests if getattr(chosen, name)}
    return [tests[name] for name in used], dict(used)


def _rolled_up(reader: Reader, found: list[JsonObject]) -> list[JsonObject]:
    if not found:
        return []
    rows = reader.query(
        f"SELECT {_ROLLUP} FROM streams FINAL WHERE hour >= {{oldest:DateTime}} AND run_id IN {{runs:Array(String)}}"
        " AND tenant IN {tenants:Array(String)} GROUP BY tenant, run_id",
        {
            "oldest": found[-1]["ms"] // 1000 - RUN_DAYS_MAX * 86_400,
            "runs": [row["run_id"] for row in found],
            "tenants": sorted({row["tenant"] for row in found}),
        },
    ).records()
    by_key = {(row["tenant"], row["run_id"]): row for row in rows}
    keys = [(row["tenant"], row["run_id"]) for row in found]
    return [by_key[key] for key in keys if key in by_key]


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
