"""Steps and results of tool calls → cases: each call, what came of it, what stood before it, what was known then.

Of a trajectory only calls are taken; reasoning and text say what the model thought, not what happened. Steps and
results may come in any order and more than once; what waits for its other half is bounded.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from processors.attribution.seen import Seen
from processors.dispatching.errors import Fault
from processors.strategies.prove import Case
from schemas.jsonvalue import Json
from schemas.toolcall import ToolResult
from schemas.trajectory import Step

WAITING_MAX = 50_000
"""Calls and results that wait for each other."""
RUNS_MAX = 5_000
"""Runs whose calls are remembered."""
CALLS_OF_RUN_MAX = 50
CONTENT_KEYS_MAX, VALUE_CHARS_MAX = 20, 500
ARGUMENTS_DEPTH_MAX, ARGUMENTS_KEYS_MAX = 4, 40
"""Deeper than that, and beyond so many keys and characters, a call is kept without its arguments' rest."""
DONE_MAX = 100_000
"""Results remembered, so that one that is published again is no second case."""

Key = tuple[str, str]
K = TypeVar("K")
V = TypeVar("V")


class CaseBook:
    """Joins calls and results of all streams."""

    def __init__(self, lookups: Collection[str] = ()) -> None:
        """lookups: tools whose latest answer each later case keeps, because a check would have got it."""
        self._lookups = lookups
        self._calls: OrderedDict[Key, Step] = OrderedDict()
        self._results: OrderedDict[Key, tuple[ToolResult, float]] = OrderedDict()
        self._done: OrderedDict[Key, None] = OrderedDict()
        self._runs: OrderedDict[str, list[Case]] = OrderedDict()
        self._looked: dict[str, Json] = {}
        """Replaced when an answer is another, so that cases share it."""

    def call(self, step: Step) -> Iterator[Case]:
        """Take a step; one that is no tool call says nothing here."""
        key = (step.stream_id, str(step.detail.get("id")))
        if step.kind != "tool_call" or key in self._done:
            return
        _keep(self._calls, key, step, WAITING_MAX)
        yield from self._joined(key)

    def result(self, result: ToolResult, at_ms: float) -> Iterator[Case]:
        """Take a result, with the time at which it was told."""
        key = (result.stream_id, result.call_id)
        if key not in self._done:
            _keep(self._results, key, (result, at_ms), WAITING_MAX)
            yield from self._joined(key)

    def chain(self, run_id: str) -> tuple[Case, ...]:
        """The calls of a run so far, in order of their ends."""
        return tuple(self._runs.get(run_id, ()))

    def _joined(self, key: Key) -> Iterator[Case]:
        if key not in self._calls or key not in self._results:
            return
        step, (result, at_ms) = self._calls.pop(key), self._results.pop(key)
        _keep(self._done, key, None, DONE_MAX)
        run_id = step.run_id or step.stream_id
        earlier = self._runs.get(run_id, [])
        case = case_of(step, result, at_ms)
        case = replace(
            case,
            before=tuple(dict.fromkeys(one.tool for one in earlier if one.is_good)),
            looked=self._looked,
        )
        if case.is_good and case.tool in self._lookups and self._looked.get(case.tool) != case.content:
            self._looked = {**self._looked, case.tool: case.content}
        _keep(self._runs, run_id, [*earlier[-CALLS_OF_RUN_MAX:], case], RUNS_MAX)
        yield case


def case_of(step: Step, result: ToolResult, at_ms: float) -> Case:
    """One call and its result as a case."""
    arguments = step.detail.get("arguments")
    return Case(
        id=f"{step.stream_id}/{result.call_id}",
        run_id=step.run_id or step.stream_id,
        tool=str(step.detail.get("name") or ""),
        arguments=_slim(arguments) if isinstance(arguments, dict) else {},
        status=result.status,
        at_ms=at_ms,
        content=_bounded(result.content),
        error=result.error or "",
        duration_ms=result.duration_ms,
        strategies=result.strategies,
    )


def seen_of(case: Case) -> Seen:
    """A case as attribution looks at it."""
    said = case.content if isinstance(case.content, dict) else {}
    kind, code = said.get("kind"), said.get("code")
    fault = Fault(
        kind=kind if isinstance(kind, str) else "",
        code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        text=case.error,
    )
    stream_id, _, call_id = case.id.rpartition("/")
    return Seen(
        stream_id=stream_id, call_id=call_id, tool=case.tool, status=case.status, at_ms=case.at_ms,
        arguments=case.arguments, fault=fault if case.status != "ok" else Fault(),
    )  # fmt: skip


def _bounded(content: Json) -> Json:
    """Enough of an answer for conditions: its own keys with plain values."""
    if not isinstance(content, dict):
        return content if isinstance(content, int | float | None) else None
    plain = (pair for pair in content.items() if isinstance(pair[1], int | float | None | str))
    return {key: value for key, value in islice(plain, CONTENT_KEYS_MAX) if _is_short(value)}


def _slim(value: Json, depth: int = ARGUMENTS_DEPTH_MAX) -> Json:
    """Arguments, cut to what conditions and comparisons can be about."""
    if isinstance(value, str):
        return value[:VALUE_CHARS_MAX]
    if isinstance(value, dict):
        pairs = islice(value.items(), ARGUMENTS_KEYS_MAX) if depth else ()
        return {key[:VALUE_CHARS_MAX]: _slim(one, depth - 1) for key, one in pairs}
    if isinstance(value, list | tuple):
        return [_slim(one, depth - 1) for one in islice(value, ARGUMENTS_KEYS_MAX if depth else 0)]
    return value


def _is_short(value: Json) -> bool:
    return not isinstance(value, str) or len(value) <= VALUE_CHARS_MAX


def _keep(kept: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)
