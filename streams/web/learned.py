"""Failures by signature and the registry's patterns → their pages, and the decisions that a person may take."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import orjson
from aiohttp import web

from processors.snapshot import Snapshot, key_of
from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from streams.panel import parameters
from streams.redis_client import AWAY
from streams.registry_changes import StaleChangeError, decided, edit
from streams.settings import ConfigError
from streams.store import QueryError, Reader
from streams.web.filters import Filter, filter_of
from streams.web.state import REGISTRY, ask, render
from streams.web.trial import Rehearsed, Trial, rehearsals, tried

SAMPLES_MAX = 30
SIGNATURES_MAX = 100
DECISIONS = {"approve": PatternState.ACTIVE, "reject": PatternState.REJECTED, "retire": PatternState.RETIRED}
_WHERE = (
    "(tenant = {tenant:String} OR {tenant:String} = '') AND failed_at >= {since:DateTime64(3, 'UTC')}"
    " AND failed_at < {until:DateTime64(3, 'UTC')}"
)


async def failure_list(request: web.Request) -> web.Response:
    """Signatures, most frequent first."""
    given = _given(filter_of(request.query))
    only = " AND pattern_id = ''" if request.query.get("only") == "unlearned" else ""
    rows = await _records(
        request,
        "SELECT signature, any(stage) AS stage, any(code) AS code, count() AS failures,"
        " uniqExact(stream_id) AS streams, min(failed_at) AS first_seen, max(failed_at) AS last_seen,"
        " any(found) AS sample, anyIf(pattern_id, pattern_id != '') AS pattern"
        f" FROM failures FINAL WHERE {_WHERE}{only} GROUP BY signature ORDER BY failures DESC"
        f" LIMIT {SIGNATURES_MAX}",
        given,
    )
    aside = await _records(
        request, "SELECT reason, count() AS events, max(seen_at) AS last_seen FROM quarantine FINAL GROUP BY reason", {}
    )
    return await render(request, "failures.html", rows=rows, aside=aside, only=request.query.get("only", ""))


async def signature_page(request: web.Request) -> web.Response:
    """One signature: when, where, samples, and patterns that came of it."""
    signature = request.query.get("signature", "")
    given = _given(filter_of(request.query)) | {"signature": signature}
    where = f"FROM failures FINAL WHERE {_WHERE} AND signature = {{signature:String}}"
    samples = await _records(request, f"SELECT * {where} ORDER BY failed_at DESC LIMIT {SAMPLES_MAX}", given)
    days = await _records(
        request, f"SELECT toDate(failed_at) AS day, count() AS failures {where} GROUP BY day ORDER BY day", given
    )
    used = [row["pattern_id"] for row in samples if row["pattern_id"]]
    patterns = await _records(
        request,
        f"{_LATEST} HAVING position(evidence_text, {{signature:String}}) > 0 OR id IN {{used:Array(String)}}"
        " ORDER BY changed DESC LIMIT 50",
        {"signature": signature, "used": used},
    )
    for sample in samples:
        sample["context"] = _json(sample["context"])
    return await render(request, "signature.html", signature=signature, samples=samples, days=days, patterns=patterns)


async def pattern_list(request: web.Request) -> web.Response:
    """Each entry's newest state, those that wait for a decision first."""
    order = "ORDER BY state IN ('candidate', 'shadow', 'canary') DESC, changed DESC LIMIT 500"
    rows = await _records(request, f"{_LATEST} {order}", {})
    return await render(request, "patterns.html", patterns=rows)


async def pattern_page(request: web.Request) -> web.Response:
    """One entry: definition, evidence, samples, its life, and what it does."""
    name = request.match_info["pattern"]
    history = await _records(
        request,
        "SELECT * FROM patterns FINAL WHERE pattern_id = {id:String}"
        " ORDER BY registry_version DESC, version DESC LIMIT 200",
        {"id": name},
    )
    if not history:
        raise web.HTTPNotFound(reason="There is no such pattern.")
    for row in history:
        row["definition"], row["evidence"] = _json(row["definition"]), _json(row["evidence"])
    effect = await _records(
        request,
        "SELECT toDate(started_at) AS day, count() AS hits, countIf(error_class = '') AS good FROM steps FINAL"
        " WHERE pattern_id = {id:String} AND started_at >= {since:DateTime64(3, 'UTC')}"
        " AND started_at < {until:DateTime64(3, 'UTC')} GROUP BY day ORDER BY day",
        _given(filter_of(request.query)) | {"id": name},
    )
    return await render(
        request, "pattern.html", pattern=history[0], history=history, effect=effect, decisions=DECISIONS
    )


