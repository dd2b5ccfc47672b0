"""The calls of a run + contracts → where it left what the contracts say, nearest to the call asked about."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from processors.attribution.seen import FAILED
from processors.retrospection.contract import REVIEW, Contract
from processors.strategies.conditions import all_hold
from processors.strategies.prove import Case
from schemas.jsonvalue import JsonObject


class DeviationKind(StrEnum):
    """What a call did otherwise than its contract says; the first that fits names the deviation."""

    STEP_MISSING = "step_missing"
    """A tool that it needs had not answered before."""
    INPUT = "input"
    """Its arguments are none that the contract allows."""
    UNHANDLED = "unhandled"
    """It failed, and what has to follow a failure did not."""
    STRATEGY = "strategy"
    """A strategy was served and the call failed all the same."""
    NEEDED = "needed"
    """A strategy held it up."""
    FAILED = "failed"
    """It failed, and the contract says nothing about that."""
    OUTPUT = "output"
    """It answered something that the contract does not allow."""
    SLOW = "slow"
    """It took longer than the contract allows."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One deviation."""

    kind: DeviationKind
    case: Case
    detail: JsonObject


def located(chain: Sequence[Case], case_id: str, contracts: Mapping[str, Contract]) -> Deviation | None:
    """The deviation of one call; the run's last that deviates if the call itself does not."""
    place = next((n for n, case in enumerate(chain) if case.id == case_id), None)
    if place is None:
        return None
    for one in (place, *range(len(chain) - 1, -1, -1)):
        found = next(_of(chain, one, contracts.get(chain[one].tool) or Contract(tool=chain[one].tool)), None)
        if found is not None:
            return found
    return None


def _of(chain: Sequence[Case], place: int, contract: Contract) -> Iterator[Deviation]:
    case = chain[place]
    is_failed = case.status in FAILED
    missing = [tool for tool in contract.needs if tool not in case.before]
    if missing:
        yield Deviation(DeviationKind.STEP_MISSING, case, {"needs": missing, "before": list(case.before)})
    broken = [one.model_dump(mode="json") for one in contract.input if not all_hold([one], case.arguments, case.at_ms)]
    if broken:
        yield Deviation(DeviationKind.INPUT, case, {"does not hold": broken})
    if is_failed and contract.after_failure and not _is_handled(chain, place, contract.after_failure):
        followed = [one.tool for one in chain[place + 1 :]][:10]
        yield Deviation(DeviationKind.UNHANDLED, case, {"wanted": contract.after_failure, "followed": followed})
    served = [one.id for one in case.strategies if one.is_served and one.did in {"step", "fallback"}]
    held = [one.id for one in case.strategies if one.is_served and one.did in {"review", "skip"}]
    if case.status == "not_run" and held:
        yield Deviation(DeviationKind.NEEDED, case, {"strategies": held})
    if is_failed and served:
        yield Deviation(DeviationKind.STRATEGY, case, {"strategies": served})
    if is_failed:
        yield Deviation(DeviationKind.FAILED, case, {"status": case.status})
    if case.is_good and not all_hold(contract.output, case.content, case.at_ms):
        yield Deviation(
            DeviationKind.OUTPUT, case, {"output": [one.model_dump(mode="json") for one in contract.output]}
        )
    limit = contract.latency_ms_max
    if limit is not None and case.duration_ms is not None and case.duration_ms > limit:
        yield Deviation(DeviationKind.SLOW, case, {"took_ms": case.duration_ms, "allowed_ms": limit})


def _is_handled(chain: Sequence[Case], place: int, after: str) -> bool:
    """Whether what has to follow a failure did: the tool was called, or a strategy fell back on it.

    A failure that came back as one was not given to a person, so review never followed by itself.
    """
    is_fallen_back = any(one.is_served and one.did == "fallback" for one in chain[place].strategies)
    return after != REVIEW and (is_fallen_back or any(one.tool == after for one in chain[place + 1 :]))
