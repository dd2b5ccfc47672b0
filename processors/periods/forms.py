"""One parameter's schema → what it takes of a date: a day, a moment, a year, a quarter, an epoch number."""

import re
from dataclasses import dataclass
from typing import Literal

from schemas.jsonvalue import Json, JsonObject

Form = Literal["date", "moment", "year", "quarter", "month", "month_number", "year_month", "year_quarter", "epoch"]
_FORMATS: dict[str, Form] = {"date": "date", "date-time": "moment"}
Path = tuple[str, ...]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[\u4e00-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter that takes a date, or a part of one."""

    path: Path
    form: Form
    is_text: bool = True
    """Whether the schema takes text, not a number."""
    required: bool = False
    exclusive: bool = False
    """Whether the schema says that this end is not included."""
    pattern: str = ""
    milliseconds: bool = False


def plain_schema(node: Json, root: JsonObject) -> JsonObject:
    """A schema without its reference and without a null alternative."""
    if not isinstance(node, dict):
        return {}
    found: JsonObject = node
    reference = found.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Json = root
        for step in reference[2:].split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        found = target if isinstance(target, dict) and "$ref" not in target else {}
    for key in ("anyOf", "oneOf"):
        choices = found.get(key)
        if isinstance(choices, list):
            real = [one for one in choices if isinstance(one, dict) and one.get("type") != "null"]
            if len(real) == 1:
                return {**{name: value for name, value in found.items() if name != key}, **real[0]}
    return found


def type_of(node: JsonObject) -> str:
    """The type, without null."""
    kind = node.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    return kind if isinstance(kind, str) else ""


def is_exclusive(node: JsonObject) -> bool:
    """Whether the description says that an end is not included."""
    text = node.get("description")
    return isinstance(text, str) and bool(re.search(r"exclusive|not included|不含|不包含", text, re.IGNORECASE))


def slot_of(path: Path, node: JsonObject, required: bool) -> Slot | None:
    """What a single parameter takes of a date; None if it takes none."""
    kind, words = type_of(node), words_of(path[-1])
    if node.get("enum") or node.get("const") is not None:
        return None
    if kind == "string":
        form = _text_form(node, words)
        pattern = node.get("pattern")
        shown = pattern if isinstance(pattern, str) else _example(node)
        return Slot(path, form, True, required, is_exclusive(node), shown) if form else None
    if kind in ("integer", "number"):
        form = _number_form(node, words)
        is_long = (
            "ms" in words or "millis" in " ".join(words) or "millisecond" in str(node.get("description", "")).lower()
        )
        return Slot(path, form, False, required, is_exclusive(node), milliseconds=is_long) if form else None
    return None


def _example(node: JsonObject) -> str:
    """A value that the description shows."""
    text = node.get("description")
    match = re.search(r"\d{4}-?Q[1-4]|Q[1-4][- ]\d{4}|\d{4}Q[1-4]", text) if isinstance(text, str) else None
    return match.group() if match else ""


def _text_form(node: JsonObject, words: list[str]) -> Form | None:
    if node.get("format") is not None:
        return _FORMATS.get(str(node["format"]))
    told = f"{node.get('pattern', '')} {node.get('description', '')}"
    if re.search(r"Q\[1-4\]|Q\[1234\]|\d{4}-?Q[1-4]|YYYY-?Q", told):
        return "year_quarter"
    if re.search(r"T\\d|YYYY-MM-DDT|ISO.?8601 date.?time|date-time", told):
        return "moment"
    if re.search(r"\\d\{4\}-\\d\{2\}-\\d\{2\}|YYYY-MM-DD", told):
        return "date"
    if re.search(r"\\d\{4\}-\\d\{2\}|\d\{4\}-\(0\[1-9\]|YYYY-MM", told):
        return "year_month"
    if re.fullmatch(r"\^?\\d\{4\}\$? ?.*", told) and "year" in words:
        return "year"
    return "date" if words[-1] in ("date", "day") and len(words) <= 3 and "birth" not in words else None


def _number_form(node: JsonObject, words: list[str]) -> Form | None:
    if words[-1] in ("year", "quarter"):
        return "year" if words[-1] == "year" else "quarter"
    if words[-1] == "month":
        return "month_number"
    told = str(node.get("description", "")).lower()
    if words[-1] in ("timestamp", "epoch", "ts", "ms", "unix") or re.search(r"epoch|unix (time|second|ms)", told):
        return "epoch"
    return None


def snake(name: str) -> str:
    """A name in lower case with underscores."""
    return "_".join(_WORD.findall(name)).lower()


def words_of(name: str) -> list[str]:
    """The words of a name."""
    return snake(name).split("_")
