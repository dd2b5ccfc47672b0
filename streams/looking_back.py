"""A stream or run in the tables → what came of looking back at one of its calls, for whoever asks by page or command.

The chain and the cases are read from steps and results as the sink wrote them; when a call ended is when its result
was written. Calls of other runs are read within bounds of time and number, whatever the store's size.
"""

from dataclasses import dataclass

import orjson

from processors.attribution.seen import FAILED
from processors.learning.lifecycle import Approval
from processors.retrospect import Found, Memory, Question, retrospect
from processors.retrospection.cases import CaseBook
from processors.retrospection.contract import lookups
from processors.retrospection.watch import Surveyed
from processors.strategies.prove import Case
from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import ToolResult
from schemas.trajectory import Step
from streams.store import Reader

DAYS = 7
"""How far back calls of other runs are read."""
CASES_MAX = 6_000

# What is compared with must be the newest version of each row; a text beyond the preview is in blobs.
_CASES = """SELECT c.stream_id AS stream_id, c.run_id AS run_id, c.call_id AS call_id, c.name AS tool,
  r.status AS status,
  if(c.detail != '', c.detail, cb.content) AS call, if(r.content_hash = '', r.preview, rb.content) AS content,
  if(r.detail != '', r.detail, '{}') AS told, r.duration_ms AS duration_ms,
  toUnixTimestamp64Milli(r.ingested_at) AS at_ms
FROM (SELECT * FROM steps FINAL WHERE kind = 'tool_call' AND {which}) AS c
INNER JOIN (SELECT * FROM steps FINAL WHERE kind = 'tool_result' AND {which}) AS r
  ON r.tenant = c.tenant AND r.stream_id = c.stream_id AND r.call_id = c.call_id
LEFT JOIN blobs AS cb ON cb.tenant = c.tenant AND cb.content_hash = c.detail_hash AND c.detail_hash != ''
LEFT JOIN blobs AS rb ON rb.tenant = r.tenant AND rb.content_hash = r.content_hash AND r.content_hash != ''
ORDER BY at_ms DESC LIMIT {most:UInt32}"""
_OF_RUN = "tenant = {tenant:String} AND run_id = {run:String}"
_NEAR = """tenant = {tenant:String} AND started_at >= toDateTime64({until:Float64} - {days:UInt32} * 86400, 3, 'UTC')
  AND started_at <= toDateTime64({until:Float64} + 600, 3, 'UTC')"""
_WHERE_IS = """SELECT tenant, run_id, toUnixTimestamp64Milli(max(started_at)) / 1000 AS until FROM steps
WHERE run_id = {id:String} OR stream_id = {id:String} GROUP BY tenant, run_id ORDER BY until DESC LIMIT 1"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person wants to know."""

    id: str
    """Of a stream or a run."""
    call: str = ""
    """Id of a call; empty: the last one that failed."""
    why: str = ""


def looked_back(reader: Reader, asked: Asked, surveyed: Surveyed, approval: Approval) -> Found | None:
    """Look back at a call; None if there is no such call, or nothing about it is out of order. Raises QueryError."""
    places = reader.query(_WHERE_IS, {"id": asked.id}).records()
    if not places:
        return None
    place: JsonObject = {**places[0], "run": places[0]["run_id"], "days": DAYS, "most": CASES_MAX}
    kept = CaseBook(lookups(surveyed.contracts))
    every = {one.id: one for one in _cases(reader, _NEAR, place, kept)}
    chain = _cases(reader, _OF_RUN, place, CaseBook())
    case = _meant(chain, asked)
    if case is None:
        return None
    chain = [every.get(one.id, one) for one in chain]
    every |= {one.id: one for one in chain}
    memory = Memory(
        chain=chain, cases=sorted(every.values(), key=lambda one: one.at_ms), contracts=surveyed.contracts,
        rules=surveyed.rules, terms=surveyed.terms,
    )  # fmt: skip
    return retrospect(Question(case_id=case.id, trigger="explicit", why=asked.why), memory, approval)


def _meant(chain: list[Case], asked: Asked) -> Case | None:
    own = [one for one in chain if asked.id in {one.run_id, one.id.rpartition("/")[0]}]
    if asked.call:
        return next((one for one in own if one.id.rpartition("/")[2] == asked.call), None)
    return next((one for one in reversed(own) if one.status in FAILED), own[-1] if own else None)


def _cases(reader: Reader, which: str, place: JsonObject, book: CaseBook) -> list[Case]:
    rows = reader.query(_CASES.replace("{which}", which), place).records()
    found: list[Case] = []
    for row in reversed(rows):
        detail = _json(row["call"]) | {"id": row["call_id"], "name": row["tool"]}
        step = Step(stream_id=row["stream_id"], order=0, kind="tool_call", run_id=row["run_id"], detail=detail)
        error = _json(row["told"]).get("error")
        result = ToolResult(
            stream_id=row["stream_id"], call_id=row["call_id"], status=row["status"], content=_value(row["content"]),
            duration_ms=row["duration_ms"] or None, error=error if isinstance(error, str) else None,
        )  # fmt: skip
        found += [*book.call(step), *book.result(result, float(row["at_ms"]))]
    return found


def _json(text: str) -> JsonObject:
    value = _value(text)
    return value if isinstance(value, dict) else {}


def _value(text: str) -> Json:
    """JSON as it was stored; a text that is none, such as a tool's plain answer, is itself."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
