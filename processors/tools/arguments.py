"""A call's draft and its tool's schema → arguments that fit it, or a refusal.

Without a schema nothing says which types are meant: what carries its types (JSON, Python literals) is taken as it is,
and a bare parameter is what its own text says its type is, else text, unless it is a whole JSON object or array.
"""

from dataclasses import dataclass

import orjson

from processors.repair import NO_RULES, Repaired, Rules, ToolSchema, check, coerce_params, repair
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import CallDraft, Param
from schemas.toolcall import Refusal, Repair

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


def read_arguments(draft: CallDraft, schema: ToolSchema | None, rules: Rules = NO_RULES) -> Reading:
    """The arguments of a call whose body some grammar could read."""
    if draft.params is not None and schema is None:
        return _reading(check({param.key: _typed(param) for param in draft.params}, None), "xml_params")
    if draft.params is not None:
        return _reading(coerce_params(draft.params, schema, rules=rules), "xml_params")
    if draft.arguments_text is not None:
        repaired = repair(draft.arguments_text, schema, rules=rules)
        return _reading(repaired, "json" if repaired.status == "ok" else "repair")
    return _reading(check(draft.value, schema, rules=rules), STRATEGIES.get(draft.dialect, "json"))


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
