"""What faults are made of: the table they stand in, tests of a parameter, values written as they are."""

# ruff: noqa: ARG001 - tests and makers of a table take the same arguments, used or not
import json
import random
from collections.abc import Callable

from benchmarks.damage.calls import Row

Fault = Callable[[Row], bool]
"""Damages a row, or says that it can't: then the row is thrown away."""


def fault(table: dict[str, Fault]) -> Callable:
    def add(function: Callable) -> Callable:
        table[function.__name__] = function
        return function

    return add


def is_int(key: str, spec: dict) -> bool:
    return spec.get("type") == "integer"


def is_number(key: str, spec: dict) -> bool:
    return spec.get("type") in ("integer", "number")


def is_float(key: str, spec: dict) -> bool:
    return spec.get("type") == "number"


def is_bool(key: str, spec: dict) -> bool:
    return spec.get("type") == "boolean"


def is_enum(key: str, spec: dict) -> bool:
    return "enum" in spec


def is_date(key: str, spec: dict) -> bool:
    return spec.get("format") == "date"


def is_text(key: str, spec: dict) -> bool:
    return spec.get("type") == "string" and "enum" not in spec and "format" not in spec


def is_array(key: str, spec: dict) -> bool:
    return spec.get("type") == "array"


def is_object(key: str, spec: dict) -> bool:
    return spec.get("type") == "object" and "properties" in spec


def replaced(row: Row, test: Callable, make: Callable) -> bool:
    key = row.pick(test)
    if key is None:
        return False
    written, right = make(key, row.props[key], row.args[key], row.rng)
    row.args[key] = written
    if right is REFUSE:
        return True
    row.want[key] = right
    return True


REFUSE = object()


class Raw(str):
    """A value written into the text as it is."""

    __slots__ = ()


def dumped(value: object, rng: random.Random, indent: int | None = None) -> str:
    marks: dict[str, str] = {}

    def marked(one: object) -> object:
        if isinstance(one, Raw):
            mark = f"@@{len(marks)}@@"
            marks[f'"{mark}"'] = str(one)
            return mark
        if isinstance(one, dict):
            return {key: marked(inner) for key, inner in one.items()}
        return [marked(inner) for inner in one] if isinstance(one, list) else one

    text = json.dumps(marked(value), ensure_ascii=rng.random() < 0.1, indent=indent)
    for mark, raw in marks.items():
        text = text.replace(mark, raw)
    return text


def has_raw(row: Row) -> bool:
    return any(isinstance(value, Raw) for value in row.args.values())


def misspelt(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    return rng.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ]
    )
