"""Several obstacles → the one refusal that explains them, with a sentence that the model can act on."""

from schemas.toolcall import Refusal

ORDER = (
    "too_large", "too_deep", "two_objects", "elided_items", "duplicate_conflict", "truncated_required",
    "truncated_array", "truncated_number", "truncated_text", "placeholder", "range_from_single_date",
    "ambiguous_names", "null_required", "not_a_number", "unit_incompatible", "fraction_for_integer",
    "boolean_unclear", "date_day_month_unclear", "date_unresolved", "enum_ambiguous", "enum_no_match",
    "many_for_one", "out_of_range", "wrong_type", "format_mismatch", "missing_required", "constraint_failed",
    "no_call_found",
)  # fmt: skip
"""Causes before their effects: a cut text lacks parameters because it was cut."""


def refusal_of(problems: list[Refusal]) -> Refusal:
    """The cause among several obstacles."""
    return min(problems, key=lambda problem: ORDER.index(problem.code))
