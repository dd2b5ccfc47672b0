"""A strategy + kept calls → whether it may come into use: it must mend the failures, and leave good calls as they were.

The sandbox is this module: nothing is called. What a strategy would look up is answered from what was kept, and each
call that it would make is written down; one with side effects that the strategy does not declare, or that nobody
permitted, fails the proof.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from processors.dispatching.policy import ToolRule
from processors.strategies.conditions import all_hold
from processors.strategies.decide import Did, Looked, Wanted, after, before, wanted_call
from processors.strategies.strategy import ActionKind, Strategy
from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import AppliedStrategy

GOOD_MIN = 1_000
"""Good calls that a strategy must leave as they were."""
WORKS_SHARE_MIN = 0.9
"""Share of a fallback's own calls that must have gone well, and of good calls before which an added step stood."""
WORKS_MIN = 5
"""Fewest calls of which that share is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call that was made, and what came of it."""

    id: str
    """`stream_id/call_id`."""
    tool: str
    arguments: JsonObject
    status: str
    at_ms: float
    run_id: str = ""
    content: Json = None
    error: str = ""
    duration_ms: float | None = None
    strategies: tuple[AppliedStrategy, ...] = ()
    before: tuple[str, ...] = ()
    """Tools that were called before it in its run and answered."""
    looked: Mapping[str, Json] = field(default_factory=dict)
    """What tools said that could be looked up at that time: by name, the latest answer."""

    @property
    def is_good(self) -> bool:
        """Whether it went well."""
        return self.status == "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of tools."""

    rules: Mapping[str, ToolRule]
    works: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Tool → how many of its calls went well, and how many there were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the proof found."""

    mended: int
    failures: int
    changed: int
    good: int
    touched: int
    """Good calls that it applies to at all."""
    effects: tuple[str, ...]
    """Tools with side effects that it would call."""
    reasons: tuple[str, ...]
    """Why it is not accepted; none if it is."""

    @property
    def is_accepted(self) -> bool:
        """Whether it may come into use."""
        return not self.reasons

    @property
    def figures(self) -> JsonObject:
        """For the evidence."""
        return {
            "mended": self.mended, "failures": self.failures, "changed": self.changed, "good": self.good,
            "touched": self.touched, "effects": list(self.effects), "reasons": list(self.reasons),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Tried:
    """One case with the strategy."""

    applies: bool
    did: Did = Did.NOTHING
    calls: tuple[Wanted, ...] = ()


def proved(strategy: Strategy, failures: Sequence[Case], good: Sequence[Case], known: Known) -> Proof:
    """Try the strategy on failures that it must mend and on good calls that it must not change."""
    on_failures = [_tried(strategy, case) for case in failures]
    on_good = [_tried(strategy, case) for case in good]
    mended = sum(_is_mended(strategy, tried, good, known) for tried in on_failures)
    # A step before the call is no change by itself if good calls had it before them already.
    changed = sum(
        tried.did is not Did.NOTHING and not (tried.did is Did.STEP and _has_step(strategy, case))
        for case, tried in zip(good, on_good, strict=True)
    )
    made = {one.tool for tried in (*on_failures, *on_good) for one in tried.calls}
    effects = tuple(sorted(tool for tool in made if tool not in known.rules or known.rules[tool].has_side_effects))
    reasons = _against(strategy, made, effects, known)
    if not failures or mended < len(failures):
        reasons.append(f"mends {mended} of {len(failures)} failures")
    if changed:
        reasons.append(f"changes {changed} good calls")
    if len(good) < GOOD_MIN:
        reasons.append(f"only {len(good)} good calls to try it on, {GOOD_MIN} are wanted")
    return Proof(
        mended=mended, failures=len(failures), changed=changed, good=len(good),
        touched=sum(tried.applies for tried in on_good), effects=effects, reasons=tuple(reasons),
    )  # fmt: skip


def rehearsed(strategy: Strategy, case: Case) -> Did | None:
    """What the strategy would do about one call; None: it does not apply to it."""
    tried = _tried(strategy, case)
    return tried.did if tried.applies else None


def _tried(strategy: Strategy, case: Case) -> _Tried:
    given, now = case.arguments, case.at_ms
    trigger = strategy.trigger
    conditions = (*trigger.context, *strategy.input_constraint)
    if trigger.tool != case.tool or not all_hold(conditions, given, now):
        return _Tried(applies=False)
    wanted = wanted_call(strategy, given)
    looked = None
    if strategy.action.kind is ActionKind.PRE_CHECK and wanted is not None:
        looked = Looked(case.looked.get(wanted.tool), wanted.tool in case.looked)
    did = before(strategy, given, looked, now)
    if did is Did.NOTHING:
        did = after(strategy, case.status)
    is_called = wanted is not None and (looked is not None or did in {Did.STEP, Did.FALLBACK})
    return _Tried(applies=True, did=did, calls=(wanted,) if wanted is not None and is_called else ())


def _is_mended(strategy: Strategy, tried: _Tried, good: Sequence[Case], known: Known) -> bool:
    match tried.did:
        case Did.REVIEW | Did.SKIP:
            return True
        case Did.FALLBACK:
            fine, calls = known.works.get(tried.calls[0].tool, (0, 0))
            return calls >= WORKS_MIN and fine >= WORKS_SHARE_MIN * calls
        case Did.STEP:
            alike = [case for case in good if case.tool == strategy.trigger.tool]
            with_step = sum(_has_step(strategy, case) for case in alike)
            return with_step >= WORKS_MIN and with_step >= WORKS_SHARE_MIN * len(alike)
    return False


def _has_step(strategy: Strategy, case: Case) -> bool:
    return strategy.action.call is not None and strategy.action.call.tool in case.before


def _against(strategy: Strategy, made: set[str], effects: Sequence[str], known: Known) -> list[str]:
    """What speaks against the calls that it would make."""
    reasons = [f"there is no tool {tool}" for tool in sorted(made - known.rules.keys())]
    reasons += [f"side effects of {tool} are not declared" for tool in effects if tool not in strategy.side_effects]
    reasons += [
        f"side effects of {tool} are not permitted"
        for tool in effects
        if tool in known.rules and not known.rules[tool].is_permitted
    ]
    own = known.rules.get(strategy.trigger.tool)
    if effects and strategy.action.kind is ActionKind.PRE_CHECK:
        reasons.append("a check must not have side effects")
    if effects and own is not None and not own.has_side_effects:
        # A call without side effects is run again after a crash, and what it brings along would be too.
        reasons.append(f"{strategy.trigger.tool} has no side effects, and may be run twice")
    return reasons