async def dry_run(request: web.Request) -> web.Response:
    """What an entry would make of its samples; nothing is changed."""
    name = request.match_info["pattern"]
    try:
        snapshot = await request.app[REGISTRY].snapshot() if REGISTRY in request.app else Snapshot()
    except AWAY:
        raise QueryError("The registry does not answer.") from None
    entry = next((entry for entry in snapshot.entries.values() if entry.id == name), None)
    if entry is None:
        rows = await _records(request, f"SELECT * FROM ({_NEWEST}) WHERE pattern_id = {{id:String}}", {"id": name})
        if not rows:
            raise web.HTTPNotFound(reason="There is no such pattern.")
        entry = _pattern(rows[0])
    is_strategy = entry.kind is PatternKind.STRATEGY
    trials: Sequence[Trial | Rehearsed]
    try:
        trials = rehearsals(entry) if is_strategy else await asyncio.to_thread(tried, entry, snapshot)
    except ValueError as error:  # a definition that the catalogue refuses can't be tried
        raise QueryError(f"The definition is refused: {str(error)[:500]}") from None
    template = "_strategy_trial.html" if is_strategy else "_trial.html"
    return await render(request, template, trials=trials, good=sum(trial.is_as_wanted for trial in trials))


async def decide(request: web.Request) -> web.Response:
    """Approve, reject or retire an entry: one change of the registry, with who and when as evidence."""
    name, decision = request.match_info["pattern"], request.match_info["decision"]
    if decision not in DECISIONS or REGISTRY not in request.app:
        raise web.HTTPNotFound(reason="This page can't change the registry.")

    def wish(snapshot: Snapshot) -> list[Pattern]:
        return [
            change
            for entry in snapshot.entries.values()
            if entry.id == name
            for change in decided(snapshot, entry, DECISIONS[decision], _step(entry, decision))
        ]

    try:
        changed = await edit(request.app[REGISTRY], wish)
    except ConfigError as error:
        raise QueryError(str(error)) from None
    except StaleChangeError:
        raise QueryError("Somebody else is changing this entry; look at it again.") from None
    except AWAY:
        raise QueryError("The registry does not answer; nothing was changed.") from None
    if not changed:
        raise web.HTTPNotFound(reason="The registry has no such entry, or it is in this state already.")
    keys = ", ".join(sorted(key_of(entry) for entry in changed))
    return await render(request, "decided.html", decision=decision, keys=keys, version=changed[0].registry_version)


def _pattern(row: JsonObject) -> Pattern:
    return Pattern(
        id=row["pattern_id"],
        version=row["version"],
        kind=PatternKind(row["kind"]),
        definition=_json(row["definition"]),
        state=PatternState(row["state"]),
        positives=tuple(row["positives"]),
        negatives=tuple(row["negatives"]),
    )


def _step(entry: Pattern, decision: str) -> Evidence:
    data: JsonObject = {"on": "page", "was": str(entry.state)}
    return Evidence(step=f"{decision} by a person", data=data, ts=time.time() * 1000)


_LATEST = """SELECT pattern_id AS id, argMax(state, (registry_version, version)) AS state, any(kind) AS kind,
  max(version) AS newest, argMax(priority, registry_version) AS priority, max(changed_at) AS changed,
  min(changed_at) AS first_seen, argMax(evidence, registry_version) AS evidence_text,
  argMax(counters, registry_version) AS counters FROM patterns FINAL GROUP BY pattern_id"""


_NEWEST = "SELECT * FROM patterns FINAL ORDER BY registry_version DESC, version DESC LIMIT 1 BY pattern_id"


def _given(chosen: Filter) -> JsonObject:
    return parameters(chosen.tenant, *chosen.times(datetime.now(UTC)))


async def _records(request: web.Request, sql: str, given: JsonObject) -> list[JsonObject]:
    table = await ask(request, Reader.query, sql, given)
    return table.records()


def _json(text: str) -> Json:
    return orjson.loads(text) if text else {}


ROUTES = (
    web.get("/failures", failure_list),
    web.get("/failures/signature", signature_page),
    web.get("/patterns", pattern_list),
    web.get("/patterns/{pattern:[^/]+}", pattern_page),
    web.get("/patterns/{pattern:[^/]+}/trial", dry_run),
    web.post("/patterns/{pattern:[^/]+}/{decision:[^/]+}", decide),
)
