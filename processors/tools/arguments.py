"""A call's draft and its tool's schema → arguments that fit it, or a refusal.

Without a schema nothing says which types are meant: what carries its types (JSON, Python literals) is taken as it is,
and a bare parameter is what its own text says its type is, else text, unless it is a whole JSON object or array.
"""

from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from processors.dialects import json_object
from processors.periods.reading import DEFAULT_POLICY, Policy, read_moment, read_policy
from processors.periods.settle import settle_periods
from processors.repair import (
    NO_RULES,
    Repaired,
    Rules,
    ToolSchema,
    check,
    check_pairs,
    coerce_params,
    confidence_of,
    repair,
    telling,
)
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import CallDraft, Param
from schemas.token import Meta
from schemas.toolcall import Refusal, Repair

CUT = ("truncated", "two_objects", "too_")
"""Beginnings of refusal codes that no word of the user can mend."""
STRATEGIES = {"python_call": "python_call"}
"""Body grammars with a strategy of their own; all other grammars with typed values are JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Arguments as read; None with a refusal that says why."""

    arguments: JsonObject | None = None
    confidence: float = 1.0
    repairs: tuple[Repair, ...] = ()
    refusal: Refusal | None = None
    strategy: str = "json"


def read_arguments(draft: CallDraft, schema: ToolSchema | None, rules: Rules = NO_RULES, raw: str = "") -> Reading:
    """The arguments of a call whose body some grammar could read; `raw` is the call as the model wrote it."""
    reading = _read(draft, schema, rules, raw)
    if not draft.mends:
        return reading
    noted = {repair.code for repair in reading.repairs}
    mends = tuple(Repair(code=code) for code in dict.fromkeys(draft.mends) if code not in noted)
    confidence = round(reading.confidence * confidence_of(mends), 4)
    return replace(reading, confidence=confidence, repairs=(*mends, *reading.repairs))


def _read(draft: CallDraft, schema: ToolSchema | None, rules: Rules, raw: str) -> Reading:
    if draft.params is not None and schema is None:
        return _reading(check_pairs([(param.key, _typed(param)) for param in draft.params]), "xml_params")
    if draft.params is not None:
        return _reading(coerce_params(draft.params, schema, rules=rules), "xml_params")
    if draft.arguments_text is not None:
        repaired = repair(draft.arguments_text, schema, rules=rules)
        return _reading(repaired, "json" if repaired.status == "ok" else "repair")
    return _reading(
        check(draft.value, schema, rules=rules, raw=_told(draft, raw) if schema else ""),
        STRATEGIES.get(draft.dialect, "json"),
    )


def _told(draft: CallDraft, raw: str) -> str:
    """The text that says more than the draft's value: of a JSON body that had to be mended, all of it.

    Bodies of other grammars say all in their value; to the repair of JSON, a mark of theirs would be text.
    """
    if draft.dialect != json_object.DIALECT:
        return ""
    return raw[raw.find("{") : raw.rfind("}") + 1] if draft.mends else telling(raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the user said, and when: dates in a call are read against it."""

    user: str
    now: datetime | None = None
    policy: Policy = DEFAULT_POLICY


def said_in(meta: Meta) -> Said | None:
    """What a stream's producer says about the request; a time or a policy that can't be read is left out."""
    if not meta.user:
        return None
    try:
        policy = read_policy(meta.policy)
    except (TypeError, ValueError):  # a policy of another shape
        policy = DEFAULT_POLICY
    try:
        now = read_moment(meta.now) if meta.now else None
    except ValueError:  # not ISO 8601
        now = None
    return Said(user=meta.user, now=now, policy=policy)


def settled(reading: Reading, draft: CallDraft, schema: ToolSchema, said: Said, rules: Rules = NO_RULES) -> Reading:
    """The reading with its dates as the user's words settle them; as it was, where they settle nothing."""
    given, before = _as_written(reading, draft)
    if given is None or (reading.refusal and reading.refusal.code.startswith(CUT)):
        return reading
    heard = settle_periods(given, schema.parameters, said.user, said.now, said.policy)
    if heard.repairs:
        again = check(heard.arguments, schema, rules=rules)
        if again.status != "refused":
            return Reading(
                arguments=again.arguments,
                confidence=heard.confidence * again.confidence * (reading.confidence or 1.0 if before else 1.0),
                repairs=(*before, *heard.repairs, *again.repairs),
                strategy="semantic",
            )
    return replace(reading, refusal=heard.refusal) if reading.refusal and heard.refusal else reading


def accepted(reading: Reading, least: float) -> Reading:
    """The reading, or a refusal if its arguments can't be trusted as far as the tool wants it."""
    if reading.arguments is None or reading.confidence >= least:
        return reading
    codes = ", ".join(dict.fromkeys(repair.code for repair in reading.repairs))
    message = f"The arguments had to be changed ({codes}) and are trusted at {reading.confidence:.2f}; send them again."
    refusal = Refusal(code="low_confidence", candidate=reading.arguments, message=message)
    return replace(reading, arguments=None, refusal=refusal, strategy="none")


def _as_written(reading: Reading, draft: CallDraft) -> tuple[JsonObject | None, tuple[Repair, ...]]:
    """The arguments before coercion, which may have taken a date for something else; else what reading made of them."""
    written = draft.value
    if draft.arguments_text is not None:
        written = _or_none(draft.arguments_text)
    if isinstance(written, dict):
        return written, ()
    written = reading.arguments or (reading.refusal.candidate if reading.refusal else None)
    return (written, reading.repairs) if isinstance(written, dict) else (None, ())


def _or_none(text: str) -> Json:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):  # damaged, or a lone surrogate
        return None


def _reading(repaired: Repaired, strategy: str) -> Reading:
    if repaired.status == "refused":
        strategy = "none"
    elif any(one.rule for one in repaired.repairs):
        strategy = "rule"
    return Reading(
        arguments=None if repaired.status == "refused" else repaired.arguments,
        confidence=repaired.confidence,
        repairs=repaired.repairs,
        refusal=repaired.refusal,
        strategy=strategy,
    )


def _typed(param: Param) -> Json:
    is_container = param.type is None and param.value.strip()[:1] in {"{", "["}
    if not is_container and param.type in {None, "string"}:
        return param.value
    try:
        return orjson.loads(param.value.strip())
    except (orjson.JSONDecodeError, UnicodeEncodeError):  # not JSON, or a lone surrogate
        return param.value
