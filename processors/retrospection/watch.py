"""Steps, results and signals of a running system → attributions, and questions of what is to be looked back at.

Implicit questions: a failure that is a defect, or that a contract says what had to follow; a call much slower than the
tool's usual, or than its contract allows; a strategy that was needed many times within an hour. Passive ones: an alert
about a tool that failed a short time ago. Explicit ones are asked by a signal. One question of a kind is asked about a
tool in `AGAIN_MS`, so that an outage is looked back at once and not a thousand times.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

from processors.attribute import Attributor
from processors.attribution.context import Alert, Terms
from processors.attribution.seen import FAILED
from processors.dispatching.policy import ToolRule
from processors.retrospect import Memory, Question, Trigger
from processors.retrospection.cases import CaseBook, seen_of
from processors.retrospection.contract import Contract, lookups, upstreams
from processors.strategies.prove import Case
from schemas.attribution import Attribution
from schemas.signal import Signal
from schemas.toolcall import ToolResult
from schemas.trajectory import Step

CASES_OF_TOOL_MAX = 2_000
"""Calls of one tool that are kept: what a strategy is proved on."""
TOOLS_MAX = 50
"""Tools of which calls are kept: 100,000 calls of 1.5 KB."""
AGAIN_MS = 60_000.0
SLOWER, SLOWER_MS, SLOW_CALLS_MIN = 5.0, 1_000.0, 20
"""A call is much slower at that many times the tool's median and that much more, from so many calls on."""
NEEDED_MAX, NEEDED_MS = 50, 3_600_000.0
"""How often a strategy may be needed in that time before what it works around is looked back at."""
ASKED_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """What is known of the system's tools."""

    contracts: Mapping[str, Contract] = field(default_factory=dict)
    rules: Mapping[str, ToolRule] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)


