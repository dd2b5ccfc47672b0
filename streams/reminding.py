"""A goal, and the run that works for it → what the next prompt should be reminded of. `remind(...)` is the Python call.

Similar reasoning and the run's steps come from the store, by way of the page where its process holds the embedded one;
strategies from the registry. A registry that is away takes the strategies with it and nothing else.
"""

import asyncio
from contextlib import closing
from dataclasses import dataclass, replace

from processors.reasoning.reminder import TOKENS_DEFAULT, Done, Remembered, Reminder, Similar, reminder
from processors.snapshot import Snapshot
from processors.strategies.strategy import strategy_of
from processors.strategies.words import in_words
from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import PatternKind, PatternState
from streams.pattern_registry import snapshot_at
from streams.recall import Recall
from streams.rows import DEFAULT_TENANT
from streams.running_page import from_owner, store_dsn
from streams.settings import ServerAwayError, Settings
from streams.store import Reader

SIMILAR_MAX = 5
STEPS_MAX = 500
"""Newest calls and results of a run that are read."""
STRATEGIES_MAX = 50
_NOT_DONE = frozenset({"superseded", "duplicate"})

_ORIGINAL = """SELECT goal FROM reasoning_records FINAL
WHERE tenant = {tenant:String} AND run_id = {run:String} ORDER BY created_at, record LIMIT 1"""
_STEPS = """SELECT kind, name, status, stream_id, call_id, preview,
  substringUTF8(JSONExtractRaw(detail, 'arguments'), 1, 200)
FROM steps FINAL
WHERE tenant = {tenant:String} AND run_id = {run:String} AND kind IN ('tool_call', 'tool_result')
ORDER BY started_at DESC, stream_id DESC, `order` DESC, part DESC LIMIT {most:UInt32}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a prompt is built for."""

    goal: str
    run: str = ""
    """The run that works for it: its first goal and its calls are read from the store."""
    done: tuple[str, ...] = ()
    """Steps that the store does not know of, in words; they come after those of the run."""
    tools: tuple[str, ...] = ()
    """Tools that the prompt offers: their strategies are said."""
    tenant: str = DEFAULT_TENANT
    similar_max: int = SIMILAR_MAX


def remind(settings: Settings, wanted: Wanted, tokens_max: int = TOKENS_DEFAULT) -> tuple[Reminder, str]:
    """The text for the next prompt, and why strategies are missing in it; empty: they are not. Raises ServerAwayError.

    Not for use in an event loop: it waits for the store and the registry.
    """
    answer = from_owner(settings, "/api/remember", asked_of(wanted))
    remembered = remembered_of(answer) if answer else _from_store(store_dsn(settings), wanted)
    try:
        snapshot, missing = asyncio.run(snapshot_at(settings.redis_url, settings.topic_prefix)), ""
    except ServerAwayError as error:
        snapshot, missing = Snapshot(), str(error)
    remembered = with_strategies(remembered, wanted, snapshot)
    return reminder(remembered, tokens_max), missing


def remember(reader: Reader, wanted: Wanted) -> Remembered:
    """What a store knows of a goal and a run."""
    original, done = _of_run(reader, wanted) if wanted.run else ("", [])
    goal = original or wanted.goal
    found = Recall(reader).find(goal, n=wanted.similar_max, tenant=wanted.tenant)
    similar = [
        Similar(goal=one.goal, score=one.score, tools=one.tools, thoughts=str(one.record.get("clean_view") or ""))
        for one in found
    ]
    return Remembered(
        goal=goal, now=wanted.goal, done=[*done, *(Done(what=what) for what in wanted.done)], similar=similar
    )


def with_strategies(remembered: Remembered, wanted: Wanted, snapshot: Snapshot) -> Remembered:
    """The same with the active strategies of the tools that are offered, were used, or are named in the goal."""
    used = {step.what.split(" ", maxsplit=1)[0] for step in remembered.done}
    tools = {*wanted.tools, *used, *(tool for one in remembered.similar for tool in one.tools)}
    entries = snapshot.of(PatternKind.STRATEGY, PatternState.ACTIVE)
    known = [(entry.priority, strategy) for entry in entries if (strategy := strategy_of(entry)) is not None]
    chosen = [one for one in known if one[1].trigger.tool in tools or one[1].trigger.tool in wanted.goal]
    chosen.sort(key=lambda one: (one[1].trigger.tool not in wanted.tools, -one[0], one[1].id))
    return replace(remembered, strategies=tuple(in_words(strategy) for _, strategy in chosen[:STRATEGIES_MAX]))


def asked_of(wanted: Wanted) -> JsonObject:
    """The body of the question to a page."""
    return {
        "goal": wanted.goal, "run": wanted.run, "done": list(wanted.done), "tenant": wanted.tenant,
        "similar_max": wanted.similar_max,
    }  # fmt: skip


def remembered_of(answer: JsonObject) -> Remembered:
    """A page's answer."""
    return Remembered(
        goal=answer["goal"],
        now=answer["now"],
        done=[Done(**one) for one in answer["done"]],
        similar=[Similar(**{**one, "tools": tuple(one["tools"])}) for one in answer["similar"]],
    )


def _from_store(dsn: str, wanted: Wanted) -> Remembered:
    with closing(Reader(dsn)) as reader:
        return remember(reader, wanted)


def _of_run(reader: Reader, wanted: Wanted) -> tuple[str, list[Done]]:
    given: dict[str, Json] = {"tenant": wanted.tenant, "run": wanted.run, "most": STEPS_MAX}
    goals = reader.query(_ORIGINAL, given).rows
    rows = reader.query(_STEPS, given).rows
    results = {(row[3], row[4]): row for row in rows if row[0] == "tool_result"}
    done = []
    for kind, name, status, stream_id, call_id, _, arguments in reversed(rows):
        if kind != "tool_call" or status in _NOT_DONE:
            continue
        result = results.get((stream_id, call_id))
        came = result[2] if result else "no result yet"
        note = result[5][:120] if result and came == "ok" else ""
        done.append(Done(what=f"{name} {arguments}".strip(), status=came, note=note))
    return (str(goals[0][0]) if goals else "", done)
