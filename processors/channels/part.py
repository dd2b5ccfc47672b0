"""Part: what one object of a server's stream adds to each channel; and how fields of unknown objects are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.jsonvalue import Json

NO_FIELDS: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of one tool call that the server keeps apart from the text."""

    key: str
    """Which call of the stream it belongs to: its index, or its id."""
    name: str = ""
    call_id: str = ""
    arguments: str = ""
    is_end: bool = False
    """Nothing more will come for this call."""
    is_whole: bool = False
    """The arguments are all of them: they take the place of what came before."""


@dataclass(slots=True)
class Part:
    """What one object adds to one answer; not frozen, because one is made for every chunk and that costs a third."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish_reason: str | None = None
    usage: dict[str, Json] | None = None
    model: str | None = None
    response_id: str | None = None
    choice: int = 0
    """Which of several answers to one request."""
    is_end: bool = False
    """Nothing more will come for this answer."""


def fields_of(value: object) -> Mapping[str, object]:
    """Fields of a JSON object, of an SDK's model (pydantic's extra fields too) or of any plain object; else none.

    No SDK is imported: an object is what its fields say.
    """
    if isinstance(value, dict):
        return value
    own = getattr(value, "__dict__", None)
    if own is None or isinstance(value, type):
        return value if isinstance(value, Mapping) else NO_FIELDS
    extra = getattr(value, "__pydantic_extra__", None)
    return {**own, **extra} if isinstance(extra, dict) and extra else own


def items_of(value: object) -> Sequence[object]:
    """The items of a list or tuple; none for anything else."""
    return value if isinstance(value, list | tuple) else ()


def text_of(value: object) -> str:
    """A string as it is; nothing for anything else."""
    return value if isinstance(value, str) else ""


def word_of(value: object) -> str | None:
    """A string that says something, of an enum too; else None."""
    value = getattr(value, "value", value)
    return value if isinstance(value, str) and value else None


def whole_of(value: object) -> int:
    """A whole number; 0 for anything else."""
    return value if isinstance(value, int) else 0


def numbers_of(value: object) -> dict[str, Json] | None:
    """Usage: its numbers, those one level down too; None if there are none."""
    found: dict[str, Json] = {}
    for name, entry in fields_of(value).items():
        if isinstance(entry, int | float):
            found[name] = entry
        elif entry is not None and (inner := fields_of(entry)):
            numbers = {key: number for key, number in inner.items() if isinstance(number, int | float)}
            if numbers:
                found[name] = numbers
    return found or None
