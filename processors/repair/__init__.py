"""Damaged argument text → arguments that fit the tool's schema, or a refusal that says why."""

from processors.repair.confidence import confidence_of
from processors.repair.plain_types import SchemaError
from processors.repair.repairing import check, check_pairs, coerce_params, repair
from processors.repair.rules import NO_RULES, RuleBook, RuleError, Rules, rules_of
from processors.repair.spans import spans_of
from processors.repair.strict import telling
from processors.repair.toolschema import ToolSchema, compile_tool
from processors.repair.work import Repaired

__all__ = [
    "NO_RULES", "Repaired", "RuleBook", "RuleError", "Rules", "SchemaError", "ToolSchema", "check", "check_pairs",
    "coerce_params", "compile_tool", "confidence_of", "repair", "rules_of", "spans_of", "telling",
]  # fmt: skip
