"""Several obstacles → the one refusal that explains them, with a sentence that the model can act on."""

from schemas.jsonvalue import Json
from schemas.toolcall import Refusal

MESSAGES = {
    "too_large": "The arguments are longer than this system reads; send less.",
    "too_deep": "The arguments are nested deeper than this system reads; send them flat.",
    "unreadable": "Between or behind the parameters stands text that is neither name nor value; send strict JSON.",
    "two_objects": "There are {detail} different argument objects; send one call for each.",
    "elided_items": "Items of {where} were left out with an ellipsis; write all of them.",
    "duplicate_conflict": "The key {where} stands twice with different values; send it once.",
    "truncated_required": "The text breaks off before the required parameter {where}; send the whole call again.",
    "truncated_array": "The text breaks off inside the list {where}; send the whole call again.",
    "truncated_number": "The text breaks off at the number {where}, digits may be missing; send the whole call again.",
    "truncated_text": "The text breaks off inside {where}; send the whole call again.",
    "placeholder": "{where} holds a placeholder; send the real value, or ask for it.",
    "range_from_single_date": "{where} needs a period with a start and an end, but only one day was given; send both.",
    "ambiguous_names": "The names given at {where} could stand for several parameters; use the schema's own names.",
    "null_required": "The required parameter {where} is null; send a value.",
    "not_a_number": "{where} must be a number; send digits.",
    "unit_incompatible": "{where} can't be read as a number in its unit; send the bare number.",
    "fraction_for_integer": "{where} must be a whole number; send one without a fraction.",
    "boolean_unclear": "{where} must be true or false; send one of them.",
    "date_day_month_unclear": "In {where} day and month can't be told apart; send YYYY-MM-DD.",
    "date_unresolved": "{where} isn't a day of the calendar; send YYYY-MM-DD.",
    "enum_ambiguous": "{where} could mean several of the allowed values ({detail}); send one of them.",
    "enum_no_match": "{where} is none of the allowed values ({detail}); send one of them.",
    "many_for_one": "{where} takes one value, but several were given; send one.",
    "out_of_range": "{where} is outside of its limits: {detail}.",
    "wrong_type": "{where} is of another type than its schema says: {detail}.",
    "format_mismatch": "{where} doesn't have the format of its schema: {detail}.",
    "missing_required": "The required parameter {where} is missing; send it.",
    "constraint_failed": "The arguments break their schema: {detail}.",
    "no_call_found": "No argument object was found; send one JSON object.",
}
"""Code → sentence, causes before their effects: a cut text lacks parameters because it was cut."""
_RANK = {code: place for place, code in enumerate(MESSAGES)}


def refusal_of(problems: list[Refusal], candidate: Json) -> Refusal:
    """The cause among several obstacles, with the best candidate and its sentence."""
    cause = min(problems, key=lambda problem: _RANK[problem.code])
    where = f"`{cause.path.removeprefix('/')}`" if cause.path else "the call"
    message = MESSAGES[cause.code].format(where=where, detail=cause.message or cause.candidate or "")
    return Refusal(code=cause.code, path=cause.path, candidate=candidate, message=message)