class Watch:
    """Follows one system."""

    def __init__(self, surveyed: Surveyed) -> None:
        self._surveyed = surveyed
        self._book = CaseBook(lookups(surveyed.contracts))
        self._attributor = Attributor(upstreams(surveyed.contracts), surveyed.terms)
        self._cases: OrderedDict[str, deque[Case]] = OrderedDict()
        self._by_id: OrderedDict[str, Case] = OrderedDict()
        self._alerts: deque[Alert] = deque(maxlen=1_000)
        self._asked: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._needed: dict[str, deque[float]] = {}

    def step(self, step: Step) -> Iterator[Attribution | Question]:
        """Take a step of a stream."""
        for case in self._book.call(step):
            yield from self._took(case)

    def result(self, result: ToolResult, at_ms: float) -> Iterator[Attribution | Question]:
        """Take a result and the time at which it was told."""
        for case in self._book.result(result, at_ms):
            yield from self._took(case)

    def signal(self, signal: Signal, at_ms: float) -> Iterator[Question]:
        """Take what was said from outside; what a person decided about a call is not for here."""
        if signal.kind == "retrospect":
            found = self._by_id.get(f"{signal.stream_id}/{signal.call_id}") or self._last_failed(signal.stream_id)
            if found is not None:
                yield Question(case_id=found.id, trigger="explicit", why=signal.text)
        if signal.kind != "alert":
            return
        alert = Alert(about=signal.about, at_ms=signal.ts or at_ms, text=signal.text)
        self._alerts.append(alert)
        self._attributor.alert(alert)
        for tool, cases in self._cases.items():
            upstream = upstreams(self._surveyed.contracts).get(tool, tool)
            last = next((one for one in reversed(cases) if one.status in FAILED), None)
            is_meant = signal.about in {"", tool, upstream}
            if is_meant and last is not None and alert.at_ms - last.at_ms <= self._surveyed.terms.within_ms:
                yield from self._ask(last, "passive", f"alert: {signal.text or signal.about}", alert.at_ms)

    def due(self, now_ms: float) -> Iterator[Attribution | Question]:
        """What is due by now."""
        for found in self._attributor.due(now_ms):
            yield from self._attributed(found)

    def memory(self, question: Question) -> Memory | None:
        """What is to be looked at for a question; None: the call is not known any more."""
        case = self._by_id.get(question.case_id)
        if case is None:
            return None
        every = sorted((one for cases in self._cases.values() for one in cases), key=lambda one: one.at_ms)
        return Memory(
            chain=self._book.chain(case.run_id), cases=every, contracts=self._surveyed.contracts,
            rules=self._surveyed.rules, alerts=tuple(self._alerts), terms=self._surveyed.terms,
            history=self._attributor.history_of(case.tool),
        )  # fmt: skip

    def _took(self, case: Case) -> Iterator[Attribution | Question]:
        cases = self._cases.setdefault(case.tool, deque(maxlen=CASES_OF_TOOL_MAX))
        slow = self._slowness(case, cases)
        cases.append(case)
        self._cases.move_to_end(case.tool)
        if len(self._cases) > TOOLS_MAX:
            self._cases.popitem(last=False)
        self._by_id[case.id] = case
        if len(self._by_id) > TOOLS_MAX * CASES_OF_TOOL_MAX:
            self._by_id.popitem(last=False)
        for found in self._attributor.feed(seen_of(case)):
            yield from self._attributed(found)
        if slow:
            yield from self._ask(case, "implicit", slow, case.at_ms)
        for one in case.strategies:
            if one.is_served and one.did != "nothing" and self._is_needed_too_often(one.id, case.at_ms):
                yield from self._ask(case, "implicit", f"strategy {one.id} was needed {NEEDED_MAX} times", case.at_ms)

    def _attributed(self, found: Attribution) -> Iterator[Attribution | Question]:
        yield found
        case = self._by_id.get(f"{found.stream_id}/{found.call_id}")
        contract = self._surveyed.contracts.get(found.tool)
        if case is None or not (found.is_defect or (contract is not None and contract.after_failure)):
            return
        yield from self._ask(case, "implicit", f"{found.status}: {found.cause}", case.at_ms)

    def _ask(self, case: Case, trigger: Trigger, why: str, now_ms: float) -> Iterator[Question]:
        # Calls with other values may have another cause: what is asked once is about the same words.
        key = (case.tool, why.partition(":")[0])
        if now_ms - self._asked.get(key, -AGAIN_MS) < AGAIN_MS:
            return
        self._asked[key] = now_ms
        self._asked.move_to_end(key)
        if len(self._asked) > ASKED_MAX:
            self._asked.popitem(last=False)
        yield Question(case_id=case.id, trigger=trigger, why=why)

    def _slowness(self, case: Case, earlier: deque[Case]) -> str:
        """Why a call is too slow; empty if it isn't."""
        took = case.duration_ms
        contract = self._surveyed.contracts.get(case.tool)
        if took is None:
            return ""
        if contract is not None and contract.latency_ms_max is not None and took > contract.latency_ms_max:
            return f"latency: {took:g} ms, the contract allows {contract.latency_ms_max:g} ms"
        if took <= SLOWER_MS:
            return ""
        usual = [one.duration_ms for one in list(earlier)[-SLOW_CALLS_MIN * 2 :] if one.duration_ms is not None]
        is_slow = len(usual) >= SLOW_CALLS_MIN and took > max(SLOWER * median(usual), median(usual) + SLOWER_MS)
        return f"latency: {took:g} ms, usual are {median(usual):g} ms" if is_slow else ""

    def _is_needed_too_often(self, strategy_id: str, now_ms: float) -> bool:
        times = self._needed.setdefault(strategy_id, deque(maxlen=NEEDED_MAX))
        times.append(now_ms)
        if len(times) == NEEDED_MAX and now_ms - times[0] <= NEEDED_MS:
            times.clear()
            return True
        return False

    def _last_failed(self, stream_id: str) -> Case | None:
        """The last failed call of a stream, or of the run with that id."""
        of_run = reversed(self._book.chain(stream_id))
        of_stream = (one for one in reversed(self._by_id.values()) if one.id.startswith(f"{stream_id}/"))
        return next((one for one in (*of_run, *of_stream) if one.status in FAILED), None)
