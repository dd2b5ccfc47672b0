"""One token → one value of the type its place wants: number, boolean, enum member, date, text."""

import re
from typing import Final

from processors.repair.match_enum import match_known, match_near
from processors.repair.moment import is_moment
from processors.repair.nodes import LITERALS, NULLS, Bare, Cut, Escaped, Loose
from processors.repair.placeholder import is_placeholder
from processors.repair.read_date import is_full_date, read_date, read_moment
from processors.repair.read_number import decimal_of, read_number
from processors.repair.rules import Rule
from processors.repair.toolschema import Spec
from processors.repair.words import WORDS, fold
from processors.repair.work import Work
from schemas.jsonvalue import Json

_BOOLEAN = frozenset({"boolean"})


class Absent:
    """Stands for a value that is none: `null` where the schema has no null."""


ABSENT: Final = Absent()
_SHORT_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?\Z", re.ASCII)
"""A number that needs no care: JSON's own form, and few enough digits."""
_DRIVE = re.compile(r"[A-Za-z]:\\")
_WINDOWS_PATH = re.compile(r"[A-Z]:(?:\\\w[\w.()-]*)+\\?\Z")


def is_null(node: Json, spec: Spec) -> bool:
    """Whether a token says that there is no value."""
    if node is None:
        return True
    if isinstance(node, Bare):
        return node in NULLS and not spec.index.find(str(node))
    if not isinstance(node, str) or spec.index.find(str(node)):
        return False
    if isinstance(node, Loose) and spec.nullable and node.strip() in NULLS:
        return True
    return not (spec.wants("string") and not spec.enum and not spec.format) and (node in NULLS or not node.strip())


def fit_scalar(node: Json, spec: Spec, path: str, work: Work) -> Json:
    """The value of a token at a place that wants a scalar."""
    if rule := work.rules.find("value_alias", work.tool, path, str(node)):
        work.note("rule", path, rule.id)
        return rule.action
    if spec.enum:
        return _fit_enum(node, spec, path, work)
    if isinstance(node, Loose):
        return _fit_loose(node, spec, path, work)
    if isinstance(node, str) and not isinstance(node, Bare) and spec.wants("string"):
        return _fit_text(node, spec, path, work)
    if isinstance(node, bool) or (isinstance(node, Bare) and node in LITERALS):
        return _fit_literal(node, spec, path, work)
    if isinstance(node, Bare):
        return _fit_bare(node, spec, path, work)
    if isinstance(node, int | float):
        return _fit_number(node, spec, path, work)
    return _from_text(node, spec, path, work)


def _fit_enum(node: Json, spec: Spec, path: str, work: Work) -> Json:
    if member := spec.index.find(str(node) if isinstance(node, str) else node):
        if isinstance(node, Bare):
            work.note("auto_quoted_values", path)
        return member[0]
    text = node.plain if isinstance(node, Escaped) else str(node)
    if isinstance(node, Escaped) and not node.is_valid:
        work.note("backslash_dropped", path)
    written = decimal_of(text.strip())
    number = spec.index.number(written) if written is not None else None
    if number is not None:
        if not isinstance(node, Bare | Loose):
            work.note("number_from_string", path)
        return number
    match = match_known(text, spec)
    if match is None:
        if not work.may_try(len(spec.enum)):
            return work.refuse("too_large", path)
        match = match_near(text, spec)
    if not match.problem:
        if match.code or isinstance(node, Bare):
            work.note(match.code or "auto_quoted_values", path, said=text if match.code else None)
        return match.member
    if is_placeholder(text, spec):
        work.refuse("placeholder", path, text)
    else:
        shown = match.near if match.problem == "enum_ambiguous" else spec.enum
        listed = ", ".join(str(member) for member in (shown or spec.enum)[:12])
        work.refuse(match.problem, path, text, listed)
    return text


def _fit_text(node: str, spec: Spec, path: str, work: Work) -> Json:
    if isinstance(node, Escaped):
        text = _backslashes(node, spec, path, work)
    else:
        text = str(node)
    if is_placeholder(text, spec) or work.rules.find("placeholder", work.tool, path, text):
        work.refuse("placeholder", path, text)
    if spec.format in {"date", "date-time"}:
        return _fit_date(text, spec, path, work)
    return text


def _backslashes(node: Escaped, spec: Spec, path: str, work: Work) -> str:
    is_drive = bool(_WINDOWS_PATH.match(node)) if node.is_valid and not spec.is_path else bool(_DRIVE.match(node))
    keeps = spec.is_path or spec.is_pattern or is_drive or node.startswith("\\\\")
    if spec.is_pattern and node.is_valid and not {"\b", "\f"} & set(node.plain):
        keeps = False
    if keeps and not (node.is_valid and not (is_drive or spec.is_pattern)):
        work.note("backslash_kept", path)
        return str(node)
    if not node.is_valid:
        work.note("backslash_dropped", path)
    return node.plain


def _fit_date(text: str, spec: Spec, path: str, work: Work) -> Json:
    if (is_full_date if spec.format == "date" else is_moment)(text):
        return text
    reading = read_date(text) if spec.format == "date" else read_moment(text)
    if reading.problem == "date_day_month_unclear" and (rule := _date_order(text, path, work)):
        work.note("rule", path, rule.id)
        return read_date(text, str(rule.action)).text
    if spec.format == "date" and reading.problem:
        work.refuse(reading.problem, path, text)
    elif reading.text and reading.text != text:
        work.note("date_normalised", path)
        return reading.text
    return text


