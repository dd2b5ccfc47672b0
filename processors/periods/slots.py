"""A tool's schema → where it takes dates: single days and moments, pairs, arrays of two, years with quarters or months.

A parameter is recognised by its format, by its pattern, or by its name together with its type. What is not recognised
is left alone, so a schema in other words costs a repair, never a wrong one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from processors.periods.forms import Form, Path, Slot, is_exclusive, plain_schema, slot_of, snake, type_of, words_of
from schemas.jsonvalue import Json, JsonObject

Shape = Literal["single", "pair", "array", "parts"]

DEPTH_MAX = 5
"""Nesting of objects that is searched: recorded tools stay under 4."""
SLOTS_MAX = 64
"""Most date parameters taken from one schema."""

START_WORDS = frozenset(
    "start from begin beginning since after min gte lower earliest first checkin departure".split()  # noqa: SIM905 - words read better as one text
)
END_WORDS = frozenset(
    "end to until till before max lte upper latest last thru through checkout return finish stop".split()  # noqa: SIM905 - words read better as one text
)
RANGE_NAMES = re.compile(r"(date|time|day)?_?(range|period|interval|window|span|between|timeframe)s?|dates|period|when")
BASELINE = re.compile(
    r"base|compar|previous|prior|reference|versus|against|control|benchmark|对比|基准|同期|earlier|prev"
)


@dataclass(frozen=True, slots=True)
class Group:
    """Slots that take one period together."""

    shape: Shape
    slots: tuple[Slot, ...]
    """One; or start and end; or the array; or year and quarter or month."""
    required: bool
    baseline: bool = False
    """Whether it takes what something is compared with."""


def parameters_of(schema: JsonObject) -> JsonObject:
    """The JSON Schema of a tool's arguments, from a tool in any usual wrapping."""
    for key in ("function", "parameters", "input_schema", "inputSchema"):
        inner = schema.get(key)
        if isinstance(inner, dict) and "properties" not in schema:
            return parameters_of(inner)
    return schema


def groups_of(schema: JsonObject) -> tuple[Group, ...]:
    """All places of a schema that take dates."""
    found: list[Group] = []
    for path, node, required in _objects(schema):
        found += _groups_in(path, node, required, schema)
        if len(found) >= SLOTS_MAX:
            break
    return tuple(found[:SLOTS_MAX])


def given(arguments: Json, path: Path) -> Json:
    """The value at a path; None where there is none."""
    for step in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(step)
    return arguments


def with_value(arguments: JsonObject, path: Path, value: Json) -> JsonObject:
    """The arguments with another value at a path; what lies beside the path is shared, not copied."""
    if len(path) > 1:
        inner = arguments.get(path[0])
        value = with_value(inner if isinstance(inner, dict) else {}, path[1:], value)
    return {**arguments, path[0]: value}


def _objects(schema: JsonObject) -> Iterator[tuple[Path, JsonObject, bool]]:
    """Objects of a schema with their paths, and whether the call must have them."""
    level: list[tuple[Path, JsonObject, bool]] = [((), schema, True)]
    for _ in range(DEPTH_MAX):
        yield from level
        level = [inner for path, node, required in level for inner in _inner(path, node, required, schema)][:SLOTS_MAX]


def _inner(path: Path, node: JsonObject, required: bool, root: JsonObject) -> Iterator[tuple[Path, JsonObject, bool]]:
    needed = _names(node.get("required"))
    for name, inner in _properties(node).items():
        plain = plain_schema(inner, root)
        if _properties(plain):
            yield (*path, name), plain, required and name in needed


def _properties(node: JsonObject) -> JsonObject:
    properties = node.get("properties")
    return properties if isinstance(properties, dict) else {}


def _names(value: Json) -> frozenset[str]:
    return frozenset(name for name in value if isinstance(name, str)) if isinstance(value, list) else frozenset()


def _groups_in(path: Path, node: JsonObject, required: bool, root: JsonObject) -> list[Group]:
    needed = _names(node.get("required"))
    slots: dict[str, Slot] = {}
    found: list[Group] = []
    for name, inner in _properties(node).items():
        plain = plain_schema(inner, root)
        is_needed = required and name in needed
        if _is_pair_array(name, plain, root):
            form: Form = "moment" if _item_format(plain, root) == "date-time" else "date"
            slot = Slot((*path, name), form, required=is_needed, exclusive=is_exclusive(plain))
            found.append(Group("array", (slot,), is_needed, _is_baseline((*path, name))))
        elif slot_here := slot_of((*path, name), plain, is_needed):
            slots[name] = slot_here
    return found + _paired(path, slots)


def _is_pair_array(name: str, node: JsonObject, root: JsonObject) -> bool:
    if type_of(node) != "array":
        return False
    two = node.get("minItems") == 2 or node.get("maxItems") == 2
    two = two or (isinstance(node.get("prefixItems"), list) and len(node["prefixItems"]) == 2)
    if _item_format(node, root) in ("date", "date-time"):
        return two or bool(RANGE_NAMES.fullmatch(snake(name)))
    items = plain_schema(node.get("items"), root)
    return two and type_of(items) == "string" and not items.get("enum") and bool(RANGE_NAMES.fullmatch(snake(name)))


def _item_format(node: JsonObject, root: JsonObject) -> str:
    items = node.get("items")
    prefix = node.get("prefixItems")
    if isinstance(prefix, list) and prefix:
        items = prefix[0]
    found = plain_schema(items, root).get("format")
    return found if isinstance(found, str) else ""


def _is_baseline(path: Path) -> bool:
    return any(BASELINE.search(snake(step)) for step in path)


def _paired(path: Path, slots: dict[str, Slot]) -> list[Group]:
    """Slots of one object: start with end, year with quarter or month, the rest one by one."""
    found: list[Group] = []
    left = dict(slots)
    starts = {name: _stem(name, START_WORDS) for name in left if _has_role(name, START_WORDS)}
    ends = {_stem(name, END_WORDS): name for name in left if _has_role(name, END_WORDS)}
    for name, stem in starts.items():
        other = ends.get(stem)
        if (
            other is not None
            and other != name
            and left[name].form == left[other].form
            and name in left
            and other in left
        ):
            pair = (left.pop(name), left.pop(other))
            found.append(Group("pair", pair, any(slot.required for slot in pair), _is_baseline((*path, name))))
    for part in ("quarter", "month_number"):
        year = next((name for name, slot in left.items() if slot.form == "year"), None)
        other = next((name for name, slot in left.items() if slot.form == part), None)
        if year and other:
            parts = (left.pop(year), left.pop(other))
            found.append(Group("parts", parts, any(slot.required for slot in parts), _is_baseline((*path, year))))
    for name, slot in left.items():
        if slot.form in ("quarter", "month_number") or (slot.form == "year" and "year" not in words_of(name)):
            continue
        found.append(Group("single", (slot,), slot.required, _is_baseline((*path, name))))
    return found


def _has_role(name: str, roles: frozenset[str]) -> bool:
    return any(word in roles for word in words_of(name))


def _stem(name: str, roles: frozenset[str]) -> str:
    """A name without the word for its role: start_date and end_date share `date`."""
    return "_".join(word for word in words_of(name) if word not in roles)
