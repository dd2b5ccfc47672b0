"""What a reader makes of argument text: a tree that keeps unquoted tokens as written, until the schema decides.

A quoted string is a plain `str`, decoded; `true`, `false` and `null` of strict JSON are Python's. The rest has a type
of its own, because its meaning waits for the schema.
"""

from dataclasses import dataclass

from schemas.jsonvalue import Json


class Bare(str):
    """An unquoted token, as written: `007`, `2.0`, `celsius`, `None`."""

    __slots__ = ()


class Loose(str):
    """A parameter's text in a grammar without types (`<days>3</days>`)."""

    __slots__ = ()


class Escaped(str):
    r"""A quoted string whose backslashes may be meant as they stand (`C:\temp`, `\d+`): the text with all of them."""

    __slots__ = ("is_valid", "plain")

    plain: str
    """The same text, read by JSON's rules; an unknown escape loses its backslash."""
    is_valid: bool
    """Whether JSON's rules were enough."""


@dataclass(slots=True)
class Members:
    """An object: its pairs in order, doubles included."""

    pairs: list[tuple[str, "Node"]]
    is_open: bool = False
    """The text ended before its closing brace."""
    is_cut: bool = False
    """The text ended inside a pair or behind a comma."""
    is_elided: bool = False


@dataclass(slots=True)
class Items:
    """An array."""

    values: list["Node"]
    is_open: bool = False
    is_cut: bool = False
    is_elided: bool = False
    """Some items were left out by the writer: `[1, 2, ...]`."""


@dataclass(slots=True)
class Cut:
    """A scalar in which the text ended."""

    value: str


Node = str | Members | Items | Cut | bool | int | float | None
NULLS = frozenset({"null", "None", "undefined", "nil", "NULL", "Null", "none"})
LITERALS: dict[str, bool | None] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    **dict.fromkeys(NULLS, None),
}  # fmt: skip


def node_of(value: Json) -> Node:
    """The tree of a value whose types are already known; its depth must be bounded (`depth_of`)."""
    if isinstance(value, dict):
        return Members([(str(key), node_of(inner)) for key, inner in value.items()])
    if isinstance(value, list | tuple):
        return Items([node_of(inner) for inner in value])
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def depth_of(value: Json, limit: int) -> int:
    """Depth of a JSON value, counted up to a limit, without recursion."""
    depth, level = 0, [value]
    while level and depth <= limit:
        level = [
            inner for outer in level if isinstance(outer, dict | list | tuple)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]  # fmt: skip
        depth += 1
    return depth


def pointer_step(key: str) -> str:
    """A key as a JSON pointer has it."""
    return key.replace("~", "~0").replace("/", "~1")
