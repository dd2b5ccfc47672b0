"""Damaged argument text → arguments that fit the tool's schema, or a refusal that says why."""

from processors.repair.repairing import check, coerce_params, repair
from processors.repair.rules import NO_RULES, RuleBook, RuleError, Rules, rules_of
from processors.repair.toolschema import SchemaError, ToolSchema, compile_tool
from processors.repair.work import Repaired

__all__ = [
    "NO_RULES", "Repaired", "RuleBook", "RuleError", "Rules", "SchemaError", "ToolSchema", "check", "coerce_params",
    "compile_tool", "repair", "rules_of",
]  # fmt: skip
