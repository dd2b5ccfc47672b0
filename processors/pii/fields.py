"""Any event → the same event with each of its strings cleaned, and what was taken out of which field.

Fields named in `KEPT` pass as they are: identities that the producer gave and that records are joined by, and words of
our own. All others are cleaned, so a field that is added later is cleaned without anyone thinking of it.
"""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

from processors.pii.find import find_pii
from processors.pii.redact import Finding, Naming, redact_json, replaced
from processors.pii.rules import PiiRules
from schemas.audit import Original
from schemas.jsonvalue import Json

KEPT = frozenset(
    {
        "schema", "stream_id", "run_id", "session_id", "goal_id", "tenant", "model", "provider", "format", "dialect",
        "code", "stage", "kind", "status", "strategy", "signature", "finish_reason", "now",
    }
)  # fmt: skip

T = TypeVar("T")


class FieldCleaner:
    """Cleans one event; collects the originals and, for JSON values, what was found at which path."""

    __slots__ = ("_naming", "_rules", "findings", "originals")

    def __init__(self, rules: PiiRules, naming: Naming) -> None:
        self._rules = rules
        self._naming = naming
        self.originals: list[Original] = []
        self.findings: list[Finding] = []
        """Of the fields that are JSON values; paths are pointers into the field."""

    def cleaned(self, value: T, where: str) -> T:
        """A dataclass, a tuple, a string or a JSON value; the same object when nothing was found in it."""
        return cast("T", self._value(value, where))

    def _value(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | int | float | Enum):
            return value
        if isinstance(value, str):
            return self._text(value, where)
        if is_dataclass(value):
            return self._record(value, where)
        if isinstance(value, tuple) and not any(isinstance(item, dict | list) for item in value):
            items = tuple(self._value(item, f"{where}/{at}") for at, item in enumerate(value))
            return value if all(a is b for a, b in zip(value, items, strict=True)) else items
        return self._json(value, where)

    def _record(self, record: Any, where: str) -> Any:
        changed = {}
        for name in _cleaned_fields(record.__class__):
            value = getattr(record, name)
            cleaned = self._value(value, f"{where}/{name}")
            if cleaned is not value:
                changed[name] = cleaned
        return replace(record, **changed) if changed else record

    def _text(self, text: str, where: str) -> str:
        spans = find_pii(text, self._rules)
        if not spans:
            return text
        for span in spans:
            self._note(where, (span.start, span.end), span.type, (span.rule, text[span.start : span.end]))
        return replaced(text, spans, self._naming)

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


@cache
def _cleaned_fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name not in KEPT)
