"""Any event → the same event with each of its strings cleaned, and what was taken out of which field.

Fields named in `KEPT` pass as they are: identities that the producer gave and that records are joined by, and our own
signature, which holds no content. All others are cleaned, so a field that is added later is cleaned without anyone
thinking of it.

In names and ids `_`, `.` and the like stand between words, so there they are boundaries of values (`call_10.2.3.4`).
What is found only that way is known from then on: the same value is replaced in the other fields of the event and in
what follows in the stream, where nothing says what it is.
"""

import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from processors.pii.find import find_pii
from processors.pii.overlaps import merged
from processors.pii.redact import Finding, Naming, redact_json, replaced
from processors.pii.rules import PiiRules
from processors.pii.span import PiiSpan
from schemas.audit import Original
from schemas.jsonvalue import Json

KEPT = frozenset({"schema", "stream_id", "run_id", "session_id", "goal_id", "tenant", "signature"})
REFERENCES = frozenset({"id", "call_id", "duplicate_of", "superseded_by", "key"})
"""What other records refer to: there values are numbered, so that two that differ go on to differ."""
NAMES = REFERENCES | {"name", "requested_name"}
KNOWN_MAX = 64
"""Values that a stream remembers from its names and ids."""
KNOWN_CHARS_MIN = 7
"""Shorter ones are not looked for elsewhere: they stand in too many words by chance."""

_seam = re.compile(
    r"(?<=[A-Za-z0-9])_+(?=[A-Za-z0-9+])|(?<=[A-Za-z])[.:#/-]+(?=[0-9+])|(?<=[0-9])[.:#/-]+(?=[A-Za-z])"
).sub

_word = re.compile(r"[A-Za-z_]{0,15}\Z").match
"""A short word of letters, in which no shipped rule finds anything: the shortest run of a key has 16 characters."""

T = TypeVar("T")


class KnownValues:
    """Values found in a stream's names and ids, as one more search of `PiiRules.finders`."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[str, PiiSpan] = {}

    def __bool__(self) -> bool:
        return bool(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __call__(self, text: str) -> list[PiiSpan]:
        found = []
        for value, (_, _, type_, rule) in self._values.items():
            at = text.find(value)
            while at >= 0:
                end = at + len(value)
                if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
                    found.append(PiiSpan(at, end, type_, rule))
                at = text.find(value, end)
        return found

    def add(self, value: str, span: PiiSpan) -> None:
        """Know a value from now on; those of one stream are bounded."""
        if len(value) >= KNOWN_CHARS_MIN and len(self._values) < KNOWN_MAX:
            self._values[value] = span


class FieldCleaner:
    """Cleans one event; collects the originals and, for JSON values, what was found at which path."""

    __slots__ = ("_known", "_naming", "_numbered", "_rules", "findings", "originals")

    def __init__(self, rules: PiiRules, namings: tuple[Naming, Naming], known: KnownValues) -> None:
        """namings: for texts, and for what is referred to."""
        self._rules = _with(rules, known)
        self._naming, self._numbered = namings
        self._known = known
        self.originals: list[Original] = []
        self.findings: list[Finding] = []
        """Of the fields that are JSON values; paths are pointers into the field."""

    def cleaned(self, value: T, where: str) -> T:
        """A dataclass, a tuple, a string or a JSON value; the same object when nothing was found in it."""
        known = len(self._known)
        cleaned = self._value(value, where)
        if len(self._known) > known:  # a name or an id told a value that may stand in fields before it
            self._rules = _with(self._rules, self._known)
            cleaned = self._value(cleaned, where)
        return cast("T", cleaned)

    def _value(self, value: Any, where: str, name: str = "") -> Any:
        if value is None or isinstance(value, bool | int | float | Enum):
            return value
        if isinstance(value, str):
            if _word(value) and not self._rules.finders:
                return value
            return self._name(value, where, name) if name in NAMES else self._text(value, where)
        if is_dataclass(value):
            return self._record(value, where)
        if isinstance(value, tuple) and not any(isinstance(item, dict | list) for item in value):
            items = tuple(self._value(item, f"{where}/{at}") for at, item in enumerate(value))
            return value if all(a is b for a, b in zip(value, items, strict=True)) else items
        if isinstance(value, dict) and value and all(map(is_dataclass, value.values())):
            return self._records(value, where)
        return self._json(value, where)

    def _record(self, record: Any, where: str) -> Any:
        changed = {}
        for name in _cleaned_fields(record.__class__):
            value = getattr(record, name)
            cleaned = self._value(value, f"{where}/{name}", name)
            if cleaned is not value:
                changed[name] = cleaned
        return replace(record, **changed) if changed else record

    def _records(self, records: dict[str, Any], where: str) -> dict[str, Any]:
        """Records under their keys: those of an output's state."""
        cleaned = {
            self._name(key, where, "key"): self._value(record, f"{where}/{key}") for key, record in records.items()
        }
        is_same = all(
            a is b and was is now for (a, was), (b, now) in zip(records.items(), cleaned.items(), strict=False)
        )
        return records if is_same and len(cleaned) == len(records) else cleaned

    def _text(self, text: str, where: str) -> str:
        return self._replaced(text, find_pii(text, self._rules), where, self._naming)

    def _name(self, text: str, where: str, name: str) -> str:
        spans = find_pii(text, self._rules)
        apart = _seam(_spaces, text)
        if apart != text:
            more = find_pii(apart, self._rules)
            for span in more:
                if span not in spans:
                    self._known.add(text[span.start : span.end], span)
            spans = merged(spans, more)
        return self._replaced(text, spans, where, self._numbered if name in REFERENCES else self._naming)

    def _replaced(self, text: str, spans: list[PiiSpan], where: str, naming: Naming) -> str:
        if not spans:
            return text
        for span in spans:
            self._note(where, (span.start, span.end), span.type, (span.rule, text[span.start : span.end]))
        return replaced(text, spans, naming)

    def _json(self, value: Json, where: str) -> Json:
        cleaned, findings = redact_json(value, self._rules, self._naming)
        for finding in findings:
            span = finding.span
            self._note(where + finding.path, (span.start, span.end), span.type, (span.rule, finding.original))
        self.findings += findings
        if not findings:
            return value
        return tuple(cleaned) if isinstance(value, tuple) else cleaned

    def _note(self, where: str, span: tuple[int, int], type_: str, what: tuple[str, str]) -> None:
        rule, original = what
        self.originals.append(Original(where=where, span=span, type=type_.upper(), rule=rule, original=original))


def _with(rules: PiiRules, known: KnownValues) -> PiiRules:
    if not known or known in rules.finders:
        return rules
    return replace(rules, finders=(*rules.finders, known))


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


@cache
def _cleaned_fields(kind: Any) -> tuple[str, ...]:
    hints = get_type_hints(kind)
    return tuple(field.name for field in fields(kind) if field.name not in KEPT and _can_hold_text(hints[field.name]))


def _can_hold_text(hint: Any) -> bool:
    """Whether a value of a type may hold text; numbers, words of a closed list and what is made of them don't."""
    if get_origin(hint) is Literal or hint in {type(None), ...}:
        return False
    if inner := get_args(hint):
        return any(map(_can_hold_text, inner))
    if not isinstance(hint, type):
        return True
    return bool(_cleaned_fields(hint)) if is_dataclass(hint) else not issubclass(hint, bool | int | float | Enum)