def _date_order(text: str, path: str, work: Work) -> Rule | None:
    """The learned rule that says which of day and month comes first here; it matches the shape, digits as `9`."""
    return work.rules.find("date_order", work.tool, path, re.sub(r"\d", "9", text.strip()))


def _fit_literal(node: Json, spec: Spec, path: str, work: Work) -> Json:
    value = LITERALS[node] if isinstance(node, Bare) else node
    if spec.wants("boolean"):
        if isinstance(node, Bare) and node not in {"true", "false"}:
            work.note("python_literal", path)
        return value
    if spec.wants("string"):
        work.note("string_from_literal", path)
        return str(node) if isinstance(node, Bare) else str(node).lower()
    work.refuse("not_a_number", path, value)
    return value


def _fit_bare(node: Bare, spec: Spec, path: str, work: Work) -> Json:
    exact = decimal_of(node)
    if not spec.types:
        if exact is not None:
            return _fit_number(node, spec, path, work)
        work.note("auto_quoted_values", path)
        return str(node)
    if exact is not None and (spec.wants("number") or spec.wants("integer")):
        return _fit_number(node, spec, path, work)
    if spec.wants("string"):
        work.note(_quoted_code(node, exact is not None, spec), path)
        return _fit_text(str(node), spec, path, work)
    return _from_text(node, spec, path, work)


def _quoted_code(node: Bare, is_number: bool, spec: Spec) -> str:
    if is_number:
        return "string_from_number"
    return "date_kept_as_string" if not spec.format and is_full_date(node) else "auto_quoted_values"


def _fit_number(node: Json, spec: Spec, path: str, work: Work) -> Json:
    if spec.types == _BOOLEAN:
        if str(node) in {"0", "1"}:
            work.note("bool_from_word", path)
            return str(node) == "1"
        work.refuse("boolean_unclear", path, str(node))
        return node
    if not (spec.wants("number") or spec.wants("integer")):
        work.note("string_from_number", path)
        return _fit_text(str(node), spec, path, work)
    if _SHORT_NUMBER.match(str(node)) and ("." not in str(node) or spec.wants("number")):
        return float(node) if "." in str(node) else int(node)
    reading = read_number(str(node), spec)
    if reading.problem:
        work.refuse(reading.problem, path, str(node))
        return node
    if isinstance(node, Bare) and not _is_json_number(node):
        work.note("number_written_oddly", path)
    elif isinstance(reading.value, int) and not str(node).lstrip("-").isdigit() and spec.types == {"integer"}:
        work.note("int_from_float", path)
    return reading.value


def _is_json_number(text: str) -> bool:
    digits = text.removeprefix("-")
    if not digits[:1].isdigit() or text.endswith(".") or ".e" in text.lower() or digits[1:2] in tuple("xXoObB_"):
        return False
    return not (digits[0] == "0" and digits[1:2].isdigit())


def _fit_loose(node: Loose, spec: Spec, path: str, work: Work) -> Json:
    text = str(node)
    if spec.types == {"string"}:
        return _fit_text(text, spec, path, work)
    bare = text.strip()
    if bare in LITERALS and (spec.wants("boolean") or not spec.types):
        return LITERALS[bare]
    if decimal_of(bare) is not None and (spec.wants("number") or spec.wants("integer")):
        return _fit_number(Bare(bare), spec, path, work)
    if spec.wants("string"):
        return _fit_text(text, spec, path, work)
    return _from_text(text, spec, path, work)


def _from_text(node: Json, spec: Spec, path: str, work: Work) -> Json:
    """Text where the schema wants a boolean or a number."""
    text = str(node)
    if spec.wants("boolean") and (value := WORDS.booleans.get(fold(text))) is not None:
        work.note("bool_from_word", path, said=text)
        return value
    if spec.wants("number") or spec.wants("integer"):
        reading = read_number(text, spec)
        if not reading.problem:
            work.note(reading.code, path)
            return reading.value
        work.refuse("placeholder" if is_placeholder(text, spec) else reading.problem, path, text)
    else:
        work.refuse("placeholder" if is_placeholder(text, spec) else "boolean_unclear", path, text)
    return text


def is_whole(cut: Cut, spec: Spec) -> bool:
    """Whether a token in which the text ended can't go on: one enum member, a full date, a number at its maximum."""
    text = str(cut.value)
    if spec.enum:
        return [member for member in spec.enum if str(member).startswith(text)] == [text]
    if isinstance(cut.value, Bare):
        if spec.types == {"integer"} and text.isdigit() and spec.maximum is not None:
            return int(text[:20]) * 10 > spec.maximum >= int(text[:20])
        return text == "null" or (text in {"true", "false", "True", "False", "None"} and not spec.wants("string"))
    return spec.format == "date" and is_full_date(text)


def cut_code(cut: Cut) -> str:
    """The refusal code for a token that may be unfinished."""
    is_number = isinstance(cut.value, Bare) and (decimal_of(cut.value) is not None or cut.value in {"-", "+"})
    return "truncated_number" if is_number else "truncated_text"
