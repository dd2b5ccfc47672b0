"""Text → number, as the schema needs it: grouping, units, magnitudes, percent, arithmetic, words.

Exact decimals throughout, so that `800m` as kilometres is 0.8 and no digit is lost on the way.
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from processors.repair.toolschema import Spec
from processors.repair.words import WORDS, Unit, fold, tokens

TEXT_MAX = 80
"""Longest text read as a number, in characters; longer ones are prose."""
EXPONENT_MAX = 307
"""Largest power of ten read: beyond it a 64-bit float has no value."""
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?\Z")
_BASED = re.compile(r"([+-]?)0([xXoObB])([0-9a-fA-F_]+)\Z")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([,'’ _\u00a0\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?\Z")
_UNDERSCORED = re.compile(r"[+-]?\d+(?:_\d+)+(?:\.\d+)?\Z")
_CONTINENTAL = re.compile(
    r"[+-]?(?:\d{1,3}(?:[. \u00a0\u202f]\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+,(?:\d{1,2}|\d{4,}))\Z"
)
_AMOUNT = r"[+-]?(?:\d[\d,.'’_\u00a0\u202f ]*\d|\d|\.\d+)"
_WITH_UNIT = re.compile(rf"({_AMOUNT})\s*([^\d\s+\-*/(][^\d]{{0,30}})\Z", re.DOTALL)
_UNIT_FIRST = re.compile(rf"([€$£¥₹]|[A-Za-z]{{2,3}}\$?)\s?({_AMOUNT})\Z")
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([^\d\s,.]+)[\s,]*(?:and |und |et |y )?")
_SUM = re.compile(r"[\d.\s+*/()-]{3,}\Z")
_SUM_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[()+*/-])")
_SPACED_MINUS = re.compile(r"(?<=\s)-(?=\s)")
_DIGIT = re.compile(r"[\d一二三四五六七八九十百千两半几数]")
_NOT_FINITE = frozenset({"nan", "infinity", "inf", "-infinity", "-inf", "+infinity", "+inf", "-nan"})
_SHARE = re.compile(
    r"\b(?:share|fraction|ratio|probability|proportion|between 0 and 1|0 to 1|0-1|0\.\.1)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A number and how it was read, or why it wasn't."""

    value: int | float | None
    code: str = ""
    problem: str = ""


def read_number(text: str, spec: Spec) -> Reading:
    """The number that a text means at a place; `problem` is a refusal code."""
    text = unicodedata.normalize("NFKC", text[: TEXT_MAX + 1]).strip().replace("\u2212", "-")
    if text.casefold() in _NOT_FINITE:
        return Reading(None, problem="not_a_number")
    if len(text) > TEXT_MAX:
        return Reading(None, problem="unit_incompatible")
    exact, code = _plain(text)
    if exact is None:
        exact, code = _with_unit(text, spec)
    if exact is None:
        exact, code = _in_words(text)
    if exact is None:
        return Reading(None, problem=code or _why_not(text))
    return _finished(exact, code, spec)


def _why_not(text: str) -> str:
    has_number = _DIGIT.search(text) or any(fold(word) in WORDS.numbers for word in text.split())
    return "unit_incompatible" if has_number else "not_a_number"


def _finished(exact: Decimal, code: str, spec: Spec) -> Reading:
    if exact.adjusted() > EXPONENT_MAX:
        return Reading(None, problem="not_a_number")
    is_whole = exact == exact.to_integral_value()
    if is_whole and (spec.types == {"integer"} or "." not in str(exact)):
        return Reading(int(exact), "int_from_string" if code == "number_from_string" else code)
    if not spec.wants("number") or spec.types == {"integer"}:
        return Reading(None, problem="fraction_for_integer")
    return Reading(float(exact), code or "number_from_string")


def decimal_of(text: str) -> Decimal | None:
    """A number written as JSON or a close relative (`.5`, `90.`, `+3`, `0x1e`), exactly."""
    if _PLAIN.match(text):
        return Decimal(text)
    if based := _BASED.match(text):
        base = {"x": 16, "o": 8, "b": 2}[based[2].lower()]
        digits = based[3].replace("_", "")
        if digits and all(int(digit, 16) < base for digit in digits):
            return Decimal(int(digits, base) * (-1 if based[1] == "-" else 1))
    return None


def _plain(text: str) -> tuple[Decimal | None, str]:
    if (exact := decimal_of(text)) is not None:
        return exact, "number_from_string"
    if _GROUPED.match(text) or _UNDERSCORED.match(text):
        return Decimal(re.sub(r"[,'’ _\u00a0\u202f]", "", text)), "number_grouped"
    if _CONTINENTAL.match(text):
        whole, _, rest = text.partition(",")
        return Decimal(re.sub(r"[. \u00a0\u202f]", "", whole) + "." + (rest or "0")), "number_decimal_comma"
    return _sum(text)


