"""A call that went wrong + what is kept of it and others → what happened, why, what is done about it; with evidence.

Four steps, each a line of the evidence trace: the chain of the run's calls, the deviation from the contract, the cause
by the tree, the strategy with its proof. A strategy that its proof does not let through is no strategy; the trace says
what spoke against it. Nothing here calls a tool or asks a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

import orjson

from processors.attribute import attributed, clean_text
from processors.attribution.causes import Cause, CauseTree, shipped_tree
from processors.attribution.context import Alert, Surroundings, Terms, looks_same
from processors.attribution.seen import Window
from processors.dispatching.policy import ToolRule
from processors.learning.lifecycle import Approval
from processors.pii.redact import redact_json
from processors.retrospection.cases import seen_of
from processors.retrospection.contract import Contract, upstreams
from processors.retrospection.deviation import Deviation, DeviationKind, located
from processors.retrospection.propose import ADVICE, NEEDED, Material, proposed
from processors.strategies.conditions import all_hold
from processors.strategies.prove import Case, Known, Proof, proved
from processors.strategies.samples import sample_of
from processors.strategies.strategy import Strategy
from schemas.attribution import Attribution
from schemas.jsonvalue import JsonObject
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from schemas.retrospection import Retrospection

OTHERS_MAX = 2_000
"""Good calls of other tools that a strategy is tried on."""
CHAIN_SHOWN_MAX = 30
SAMPLES_MAX = 20
"""Cases that an entry keeps as its samples, of each kind."""
TRIED_MAX = 5
Trigger = Literal["explicit", "implicit", "passive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be looked back at."""

    case_id: str
    trigger: Trigger
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is kept and known."""

    chain: Sequence[Case]
    """Calls of the run."""
    cases: Sequence[Case]
    """Calls of all runs, good and bad, in order of time."""
    contracts: Mapping[str, Contract] = field(default_factory=dict)
    rules: Mapping[str, ToolRule] = field(default_factory=dict)
    """Tools that a dispatcher may call; empty: which those are is not known, and side effects are taken for given."""
    alerts: Sequence[Alert] = ()
    terms: Terms = field(default_factory=Terms)
    history: Mapping[str, int] = field(default_factory=dict)
    """How often each cause was found for the tool before."""
    tree: CauseTree = field(default_factory=shipped_tree)


@dataclass(frozen=True, slots=True)
class Found:
    """What came of looking back."""

    retrospection: Retrospection
    entry: Pattern | None
    """The strategy as a new entry of the registry, in the state in which it begins."""


def retrospect(question: Question, memory: Memory, approval: Approval = Approval.AUTO) -> Found | None:
    """Look back at one call; None if it isn't in the chain, or nothing about it is out of order."""
    deviation = located(memory.chain, question.case_id, memory.contracts)
    if deviation is None:
        return None
    case = deviation.case
    attribution = _attribution(case, memory)
    cause = _cause(deviation, attribution)
    trace = [
        Evidence(
            step="trigger",
            data={"trigger": question.trigger, "why": clean_text(question.why), "call": question.case_id},
        ),
        Evidence(step="chain", data={"calls": [_shown(one) for one in memory.chain[-CHAIN_SHOWN_MAX:]]}),
        Evidence(step="deviation", data={"kind": deviation.kind.value, "call": case.id, **deviation.detail}),
        Evidence(step="cause", data=_reasons(cause, attribution)),
    ]
    best, tried = _best(deviation, cause, memory) if _is_worth(cause, deviation, attribution) else (None, [])
    trace += [Evidence(step="tried", data={"strategy": one.dump(), **proof.figures}) for one, proof in tried]
    advice = "" if best is not None else _advice(deviation, cause)
    if advice:
        trace.append(Evidence(step="advice", data={"text": advice}))
    stream_id, _, call_id = case.id.rpartition("/")
    retrospection = Retrospection(
        stream_id=stream_id, call_id=call_id, run_id=case.run_id, tool=case.tool, trigger=question.trigger,
        deviation=deviation.kind.value, cause=cause.value,
        probability=attribution.probability if cause == attribution.cause else 1.0,
        strategy=best.id if best is not None else None, advice=advice, evidence_trace=tuple(trace), ts=case.at_ms,
    )  # fmt: skip
    return Found(retrospection, _entry(best, trace, deviation, memory, approval) if best is not None else None)


def _advice(deviation: Deviation, cause: Cause) -> str:
    return NEEDED if deviation.kind is DeviationKind.NEEDED else ADVICE.get(cause, ADVICE[Cause.UNKNOWN])


def _attribution(case: Case, memory: Memory) -> Attribution:
    window = Window()
    near_ms = memory.terms.within_ms + memory.terms.settle_ms
    for one in memory.cases:
        if abs(one.at_ms - case.at_ms) <= near_ms:
            window.add(seen_of(one))
    around = Surroundings(
        window=window, upstreams=upstreams(memory.contracts), alerts=memory.alerts, terms=memory.terms
    )  # fmt: skip
    return attributed(seen_of(case), around, memory.tree, memory.history)


