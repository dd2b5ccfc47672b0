"""Marker templates → regular expressions: one for the whole marker, one for each beginning of it that may still grow.

The second one tells, at the end of what has been read, whether a marker may be under way. It is made from the same
elements as the first, so the two cannot disagree.
"""

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\$(name|word|any|key|id|index|type|string|ws|q|\(|\))")

SPACES_MAX = 64
NAME_MAX = 128

_CLASSES = {
    "name": rf"\w[\w.\-/:]{{0,{NAME_MAX}}}",
    "word": r"[A-Za-z_][A-Za-z0-9_.\-]{0,64}",
    "any": r"[\w.\-:/]{1,128}",
    "key": rf"[^\s<>\"'=|][^<>\"'\n]{{0,{NAME_MAX}}}?",
    "id": r"[\w.\-:]{1,64}",
    "index": r"\d{1,6}",
    "type": r"[\w\[\], |]{1,40}",
    "string": r"true|false",
}
_SPACE = rf"\s{{0,{SPACES_MAX}}}"


@dataclass(frozen=True, slots=True)
class Literal:
    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    inner: tuple["Element", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several sequences, which must follow but are not part of the marker."""

    ways: tuple[tuple["Element", ...], ...]


Element = Literal | Variable | Optional | Choice
Sequence = tuple[Element, ...]


def parse(template: str) -> Sequence:
    """A template → its elements."""
    stack: list[list[Element]] = [[]]
    at = 0
    for token in _TOKEN.finditer(template):
        if token.start() > at:
            stack[-1].append(Literal(template[at : token.start()]))
        at = token.end()
        if token[1] == "(":
            stack.append([])
        elif token[1] == ")":
            inner = stack.pop()
            stack[-1].append(Optional(tuple(inner)))
        else:
            stack[-1].append(Variable(token[1]))
    if at < len(template):
        stack[-1].append(Literal(template[at:]))
    return tuple(stack[0])


def whole(sequence: Sequence, tag: str = "") -> str:
    """Elements → the pattern of the whole marker; with a tag, variables become groups `<variable>_<tag>`."""
    return "".join(_whole(element, tag) for element in sequence)


def _whole(element: Element, tag: str) -> str:
    match element:
        case Literal(text):
            return re.escape(text)
        case Variable("ws"):
            return _SPACE
        case Variable("q"):
            return "[\"']?"
        case Variable(name):
            tag = "" if name == "any" else tag
            group = "name" if name == "word" else name
            return f"(?P<{group}_{tag}>{_CLASSES[name]})" if tag else f"(?:{_CLASSES[name]})"
        case Optional(inner):
            return f"(?:{whole(inner, tag)})?"
        case Choice(ways):
            return f"(?={'|'.join(whole(way) for way in ways)})"


def beginning(sequence: Sequence) -> str:
    """Elements → the pattern of every beginning of the marker, the empty one and the whole one included."""
    if not sequence:
        return ""
    first, rest = sequence[0], sequence[1:]
    if isinstance(first, Optional):
        return f"(?:{beginning((*first.inner, *rest))}|{beginning(rest)})"
    if isinstance(first, Choice):
        return f"(?:{'|'.join(beginning(way) for way in first.ways)})"
    if first == Variable("string"):
        return f"(?:{'|'.join(beginning((Literal(word), *rest)) for word in ('true', 'false'))})"
    after = beginning(rest)
    match first:
        case Literal(text):
            for character in reversed(text):
                after = f"(?:{re.escape(character)}{after})?"
            return after
        case Variable("ws"):
            return f"{_SPACE}{after}"
        case Variable("q"):
            return f"[\"']?{after}"
        case Variable(name):
            return f"(?:(?:{_CLASSES[name]}){after})?"
    raise AssertionError(first)


def heads_of(sequence: Sequence) -> set[str]:
    """The literal texts with which a marker may begin; an empty one when it may begin with anything."""
    heads: set[str] = set()
    for place, element in enumerate(sequence):
        match element:
            case Literal(text):
                return heads | {text}
            case Optional(inner):
                heads |= heads_of((*inner, *sequence[place + 1 :]))
            case Choice(ways):
                return heads.union(*(heads_of(way) for way in ways))
            case Variable("ws" | "q"):
                continue
            case _:
                return heads | {""}
    return heads | {""}


def ends_of(sequence: Sequence) -> set[str]:
    """The characters with which the literals of a marker end, those that must follow it included."""
    ends: set[str] = set()
    for element in sequence:
        match element:
            case Literal(text):
                ends.add(text[-1])
            case Optional(inner):
                ends |= ends_of(inner)
            case Choice(ways):
                ends = ends.union(*(ends_of(way) for way in ways))
    return ends