def _in_words(text: str) -> tuple[Decimal | None, str]:
    value = WORDS.numbers.get(fold(text))
    return (None, "") if value is None else (Decimal(value), "number_word")


def _with_unit(text: str, spec: Spec) -> tuple[Decimal | None, str]:
    """A number with a word behind it (or a currency before it), in the unit of the place."""
    found = _WITH_UNIT.match(text)
    amount, word = (found[1], found[2].strip()) if found else ("", "")
    if not found and (turned := _UNIT_FIRST.match(text)):
        amount, word = turned[2], turned[1]
    if not word:
        return _compound(text, spec)
    exact = _plain(amount.strip())[0]
    if exact is None:
        return _compound(text, spec)
    return _in_unit(exact, word, spec)


def _in_unit(exact: Decimal, word: str, spec: Spec) -> tuple[Decimal | None, str]:
    wanted = unit_by_id(spec.unit)
    unit = WORDS.unit(word, wanted.kind if wanted else "")
    if unit and unit.kind == "percent":
        return _percent(exact, spec)
    if unit and wanted and unit.kind == wanted.kind:
        if unit == wanted:
            return exact, "unit_stripped"
        return _rounded(((exact * unit.size + unit.shift) - wanted.shift) / wanted.size), "unit_converted"
    if wanted is None or wanted.kind in {"eur", "usd", "gbp", "jpy", "cny", "chf"}:
        magnitude = WORDS.magnitudes.get(word)
        if magnitude and (unit is None or word in {"k", "K", "M", "B"}):
            return exact * magnitude, "magnitude_expanded"
    if unit is None and fold(word) in _own_words(spec):
        return exact, "unit_stripped"
    return None, "unit_incompatible"


def _compound(text: str, spec: Spec) -> tuple[Decimal | None, str]:
    """`1h 30m`: parts of one kind, added up."""
    wanted = unit_by_id(spec.unit)
    if wanted is None or not text[:1].isdigit():
        return None, ""
    total, place = Decimal(0), 0
    while found := _PART.match(text, place):
        unit = WORDS.unit(found[2], wanted.kind)
        if unit is None or unit.kind != wanted.kind:
            return None, "unit_incompatible"
        total += Decimal(found[1]) * unit.size
        place = found.end()
    return (_rounded(total / wanted.size), "unit_converted") if place == len(text) > 0 else (None, "unit_incompatible")


def _rounded(exact: Decimal) -> Decimal:
    """To 12 places, so that a third of a degree doesn't look more exact than its factor."""
    return round(exact, 12).normalize() + 0


def _own_words(spec: Spec) -> set[str]:
    words = {*tokens(spec.name), *tokens(spec.description)}
    return {fold(word) for word in words} | {fold(word).removesuffix("s") for word in words}


def _percent(exact: Decimal, spec: Spec) -> tuple[Decimal | None, str]:
    if (spec.maximum is not None and spec.maximum <= 1) or (spec.maximum is None and _SHARE.search(spec.description)):
        return exact / 100, "percent_to_share"
    if spec.unit == "percent" or spec.maximum == 100:
        return exact, "unit_stripped"
    return None, "unit_incompatible"


def unit_by_id(unit: str) -> Unit | None:
    """The unit with this id."""
    found = [one for one in WORDS.units.get(unit, ()) if one.id == unit]
    return found[0] if found else None


def _sum(text: str) -> tuple[Decimal | None, str]:
    """`60 * 5`: literals, the four operators, brackets; a minus needs blanks, else it's a range or a date."""
    if not _SUM.match(text) or not re.search(r"\d\s*[*/+]\s*[\d(]|\d\s+-\s+[\d(]", text):
        return None, ""
    if "-" in _SPACED_MINUS.sub("", text) or re.search(r"\d/\d+/\d", text):
        return None, ""
    try:
        value = _evaluate([part for part in _SUM_TOKEN.findall(text) if part])
    except (ZeroDivisionError, InvalidOperation, IndexError):  # 1/0, or brackets that don't match
        return None, ""
    if value is None or value < 0:
        return None, ""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact, "arithmetic_evaluated"


_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2}


def _evaluate(parts: list[str]) -> Fraction | None:
    values: list[Fraction] = []
    pending: list[str] = []
    for part in [*parts, ")"] if parts.count("(") == parts.count(")") else ():
        if part[0].isdigit():
            values.append(Fraction(part))
        elif part == "(":
            pending.append(part)
        else:
            while pending and pending[-1] != "(" and _STRENGTH[pending[-1]] >= _STRENGTH.get(part, 0):
                _apply(pending.pop(), values)
            if part == ")" and pending:
                pending.pop()
            elif part != ")":
                pending.append(part)
    return values[0] if len(values) == 1 and not pending else None


def _apply(operator: str, values: list[Fraction]) -> None:
    right, left = values.pop(), values.pop()
    match operator:
        case "+":
            values.append(left + right)
        case "-":
            values.append(left - right)
        case "*":
            values.append(left * right)
        case _:
            values.append(left / right)
