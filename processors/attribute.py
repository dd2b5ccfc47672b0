"""Calls that ended → why each failed one failed, with evidence: at once where that is enough, else seconds later.

A failure waits `settle_ms` for what its neighbours do, then it is judged by the tree of causes; what it looked like
when it came is kept as evidence. Time is that of the calls: nothing here reads a clock, and the same calls in the same
order give the same answers.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import replace

from processors.attribution.causes import Cause, CauseTree, shipped_tree
from processors.attribution.context import Alert, Surroundings, Terms, health, signs_around
from processors.attribution.seen import Seen, Window
from processors.attribution.signs import Borne, borne
from processors.pii.redact import redact, redact_json
from schemas.attribution import Attribution
from schemas.jsonvalue import Json
from schemas.pattern import Evidence

WAITING_MAX = 10_000
"""Failures that wait to be judged; beyond it the oldest is judged at once."""
ALERTS_MAX = 1_000
REMEMBERED_MAX = 100_000
"""Calls remembered, so that one that is read again counts once."""
TEXT_CHARS_MAX = 500
HISTORY_TOOLS_MAX = 1_000


class Attributor:
    """Judges the failures of all tools of one system."""

    def __init__(
        self, upstreams: Mapping[str, str] | None = None, terms: Terms | None = None, tree: CauseTree | None = None
    ) -> None:
        """upstreams: tool → what it depends on."""
        self._around = Surroundings(window=Window(), upstreams=upstreams or {}, terms=terms or Terms())
        self._tree = tree or shipped_tree()
        self._waiting: deque[Seen] = deque()
        self._alerts: deque[Alert] = deque(maxlen=ALERTS_MAX)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._history: OrderedDict[str, dict[str, int]] = OrderedDict()

    def feed(self, seen: Seen) -> Iterator[Attribution]:
        """Take one call. Calls of several partitions may come out of order, so what is due is asked for apart."""
        key = (seen.stream_id, seen.call_id)
        if key in self._known:
            return
        self._known[key] = None
        if len(self._known) > REMEMBERED_MAX:
            self._known.popitem(last=False)
        self._around.window.add(seen)
        if seen.is_failed:
            self._waiting.append(seen)
        if len(self._waiting) > WAITING_MAX:
            yield self._judged(self._waiting.popleft())

    def alert(self, alert: Alert) -> None:
        """Take a signal from outside."""
        self._alerts.append(alert)

    def due(self, now_ms: float) -> Iterator[Attribution]:
        """Failures that have waited long enough."""
        while self._waiting and self._waiting[0].at_ms + self._around.terms.settle_ms <= now_ms:
            yield self._judged(self._waiting.popleft())

    def close(self) -> Iterator[Attribution]:
        """Those that still wait."""
        while self._waiting:
            yield self._judged(self._waiting.popleft())

    def history_of(self, tool: str) -> Mapping[str, int]:
        """How often each cause was that of a defect of a tool."""
        return self._history.get(tool, {})

    def _judged(self, seen: Seen) -> Attribution:
        found = attributed(
            seen, replace(self._around, alerts=tuple(self._alerts)), self._tree, self.history_of(seen.tool)
        )
        counts = self._history.setdefault(seen.tool, {})
        counts[found.cause] = counts.get(found.cause, 0) + found.is_defect
        self._history.move_to_end(seen.tool)
        if len(self._history) > HISTORY_TOOLS_MAX:
            self._history.popitem(last=False)
        return found


def attributed(
    seen: Seen, around: Surroundings, tree: CauseTree, history: Mapping[str, int] | None = None
) -> Attribution:
    """One failure judged in its surroundings."""
    context = signs_around(seen, around)
    conditions = _conditions(context)
    is_defect = sum(conditions.values()) >= around.terms.conditions_min
    signs = [*borne(seen.fault), *context, Borne("defect" if is_defect else "no_defect", _said(conditions))]
    found = tree.infer((one.sign for one in signs), history)
    reasons = {one.sign: one.because for one in signs}
    return Attribution(
        stream_id=seen.stream_id,
        call_id=seen.call_id,
        tool=seen.tool,
        status=seen.status,
        cause=str(found.cause),
        probability=found.probabilities.get(found.cause, 0.0),
        is_defect=is_defect and found.cause is not Cause.JITTER,
        conditions=conditions,
        probabilities=found.probabilities,
        evidence=(
            Evidence(step="input", data={"arguments": _clean(seen.arguments)}),
            Evidence(step="error", data=_error(seen)),
            Evidence(step="health", data=health(seen, around)),
            Evidence(step="signs", data={one.sign: clean_text(one.because) for one in context}),
            Evidence(
                step="cause",
                data={
                    "path": list(found.path),
                    "because": {sign: clean_text(reasons[sign]) for sign in found.because},
                    "against": {sign: clean_text(reasons[sign]) for sign in found.against},
                },
            ),
        ),
        ts=seen.at_ms,
    )


def _conditions(context: list[Borne]) -> dict[str, bool]:
    signs = {one.sign for one in context}
    return {
        "repeated": "repeats" in signs,
        "upstream_unhealthy": bool(signs & {"upstream_sick", "others_sick"}),
        "outside_alert": bool(signs & {"alert", "alert_all"}),
    }


def _said(conditions: Mapping[str, bool]) -> str:
    return ", ".join(name for name, holds in conditions.items() if holds) or "none of three conditions"


def _error(seen: Seen) -> dict[str, Json]:
    fault = seen.fault
    return {"status": seen.status, "kind": fault.kind, "code": fault.code, "text": clean_text(fault.text)}


def clean_text(text: str) -> str:
    """A bounded text without personal data."""
    return redact(text[:TEXT_CHARS_MAX].encode("utf-8", "replace").decode()).text


def _clean(arguments: Json) -> Json:
    return redact_json(arguments)[0]
