"""A call and where it came from → the context of its failure: what a rule or a pattern could be learned from.

Of a repair: where, by which code, the word as written and what it became. Values longer than a rule may match are left
out; personal data are taken out of the whole failure by the clean stage.
"""

from itertools import islice

from processors.repair.rules import WORD_CHARS_MAX
from processors.tools.toolbox import Toolbox
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import Segment
from schemas.token import Meta
from schemas.toolcall import Repair, ToolCall

TOOL_NAMES_MAX = 50
"""Names of tools that a failure carries."""
REPAIRS_MAX = 20


def lesson_of(segment: Segment, call: ToolCall | None, toolbox: Toolbox, meta: Meta) -> JsonObject:
    """What a failure says about its call, beside the text."""
    context: JsonObject = {
        "tools": list(islice(toolbox.names(), TOOL_NAMES_MAX)),
        "format": segment.format,
        "dialect": segment.call.dialect if segment.call else None,
        "model": meta.model,
        "tenant": meta.tenant,
    }
    if call is None:
        return context
    repairs = [_repair(repair, call) for repair in call.repairs[:REPAIRS_MAX]]
    return context | {
        "call": call.id,
        "tool": call.name,
        "requested": call.requested_name,
        "candidates": [candidate["name"] for warning in call.warnings for candidate in warning.candidates],
        "repairs": repairs,
    }


def _repair(repair: Repair, call: ToolCall) -> JsonObject:
    value = at(call.arguments, repair.path)
    is_word = isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= WORD_CHARS_MAX)
    return {
        "code": repair.code,
        "path": repair.path,
        "rule": repair.rule,
        "written": repair.detail,
        "became": value if is_word else None,
    }


def at(value: Json, pointer: str) -> Json:
    """What stands at a JSON pointer; None where nothing does."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and len(key) < 9 and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
