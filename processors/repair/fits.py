"""Whether a node could stand at a place, judged without changing it; guides renaming, decides nothing."""

from processors.repair.match_enum import match_enum
from processors.repair.nodes import LITERALS, Bare, Cut, Items, Members, Node
from processors.repair.read_date import read_date
from processors.repair.read_number import read_number
from processors.repair.toolschema import Spec, is_period
from processors.repair.words import WORDS, fold

NEAR_MEMBERS_MAX = 500
"""Members of an enum among which a slip of the pen is looked for, when many places are tried."""


def fits(node: Node, spec: Spec) -> bool:
    """Whether the value could be meant for a place of this kind."""
    if spec.choices:
        return any(fits(node, choice) for choice in spec.choices)
    if isinstance(node, Cut):
        node = node.value
    if node is None:
        return True
    if isinstance(node, Members):
        return _members_fit(node, spec)
    if isinstance(node, Items):
        return _items_fit(node, spec)
    if not spec.types and not spec.enum:
        return True
    if is_period(spec) and isinstance(node, str) and not read_date(node).problem:
        return False
    if spec.is_container:
        return _holds(node, spec)
    return _scalar_fits(node, spec)


def _members_fit(node: Members, spec: Spec) -> bool:
    if not spec.wants("object") or spec.enum:
        return spec.types == {"array"} and (spec.items is None or fits(node, spec.items))
    keys = {key for key, _ in node.pairs}
    return not spec.properties or not keys or bool(keys & spec.properties.keys())


def _items_fit(node: Items, spec: Spec) -> bool:
    if spec.wants("array") and not spec.enum:
        return spec.items is None or all(fits(value, spec.items) for value in node.values[:3])
    return len(node.values) == 1 and not spec.is_plain_text and fits(node.values[0], spec)


def _holds(node: Node, spec: Spec) -> bool:
    """Text for a container: written-out JSON, or one item for an array."""
    if isinstance(node, str) and node[:1] in {"[", "{"}:
        return True
    return spec.wants("array") and spec.items is not None and fits(node, spec.items)


def _scalar_fits(node: Node, spec: Spec) -> bool:
    text = str(node)
    if spec.enum:
        is_near = len(spec.enum) <= NEAR_MEMBERS_MAX
        return bool(match_enum(text, spec, is_near=is_near).code) or bool(spec.index.find(node))
    if spec.format == "date":
        return not read_date(text).problem
    if spec.wants("string") and spec.types:
        return not (isinstance(node, bool) or (isinstance(node, Bare) and node in LITERALS))
    if spec.wants("boolean") and (isinstance(node, bool) or text in LITERALS or fold(text) in WORDS.booleans):
        return True
    if isinstance(node, bool):
        return False
    return (spec.wants("number") or spec.wants("integer")) and not read_number(text, spec).problem


def is_specific(node: Node, spec: Spec) -> bool:
    """Whether fitting says something: a container, an enum member or a date, not any text or number."""
    if isinstance(node, Members | Items):
        return bool(spec.items and spec.items.properties) or bool(spec.properties)
    if isinstance(node, str) and node.lstrip()[:1] in {"[", "{"} and not spec.wants("string"):
        return True
    return bool(spec.enum) or spec.format in {"date", "date-time", "email", "uri", "uuid"}
