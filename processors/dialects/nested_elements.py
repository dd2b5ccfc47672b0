"""Nested elements → call: objects by key, arrays by `item`, each tag behind a prefix that no value contains.

An empty element may be an empty string, object or array, and a leaf has no type: the tool's schema says which. Without
a schema a leaf is what JSON reads it as, and a string otherwise.
"""

import re
from dataclasses import dataclass, field

import orjson

from processors.dialects.loose import object_of
from processors.dialects.reading import Head
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import CallDraft

DIALECT = "nested_elements"

_ITEM = "item"


@dataclass(frozen=True, slots=True)
class Elements:
    """The tags, compiled."""

    wake: re.Pattern[str]
    end: re.Pattern[str]
    end_chars_max: int
    tag: re.Pattern[str]


def elements_of(prefix: str, close: tuple[str, ...]) -> Elements:
    """Prefix and closing markers → patterns."""
    return Elements(
        wake=re.compile(">"),
        end=re.compile("|".join(re.escape(text) for text in close)),
        end_chars_max=max(len(text) for text in close),
        tag=re.compile(rf"{re.escape(prefix)}<(/?)([^<>\s]{{1,128}})>"),
    )


class ElementsReader:
    """Finds the end of one body of nested elements."""

    opened = 0
    """See table.Reader."""

    __slots__ = ("_elements", "wake")

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self.wake = elements.wake.search

    def scan(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """See table.Reader."""
        end = self._elements.end.search(window, at)
        if end:
            return end.start(), True
        return (len(window) if is_final else max(at, len(window) - self._elements.end_chars_max)), False

    def draft(self, raw: str, head: Head) -> CallDraft:
        """See table.Reader."""
        root = self._tree(raw, head.nesting_max)
        if root is None:
            return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, arguments_text=raw)
        schema = head.tools.schema_of(head.name or "")
        schema = {"type": "object", **(schema if isinstance(schema, dict) else {})}
        try:
            value = _typed(_Node("", root.children), schema) if root.children else {}
        except ValueError:  # one key with two elements
            return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id)
        return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, value=value)

    def _tree(self, raw: str, nesting_max: int) -> "_Node | None":
        root = _Node("")
        stack, at = [root], 0
        for tag in self._elements.tag.finditer(raw):
            text, at = raw[at : tag.start()], tag.end()
            if text.strip() and (not tag[1] or stack[-1].children):
                return None  # text beside elements belongs to none of them
            if not tag[1]:
                node = _Node(tag[2])
                stack[-1].children.append(node)
                stack.append(node)
                if len(stack) > nesting_max:
                    return None
            elif len(stack) > 1 and stack[-1].name == tag[2]:
                stack.pop().text = text
            else:
                return None
        return root if len(stack) == 1 and not raw[at:].strip() else None


@dataclass(slots=True)
class _Node:
    name: str
    children: list["_Node"] = field(default_factory=list)
    text: str = ""


def _typed(node: _Node, schema: Json) -> Json:
    schema = schema if isinstance(schema, dict) else {}
    kinds = schema.get("type")
    kinds = set(kinds) if isinstance(kinds, list) else {kinds} if isinstance(kinds, str) else set()
    if node.children:
        if "array" in kinds or ("object" not in kinds and all(child.name == _ITEM for child in node.children)):
            return [_typed(child, schema.get("items")) for child in node.children]
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        return object_of([(child.name, _typed(child, properties.get(child.name))) for child in node.children])
    return _leaf(node.text, kinds, schema)


def _leaf(text: str, kinds: set[str], schema: JsonObject) -> Json:
    if not text.strip():
        if "array" in kinds:
            return []
        if "object" in kinds:
            return {}
    if "string" in kinds and not (text == "null" and "null" in kinds):
        return text
    if not kinds and "enum" in schema and text in schema["enum"]:
        return text
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return text
