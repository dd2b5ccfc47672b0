"""A deviation and its cause → the strategy that would have kept it from happening, or what a person should do instead.

A strategy is as narrow as the cases allow: it asks for a value that the failed calls have in common and that no good
call has. Where there is none, only what does nothing to good calls is proposed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import orjson

from processors.attribution.causes import Cause
from processors.attribution.seen import ARGUMENTS_MAX, VALUE_CHARS_MAX
from processors.retrospection.contract import REVIEW, Contract
from processors.retrospection.deviation import Deviation, DeviationKind
from processors.strategies.conditions import Condition, value_at
from processors.strategies.prove import Case
from processors.strategies.strategy import Strategy
from schemas.jsonvalue import Json, JsonObject

CHOICES_MAX = 30
"""Most different values, in good calls, of an argument that is a choice among few."""
CHOICE_CALLS_MIN = 5
"""Good calls from which that is known."""
VALUES_MAX = 20
NUMBER_END = 10**15
"""Longer numbers are names of something, and no choice."""
ADVICE = {
    Cause.JITTER: "Nothing is to be learned: it happened once, nothing around it was sick, nobody reported anything.",
    Cause.NETWORK: "The way to several upstreams is disturbed: whoever runs the network has to look.",
    Cause.DEPENDENCY: "One upstream does not work; with `after_failure` in the contract, calls fall back on a tool.",
    Cause.BAD_ARGUMENT: "The arguments were wrong; with `input` in the contract they are refused before the call.",
    Cause.PERMISSION: "The credential does not allow it, or not any more: its owner has to renew it.",
    Cause.DATA: "The record itself is missing, double or wrong: its owner has to correct it.",
    Cause.STALE_LIST: "A list does not say what is true now: its owner has to renew it.",
    Cause.UNKNOWN: "No sign says what it was; a person has to look.",
}
NEEDED = "A strategy holds such calls up: what it works around should be mended; the strategy retires when unused."
_OF_VALUES = frozenset({Cause.STALE_LIST, Cause.PERMISSION, Cause.DATA, Cause.UNKNOWN, Cause.SKIPPED_FALLBACK})
"""Causes that may come of a list in which a value is looked up."""
_TITLES = {
    "require_review": "calls of {tool}{where} go to a person", "skip": "calls of {tool}{where} are not made",
    "pre_check": "before {tool}{where}, {what} is looked up", "fallback": "a failed {tool}{where} becomes {what}",
    "add_step": "before {tool}{where}, {what} is called",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a proposal is made of."""

    failures: Sequence[Case]
    """Failures of the tool that look like the one in question, that one among them."""
    good: Sequence[Case]
    """Good calls of the tool."""
    contract: Contract
    has_side_effects: Mapping[str, bool] = field(default_factory=dict)
    takes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Tool → names of arguments with which it was called and answered."""


def proposed(deviation: Deviation, cause: Cause, material: Material) -> Iterator[Strategy]:
    """Strategies to be tried, the best first."""
    if cause is Cause.JITTER:
        return
    telling = telling_condition(material.failures, material.good)
    contract = material.contract
    if deviation.kind is DeviationKind.STEP_MISSING:
        for tool in deviation.detail["needs"]:
            yield _made(
                material,
                "add_step",
                None,
                {"call": {"tool": tool, "arguments": _shared(deviation.case, material.takes.get(tool))}},
            )
    if contract.input and (cause is Cause.BAD_ARGUMENT or deviation.kind is DeviationKind.INPUT):
        expect = [one.model_dump(mode="json") for one in contract.input]
        yield _made(material, "pre_check", None, {"expect": expect, "otherwise": "skip"})
    # Failures that go with one value may come of the list in which it is looked up, whatever their words say.
    for one in contract.lists if cause in _OF_VALUES else ():
        if telling is None or telling.path == one.argument:
            expect = [each.model_dump(mode="json") for each in one.expect]
            yield _made(material, "pre_check", telling, {"call": one.check.model_dump(mode="json"), "expect": expect})
    after = contract.after_failure
    if after and after != REVIEW:
        arguments = contract.after_arguments or _shared(deviation.case, material.takes.get(after))
        yield _made(material, "fallback", None, {"call": {"tool": after, "arguments": arguments}})
    is_known_failing = telling is not None and (after == REVIEW or cause in {Cause.STALE_LIST, Cause.PERMISSION})
    if is_known_failing:
        yield _made(material, "require_review", telling, {})


def telling_condition(failures: Sequence[Case], good: Sequence[Case]) -> Condition | None:
    """A choice that all failures made and no good call did; None: there is none."""
    best: tuple[int, int, str, list[Json]] | None = None
    for path in _paths(failures[0].arguments) if failures else ():
        bad = [value_at(case.arguments, path) for case in failures]
        fine = [value for case in good for is_there, value in [value_at(case.arguments, path)] if is_there]
        values = {_key(value): value for _, value in bad}
        if not all(is_there and _is_choice(value) for is_there, value in bad) or not 0 < len(values) <= VALUES_MAX:
            continue
        counted = Counter(map(_key, fine))
        if len(fine) < CHOICE_CALLS_MIN or len(counted) > CHOICES_MAX or values.keys() & counted.keys():
            continue
        rank = (len(values), len(counted), path, [values[key] for key in sorted(values)])
        best = rank if best is None or rank[:3] < best[:3] else best
    if best is None:
        return None
    _, _, path, found = best
    return Condition.model_validate(
        {"path": path, "op": "eq", "value": found[0]} if len(found) == 1 else {"path": path, "op": "in", "value": found}
    )


def _paths(arguments: JsonObject) -> Iterator[str]:
    for key, value in list(arguments.items())[:ARGUMENTS_MAX]:
        inner = list(value)[:ARGUMENTS_MAX] if isinstance(value, dict) else []
        yield from (f"{key}.{one}" for one in inner if "." not in one and "." not in key) if inner else iter([key])


def _is_choice(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) <= VALUE_CHARS_MAX
    return value is None or (isinstance(value, int) and abs(value) < NUMBER_END)


def _key(value: Json) -> str:
    if isinstance(value, float) and value.is_integer():  # the same number to a condition
        value = int(value)
    if isinstance(value, int) and abs(value) >= NUMBER_END:  # Python refuses to write out the longest
        return "int:long"
    return f"{type(value).__name__}:{str(value)[: VALUE_CHARS_MAX + 1]}"


def _shared(case: Case, names: frozenset[str] | None) -> dict[str, str]:
    """Arguments of the call that the other tool takes under the same names; all of them if nobody called it yet."""
    return {key: f"${key}" for key in case.arguments if "." not in key and (names is None or key in names)}


def _made(material: Material, kind: str, where: Condition | None, action: JsonObject) -> Strategy:
    tool = material.contract.tool
    context = [where.model_dump(mode="json")] if where is not None else []
    said = f" with {where.path} = {where.value}" if where is not None else ""
    other = (action.get("call") or {}).get("tool", "")
    title = _TITLES[kind].format(tool=tool, where=said, what=other or "its input")
    has_effects = bool(other) and material.has_side_effects.get(other, True) and kind != "pre_check"
    seed = orjson.dumps([tool, kind, context, action], option=orjson.OPT_SORT_KEYS, default=str)
    body: JsonObject = {
        "schema": "strategy/1",
        "id": f"{tool[:60]}-{kind}-{blake2b(seed, digest_size=4).hexdigest()}",
        "title": title[:300],
        "trigger": {"tool": tool, "context": context, "errors": ()},
        "action": {"kind": kind, "reason": title[:500], **action},
        "side_effects": [other] if has_effects else [],
        # No call of a tool with side effects is let through to its failure only to see whether it still fails.
        "impact": {"who": f"calls of {tool}{said}"[:500], "risk": "high" if _is_effective(material, tool) else "low"},
    }
    return Strategy.model_validate(body)


def _is_effective(material: Material, tool: str) -> bool:
    return material.has_side_effects.get(tool, True)
