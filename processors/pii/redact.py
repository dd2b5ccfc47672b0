"""Text or JSON value → the same with placeholders, and what stood where."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from processors.limits import LIMITS
from processors.pii.find import find_pii
from processors.pii.rules import SHIPPED, PiiRules
from processors.pii.span import PiiSpan
from schemas.jsonvalue import Json, JsonObject

Naming = Callable[[str, str], str]
"""Type and original → placeholder."""

_after_key = re.compile(r'[{,](?:\s|\\+n){0,32}(\\*")[\w .-]{1,40}\1\s{0,8}:\s{0,8}\Z').search
_KEY_CHARS = 120
_GROUPED = frozenset(
    {"phone", "id_card", "credit_card", "bank_card", "iban", "us_ssn", "passport", "license_plate", "mac"}
)
"""Types whose values are written with marks or without; in others marks tell values apart: `10.1.11.1`, `10.11.1.1`."""


def plain(type_: str, _original: str) -> str:
    """`phone` → `[PHONE_REDACTED]`."""
    return f"[{type_.upper()}_REDACTED]"


class Numbered:
    """Placeholders in which the same value has the same number: `[PHONE_1_REDACTED]`."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def __call__(self, type_: str, original: str) -> str:
        known = self._numbers.setdefault(type_, {})
        value = original.casefold()
        if type_ in _GROUPED:
            value = "".join(filter(str.isalnum, value))
        number = known.setdefault(value, len(known) + 1)
        return f"[{type_.upper()}_{number}_REDACTED]"


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without personal data, and the spans of the original text."""

    text: str
    spans: tuple[PiiSpan, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One value found inside a JSON value."""

    path: str
    """JSON pointer of the string, number or key."""
    span: PiiSpan
    original: str
    was_text: bool
    """False where a number was replaced, so that the type changed."""


def redact(text: str, rules: PiiRules = SHIPPED, naming: Naming = plain) -> Redacted:
    """The text with a placeholder for each span; a number that is a JSON value becomes a JSON string."""
    spans = find_pii(text, rules)
    return Redacted(replaced(text, spans, naming), tuple(spans)) if spans else Redacted(text, ())


def replaced(text: str, spans: list[PiiSpan], naming: Naming) -> str:
    """The text with a placeholder for each of the spans."""
    parts: list[str] = []
    seen = 0
    for span in spans:
        quote = quote_for(text, span)
        parts += (text[seen : span.start], quote, naming(span.type, text[span.start : span.end]), quote)
        seen = span.end
    parts.append(text[seen:])
    return "".join(parts)


def quote_for(text: str, span: PiiSpan) -> str:
    """The quotation mark, escaped as its key's, that a placeholder needs where a bare number was a JSON value."""
    if not text[span.start].isdigit():
        return ""
    key = _after_key(text[max(0, span.start - _KEY_CHARS) : span.start])
    return key[1] if key is not None else ""


def redact_json(value: Json, rules: PiiRules = SHIPPED, naming: Naming = plain) -> tuple[Json, list[Finding]]:
    """A JSON value with each string cleaned, JSON in strings included; keys are read as cues and cleaned too.

    Deeper than `nesting_max` nothing is passed on: the part becomes a placeholder.
    """
    if _is_clean(value, rules):
        return value, []
    walk = _Walk(rules, naming, [])
    return walk.cleaned(value, "", "", LIMITS.nesting_max), walk.findings


def _is_clean(value: Json, rules: PiiRules) -> bool:
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # raised for lone surrogates, integers over 64 bits and nesting that orjson does not write
        return False
    return not find_pii(text, rules)


@dataclass(frozen=True, slots=True)
class _Walk:
    rules: PiiRules
    naming: Naming
    findings: list[Finding]

    def cleaned(self, value: Json, path: str, key: str, depth: int) -> Json:
        if isinstance(value, str):
            return self._text(value, path, key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value, path, key)
        if isinstance(value, dict | list | tuple) and depth == 0:
            return self.naming("nesting", path)
        if isinstance(value, dict):
            cleaned: JsonObject = {}
            same: Counter[str] = Counter()
            for name, item in value.items():
                clean_name = self._text(str(name), f"{path}/(key)", "")
                while clean_name in cleaned:  # two keys that became the same by cleaning
                    same[clean_name] += 1
                    clean_name = f"{clean_name} {same[clean_name] + 1}"
                below = f"{path}/{clean_name.replace('~', '~0').replace('/', '~1')}"
                cleaned[clean_name] = self.cleaned(item, below, key if name == "value" else str(name), depth - 1)
            return cleaned
        if isinstance(value, list | tuple):
            return [self.cleaned(item, f"{path}/{at}", key, depth - 1) for at, item in enumerate(value)]
        return value

    def _number(self, value: float, path: str, key: str) -> Json:
        text = repr(value)
        lead = f'"{key}": '
        spans = [span for span in find_pii(lead + text, self.rules) if span.end > len(lead)]
        if not spans:
            return value
        span = PiiSpan(0, len(text), spans[0].type, spans[0].rule)
        self.findings.append(Finding(path, span, text, was_text=False))
        return self.naming(span.type, text)

    def _text(self, text: str, path: str, key: str) -> str:
        lead = f'"{key}": "' if key else ""
        found = [span for span in find_pii(lead + text, self.rules) if span.end > len(lead)] if text else []
        if not found:
            return text
        shift = len(lead)
        spans = [PiiSpan(max(0, span.start - shift), span.end - shift, span.type, span.rule) for span in found]
        for span in spans:
            self.findings.append(Finding(path, span, text[span.start : span.end], was_text=True))
        return replaced(text, spans, self.naming)
