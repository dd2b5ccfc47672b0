"""A failure with excerpts of raw text → the same without the pieces of values that the excerpts' edges cut through.

Half of a phone number is not found by any rule, so what stands at a cut edge and may be a piece of a value is dropped
before the rest is cleaned. Plain words at the edge stay: the learner reads them.
"""

import re
from dataclasses import replace

from processors.limits import ENDING_CHARS, LIMITS
from processors.pii.stream import open_from
from schemas.failure import Failure, FailureCode
from schemas.jsonvalue import Json

WHOLE_CHARS = 48
"""Shorter texts are whole: the shortest cut made is longer."""
_CUT_BEFORE = frozenset({"before"})
"""Excerpts that end where something was found, and were cut at their beginning."""
_ENDINGS = frozenset({FailureCode.MISSING_CLOSE, FailureCode.STRAY_CLOSE})
"""Failures that quote the end of a call."""
_head = re.compile(r"(?:[^\s\"'<>{}|]*[0-9@._/+=#%&!-][^\s\"'<>{}|]*[ -]?){1,12}").match


def without_cut_values(failure: Failure) -> Failure:
    """The same failure; the same object when no edge holds a piece of a value."""
    found = failure.found
    if len(found) >= LIMITS.excerpt_chars_max:
        found = _without_tail(found)
    if failure.code in _ENDINGS and len(found) == ENDING_CHARS:
        found = _without_head(found)
    context = failure.context
    if context:
        context = {name: _trimmed(name, value) for name, value in context.items()}
    if found == failure.found and context == failure.context:
        return failure
    return replace(failure, found=found, context=context)


def _trimmed(name: str, value: Json) -> Json:
    if not isinstance(value, str) or len(value) < WHOLE_CHARS:
        return value
    if name in _CUT_BEFORE:
        return _without_head(value)
    return _without_tail(value)


def _without_head(text: str) -> str:
    head = _head(text)
    return text[head.end() :] if head else text


def _without_tail(text: str) -> str:
    start = open_from(text)
    return text if text[start:].strip().isalpha() else text[:start]