def _cause(deviation: Deviation, attribution: Attribution) -> Cause:
    """The cause by the tree; where what has to follow a failure did not, that is the cause, unless the failure's own is
    one that following up does not touch.
    """
    found = Cause(attribution.cause)
    if deviation.kind is not DeviationKind.UNHANDLED or found in {Cause.JITTER, Cause.NETWORK, Cause.DEPENDENCY}:
        return found
    return found if found in {Cause.STALE_LIST, Cause.PERMISSION} and attribution.is_defect else Cause.SKIPPED_FALLBACK


def _reasons(cause: Cause, attribution: Attribution) -> JsonObject:
    found = attribution.evidence[-1].data
    return {
        "cause": cause.value,
        "conditions": attribution.conditions,
        "probabilities": attribution.probabilities,
        **found,
    }


def _is_worth(cause: Cause, deviation: Deviation, attribution: Attribution) -> bool:
    """Whether a strategy may be made: never of jitter, and of one failure only where a contract says what was wrong."""
    by_contract = {
        DeviationKind.STEP_MISSING, DeviationKind.INPUT, DeviationKind.UNHANDLED, DeviationKind.STRATEGY,
    }  # fmt: skip
    return cause is not Cause.JITTER and (attribution.is_defect or deviation.kind in by_contract)


def _best(deviation: Deviation, cause: Cause, memory: Memory) -> tuple[Strategy | None, list[tuple[Strategy, Proof]]]:
    """The first proposal that its proof lets through, and all that were tried."""
    case = deviation.case
    own = [one for one in memory.cases if one.tool == case.tool]
    failures = [one for one in own if one.id != case.id and looks_same(seen_of(one), seen_of(case))]
    good = [one for one in own if one.is_good]
    known = Known(rules=memory.rules, works=_works(memory.cases))
    contract = memory.contracts.get(case.tool) or Contract(tool=case.tool)
    effects = {tool: rule.has_side_effects for tool, rule in memory.rules.items()}
    takes = _takes(memory.cases)
    alike = [*failures, case]
    first = min(one.at_ms for one in alike)
    tried: list[tuple[Strategy, Proof]] = []
    # A value that failed calls have may have gone well before the trouble began: the second look is at what came since.
    for fine in (good, [one for one in good if one.at_ms >= first]):
        material = Material(failures=alike, good=fine, contract=contract, has_side_effects=effects, takes=takes)
        for strategy in list(proposed(deviation, cause, material))[:TRIED_MAX]:
            if any(strategy == one for one, _ in tried):
                continue
            matched = _alike(strategy, alike)
            proof = proved(strategy, matched, [*good, *_others(memory.cases, case.tool)], known)
            tried.append((strategy, proof))
            if proof.is_accepted:
                return strategy, tried
    return None, tried


def _alike(strategy: Strategy, failures: Sequence[Case]) -> list[Case]:
    """The failures that a strategy is meant to mend: all that it names."""
    return [one for one in failures if all_hold(strategy.trigger.context, one.arguments, one.at_ms)]


def _others(cases: Sequence[Case], tool: str) -> list[Case]:
    """Good calls of other tools: by a hash, so that which ones is nobody's choice and the same each time."""
    others = [one for one in cases if one.is_good and one.tool != tool]
    return sorted(others, key=lambda one: blake2b(one.id.encode("utf-8", "replace"), digest_size=8).digest())[
        :OTHERS_MAX
    ]


def _takes(cases: Sequence[Case]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for one in cases:
        if one.is_good:
            found[one.tool] = found.get(one.tool, frozenset()) | frozenset(one.arguments)
    return found


def _works(cases: Sequence[Case]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for one in cases:
        if one.status != "not_run":
            fine, calls = found.get(one.tool, (0, 0))
            found[one.tool] = (fine + one.is_good, calls + 1)
    return found


def _entry(
    strategy: Strategy, trace: Sequence[Evidence], deviation: Deviation, memory: Memory, approval: Approval
) -> Pattern:
    case = deviation.case
    good = [one for one in memory.cases if one.is_good and one.tool == case.tool]
    context = orjson.dumps([one.model_dump(mode="json") for one in strategy.trigger.context], default=str)
    return Pattern(
        id=strategy.id,
        version=1,
        kind=PatternKind.STRATEGY,
        definition=strategy.dump(),
        # The proof stands for the time in the shadow; a person who wants to decide finds a candidate.
        state=PatternState.CANDIDATE if approval is Approval.MANUAL else PatternState.CANARY,
        exclusive_group=f"{case.tool}/{blake2b(context, digest_size=6).hexdigest()}",
        evidence=tuple(trace),
        positives=(sample_of(case, strategy),),
        negatives=tuple(sample_of(one, strategy) for one in good[-SAMPLES_MAX:]),
    )


def _shown(case: Case) -> JsonObject:
    arguments = redact_json(case.arguments)[0]
    shown = {"call": case.id, "tool": case.tool, "arguments": arguments, "status": case.status}
    return {**shown, "error": clean_text(case.error)} if case.error else shown
