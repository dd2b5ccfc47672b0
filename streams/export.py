"""Stored trajectories → JSON lines, Parquet or training data, in bounded memory.

Runs are taken day by day and in batches; for each batch the store gives the steps with their whole texts. So memory
depends on the batch, not on how much there is. Everything in the store is clean, so everything exported is.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import BytesIO

import orjson

from schemas.jsonvalue import JsonObject
from streams.store import Reader
from streams.training import FORMS, Run, Turn, unfit

BATCH_STEPS = 20_000
"""Steps of one batch of runs: about 12 MB as JSON."""
BATCH_RUNS = 2_000
RUN_DAYS_MAX = 7
"""A run's later streams are found when they start at most this long after its first."""
TOOLS_MAX = 10_000
NO_DETAIL = b'"detail":""}\n'
"""How a line ends whose step has no detail: it is the last column."""
FORMATS = ("jsonl", "parquet", *FORMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which runs are exported."""

    since: datetime
    until: datetime
    tenant: str = ""
    outcome: str = ""
    agent: str = ""
    model: str = ""
    tool: str = ""


@dataclass(slots=True)
class Tally:
    """What was exported, and what was not, by reason."""

    runs: int = 0
    steps: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Batch:
    tenant: str
    runs: list[JsonObject]

    @property
    def parameters(self) -> JsonObject:
        slack = timedelta(hours=1)
        first = min(run["first_at"] for run in self.runs) - slack
        last = max(run["latest"] for run in self.runs) + slack
        runs = [run["run_id"] for run in self.runs]
        return {"tenant": self.tenant, "runs": runs, "first": _text(first), "last": _text(last)}


def jsonl(reader: Reader, choice: Choice, tally: Tally) -> Iterator[bytes]:
    """One line for each step."""
    for batch in _batches(reader, choice):
        tally.runs += len(batch.runs)
        for line in BytesIO(reader.raw(_STEPS, batch.parameters)):
            tally.steps += 1
            yield _with_detail(line)


def training(reader: Reader, choice: Choice, form: str, tally: Tally) -> Iterator[tuple[bytes, bool]]:
    """One line for each run, and whether it is fit; an unfit one says why in `left_out`."""
    tools = _tools(reader, choice)
    for batch in _batches(reader, choice):
        for run in _runs(reader, batch):
            reason = unfit(run)
            value = FORMS[form](run, tools) if run.turns else {"id": run.run_id}
            tally.runs += not reason
            tally.steps += sum(len(turn.output.get("tool_calls", ())) + 1 for turn in run.turns) if not reason else 0
            if reason:
                tally.left_out[reason] += 1
                value["left_out"] = reason
            yield orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE), not reason


def parquet(reader: Reader, choice: Choice, tally: Tally) -> Iterator[tuple[str, bytes]]:
    """Files `steps/part-….parquet` and `runs/part-….parquet`: a data set in parts, columns named as in the tables."""
    for number, batch in enumerate(_batches(reader, choice), start=1):
        tally.runs += len(batch.runs)
        tally.steps += sum(run["n_steps"] for run in batch.runs)
        for name, sql in (("steps", _STEPS), ("runs", _RUN_ROWS)):
            yield f"{name}/part-{number:05}.parquet", reader.raw(sql, batch.parameters, "Parquet")


def _batches(reader: Reader, choice: Choice) -> Iterator[_Batch]:
    day = choice.since
    while day < choice.until:
        following = min(day + timedelta(days=1), choice.until)
        held: list[JsonObject] = []
        steps = 0
        for run in _runs_of_day(reader, choice, day, following):
            is_full = steps + run["n_steps"] > BATCH_STEPS or len(held) >= BATCH_RUNS
            if held and (is_full or run["tenant"] != held[0]["tenant"]):
                yield _Batch(held[0]["tenant"], held)
                held, steps = [], 0
            held.append(run)
            steps += run["n_steps"]
        if held:
            yield _Batch(held[0]["tenant"], held)
        day = following


def _runs_of_day(reader: Reader, choice: Choice, start: datetime, end: datetime) -> list[JsonObject]:
    """Runs whose first stream started in this time."""
    tests = {
        "outcome": "run_outcome = {outcome:String}",
        "agent": "countIf(agent = {agent:String}) > 0",
        "model": "countIf(model = {model:String}) > 0",
        "tool": "countIf(has(tools, {tool:String})) > 0",
    }
    used = {name: getattr(choice, name) for name in tests if getattr(choice, name)}
    slack = timedelta(days=RUN_DAYS_MAX)
    given = {"from": _text(start - slack), "to": _text(end + slack), "start": _text(start), "end": _text(end)}
    return reader.query(
        "SELECT tenant, run_id, min(started_at) AS first_at, max(started_at) AS latest,"
        f" sum(steps) + count() AS n_steps, {_OUTCOME} AS run_outcome"
        " FROM streams FINAL WHERE hour >= {from:DateTime64(3, 'UTC')}"
        " AND hour < {to:DateTime64(3, 'UTC')} AND (tenant = {tenant:String} OR {tenant:String} = '')"
        " GROUP BY tenant, run_id HAVING first_at >= {start:DateTime64(3, 'UTC')}"
        " AND first_at < {end:DateTime64(3, 'UTC')}"
        + "".join(f" AND {tests[name]}" for name in used)
        + " ORDER BY tenant, first_at, run_id",
        {**given, **used, "tenant": choice.tenant},
    ).records()


def _runs(reader: Reader, batch: _Batch) -> Iterator[Run]:
    """A batch's runs with their outputs and tool results."""
    turns: dict[str, list[Turn]] = {}
    results = _results(reader, batch)
    for row in reader.query(_OUTPUTS, batch.parameters).records():
        if row["content"]:
            turn = Turn(output=orjson.loads(row["content"]), results=results.get(row["stream_id"], {}))
            turns.setdefault(row["run_id"], []).append(turn)
    for run in batch.runs:
        started = run["first_at"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found = turns.get(run["run_id"], [])
        yield Run(run_id=run["run_id"], started_at=started, outcome=run["run_outcome"], turns=found)


def _results(reader: Reader, batch: _Batch) -> dict[str, dict[str, JsonObject]]:
    found: dict[str, dict[str, JsonObject]] = {}
    for row in reader.query(_RESULTS, batch.parameters).records():
        found.setdefault(row["stream_id"], {})[row["call_id"]] = row
    return found


def _tools(reader: Reader, choice: Choice) -> list[str]:
    """Names of all tools of the export, so that each line has figures for the same ones."""
    table = reader.query(
        f"SELECT DISTINCT arrayJoin(tools) AS tool FROM streams WHERE hour >= {{since:DateTime64(3, 'UTC')}} - 3600"
        " AND hour < {until:DateTime64(3, 'UTC')} AND (tenant = {tenant:String} OR {tenant:String} = '')"
        f" AND tool != '' ORDER BY tool LIMIT {TOOLS_MAX}",
        {"since": _text(choice.since), "until": _text(choice.until), "tenant": choice.tenant},
    )
    return [row[0] for row in table.rows]


def _with_detail(line: bytes) -> bytes:
    """The stored detail is JSON text; in the export it is an object, or null."""
    if line.endswith(NO_DETAIL):
        return line[: -len(NO_DETAIL)] + b'"detail":null}\n'
    record = orjson.loads(line)
    record["detail"] = orjson.loads(record["detail"])
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


_OUTCOME = """multiIf(countIf(state = 'open') > 0, 'open', countIf(outcome = 'failed') > 0, 'failed',
  countIf(outcome = 'partial') > 0, 'partial', countIf(outcome = 'repaired') > 0, 'repaired', 'clean')"""
_BOUNDS = """tenant = {tenant:String} AND started_at >= {first:DateTime64(3, 'UTC')}
  AND started_at <= {last:DateTime64(3, 'UTC')} AND run_id IN {runs:Array(String)}"""
_BLOBS = """SELECT content_hash AS key, any(content) AS content FROM blobs WHERE tenant = {tenant:String}
  AND content_hash IN"""
_STEPS = f"""SELECT tenant, run_id, stream_id, `order`, part, kind, name, status, error_class, model, format, strategy,
  call_id, repairs, pattern_id, pii, started_at, duration_ms, cost_usd, confidence, span_start, span_end,
  session_id, goal_id,
  if(content_hash = '', preview, texts.content) AS text, if(detail_hash = '', detail, details.content) AS detail
FROM (SELECT * FROM steps FINAL WHERE {_BOUNDS}) AS s
LEFT JOIN ({_BLOBS} (SELECT content_hash FROM steps WHERE {_BOUNDS} AND content_hash != '') GROUP BY key) AS texts
  ON s.content_hash = texts.key
LEFT JOIN ({_BLOBS} (SELECT detail_hash FROM steps WHERE {_BOUNDS} AND detail_hash != '') GROUP BY key) AS details
  ON s.detail_hash = details.key
ORDER BY run_id, started_at, stream_id, if(`order` < 0, 2147483647, `order`), part"""
_RUN_ROWS = f"SELECT * FROM runs WHERE {_BOUNDS}"
_OUTPUTS = f"""SELECT run_id, stream_id, blob.content AS content
FROM (SELECT run_id, stream_id, output_hash, started_at FROM streams FINAL WHERE {_BOUNDS} AND output_hash != '') AS s
LEFT JOIN ({_BLOBS} (SELECT output_hash FROM streams WHERE {_BOUNDS}) GROUP BY key) AS blob ON s.output_hash = blob.key
ORDER BY run_id, started_at, stream_id"""
_RESULTS = f"""SELECT stream_id, call_id, status, if(content_hash = '', preview, texts.content) AS text
FROM (SELECT * FROM steps FINAL WHERE {_BOUNDS} AND kind = 'tool_result') AS s
LEFT JOIN ({_BLOBS} (SELECT content_hash FROM steps WHERE {_BOUNDS} AND kind = 'tool_result') GROUP BY key) AS texts
  ON s.content_hash = texts.key"""
