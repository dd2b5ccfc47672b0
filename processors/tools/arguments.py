"""A call's draft and its tool → arguments that fit the tool's schema, or a refusal.

Without a tool nothing says which types are meant: what carries its types (JSON, Python literals) is taken as it is,
and a bare parameter stays text unless it is a whole JSON object or array.
"""

from dataclasses import dataclass

import jsonschema_rs
import orjson

from schemas.jsonvalue import Json, JsonObject
from schemas.segment import CallDraft, Param
from schemas.toolcall import Refusal, Repair


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Arguments as read; None with a refusal that says why."""

    arguments: JsonObject | None = None
    confidence: float = 1.0
    repairs: tuple[Repair, ...] = ()
    refusal: Refusal | None = None
    strategy: str = "json"


def read_arguments(draft: CallDraft, tool: JsonObject | None) -> Reading:
    """The arguments of a call whose body some grammar could read."""
    if draft.params is not None:
        return _checked({param.key: _typed(param, tool) for param in draft.params}, tool, "xml_params")
    if draft.arguments_text is not None:
        return _checked(_read_json(draft.arguments_text), tool, "json")
    return _checked(draft.value, tool, "python_call" if "python" in draft.dialect else "json")


def _checked(value: Json, tool: JsonObject | None, strategy: str) -> Reading:
    if not isinstance(value, dict):
        message = "The arguments are not a JSON object; send one object with a value for each parameter."
        return Reading(refusal=Refusal(code="no_call_found", message=message), confidence=0.0, strategy="none")
    schema = (tool or {}).get("parameters")
    if isinstance(schema, dict) and (refusal := _refusal(value, schema)):
        return Reading(refusal=refusal, confidence=0.0, strategy="none")
    return Reading(arguments=value, strategy=strategy)


def _refusal(value: JsonObject, schema: JsonObject) -> Refusal | None:
    try:
        jsonschema_rs.validator_for(schema).validate(value)
    except jsonschema_rs.ValidationError as error:
        path = "".join(f"/{part}" for part in error.instance_path)
        return Refusal(code="schema", path=path, candidate=value, message=str(error.message)[:200])
    except ValueError:  # validator_for: the schema itself is not one, so it says nothing about the value
        return None
    return None


def _typed(param: Param, tool: JsonObject | None) -> Json:
    kind = param.type or _kind(param.key, tool)
    if kind in {None, "object", "array"} and param.value.lstrip()[:1] in {"{", "["}:
        return _or_text(param.value)
    if kind in {"integer", "number", "boolean", "null"}:
        return _or_text(param.value)
    return param.value


def _kind(key: str, tool: JsonObject | None) -> str | None:
    properties = ((tool or {}).get("parameters") or {}).get("properties")
    schema = properties.get(key) if isinstance(properties, dict) else None
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind if isinstance(kind, str) else None


def _or_text(text: str) -> Json:
    try:
        return orjson.loads(text.strip())
    except (orjson.JSONDecodeError, UnicodeEncodeError):  # not JSON, or a lone surrogate
        return text


def _read_json(text: str) -> Json:
    value = _or_text(text or "{}")
    return value if isinstance(value, dict) else None
