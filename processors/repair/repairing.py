"""The three ways in: damaged text (`repair`), a value (`check`), untyped parameters (`coerce_params`)."""

from dataclasses import replace

from processors.limits import LIMITS
from processors.repair.by_rule import by_rule
from processors.repair.coerce import fit_object
from processors.repair.confidence import confidence_of
from processors.repair.nodes import Loose, Members, Node, depth_of, node_of
from processors.repair.reading import read
from processors.repair.refusal import refusal_of
from processors.repair.rules import NO_RULES, Rules
from processors.repair.strict import is_fitting, is_strict, plain_object
from processors.repair.toolschema import ANY, Spec, ToolSchema
from processors.repair.work import Repaired, Work
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import Param
from schemas.toolcall import Refusal, Repair

LOSSES = frozenset({"skipped_text", "pairs_behind"})
"""Codes of readings that left something of the arguments out."""


def repair(raw: str, schema: ToolSchema | None, *, rules: Rules = NO_RULES) -> Repaired:
    """Arguments out of what the model wrote; never raises, linear in the length of the text."""
    if len(raw) > LIMITS.held_chars_max:
        return _refused([Refusal(code="too_large")])
    value = plain_object(raw)
    if value is not None and is_fitting(value, schema):
        return Repaired(status="ok", arguments=value)
    if value is not None and rules.table and schema and (ruled := by_rule(value, schema, rules)):
        return ruled
    spec = schema.root if schema else ANY
    work = Work(tool=spec.name, rules=rules)
    reading = read(raw, spec, work)
    work.ended = reading.ended
    for code in dict.fromkeys(reading.codes):
        if code in LOSSES:
            work.refuse("unreadable")
        work.note(code)
    if reading.node is None:
        assert reading.problem is not None
        rivals = [fit_object(one, spec, "", Work(tool=spec.name, rules=rules)) for one in reading.rivals]
        return _refused([reading.problem], rivals or None)
    settled = _settled(reading.node, schema, work)
    if settled.status == "ok" and not is_strict(raw):
        repairs = (Repair(code="syntax_mended"),)
        return replace(settled, status="repaired", repairs=repairs, confidence=confidence_of(repairs))
    return settled


def check(value: Json, schema: ToolSchema | None, *, rules: Rules = NO_RULES, raw: str = "") -> Repaired:
    """Arguments whose types the text already gave.

    raw: the text they were read from, if it says what the value no longer does: a key that stood twice, `3.20` where
    text is wanted, a path whose backslashes were taken for escapes (`telling`), quotes and commas that were mended.
    """
    checked = _checked(value, schema, rules)
    if raw:
        read_again = _without_call(repair(raw, schema, rules=rules))
        if read_again.refusal is not None and read_again.refusal.code == "duplicate_conflict":
            return read_again
        # A call under keys that repair does not know is read whole, as if it were the arguments.
        is_same = (
            checked.arguments is None
            or read_again.arguments is None
            or (checked.arguments.keys() == read_again.arguments.keys())
        )
        if read_again.refusal is None and is_same:
            return read_again
    return checked


def _without_call(reading: Repaired) -> Repaired:
    """A reading of a whole call without the code for having found the arguments in it: there they belong."""
    repairs = tuple(one for one in reading.repairs if one.code != "unwrapped")
    if len(repairs) == len(reading.repairs) or reading.refusal is not None:
        return replace(reading, repairs=repairs)
    return replace(reading, repairs=repairs, confidence=confidence_of(repairs), status="repaired" if repairs else "ok")


def check_pairs(pairs: list[tuple[str, Json]]) -> Repaired:
    """Arguments whose types are known, without a schema; a name may stand twice."""
    if any(depth_of(value, LIMITS.nesting_max) >= LIMITS.nesting_max for _, value in pairs):
        return _refused([Refusal(code="too_deep")])
    return _settled(Members([(key, node_of(value)) for key, value in pairs]), None, Work())


def _checked(value: Json, schema: ToolSchema | None, rules: Rules) -> Repaired:
    if depth_of(value, LIMITS.nesting_max) > LIMITS.nesting_max:
        return _refused([Refusal(code="too_deep")])
    if isinstance(value, str):
        return repair(value, schema, rules=rules)
    if not isinstance(value, dict):
        return _refused([Refusal(code="no_call_found")], value)
    work = Work(tool=schema.name if schema else "", rules=rules)
    node = node_of(value)
    assert isinstance(node, Members)
    return _settled(node, schema, work)


def coerce_params(params: tuple[Param, ...], schema: ToolSchema | None, *, rules: Rules = NO_RULES) -> Repaired:
    """Arguments out of parameters whose grammar leaves their types to the schema."""
    work = Work(tool=schema.name if schema else "", rules=rules)
    pairs: list[tuple[str, Node]] = [
        (param.key, param.value if param.type == "string" else Loose(param.value)) for param in params
    ]
    return _settled(Members(pairs), schema, work)


def _settled(node: Members, schema: ToolSchema | None, work: Work) -> Repaired:
    spec: Spec = schema.root if schema else ANY
    arguments = fit_object(node, spec, "", work)
    if not work.problems and schema is not None and not schema.is_valid(arguments):
        work.problems += invalid(arguments, schema)
    if work.problems:
        return _refused(work.problems, arguments, work)
    if not work.repairs:
        return Repaired(status="ok", arguments=arguments)
    confidence = confidence_of(work.repairs)
    return Repaired(status="repaired", arguments=arguments, confidence=confidence, repairs=tuple(work.repairs))


def invalid(arguments: JsonObject, schema: ToolSchema) -> list[Refusal]:
    """What the validator has against a value, as refusals."""
    found = []
    for error in schema.validator.iter_errors(arguments):
        kind = type(error.kind).__name__.split("_")[-1]
        path = "".join(f"/{step}" for step in error.instance_path)
        found.append(
            Refusal(code=_CODES.get(kind, "constraint_failed"), path=path, message=error.message[:200].rstrip("."))
        )
    return found or [Refusal(code="constraint_failed")]


_CODES = {
    "Minimum": "out_of_range", "Maximum": "out_of_range", "ExclusiveMinimum": "out_of_range",
    "ExclusiveMaximum": "out_of_range", "MultipleOf": "out_of_range", "MinItems": "out_of_range",
    "MaxItems": "out_of_range", "MinLength": "out_of_range", "MaxLength": "out_of_range",
    "Required": "missing_required", "Enum": "enum_no_match", "Const": "enum_no_match", "Format": "format_mismatch",
    "Type": "wrong_type",
}  # fmt: skip


def _refused(problems: list[Refusal], candidate: Json = None, work: Work | None = None) -> Repaired:
    repairs = tuple(work.repairs) if work else ()
    return Repaired(status="refused", confidence=0.0, repairs=repairs, refusal=refusal_of(problems, candidate))
