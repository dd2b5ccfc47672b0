"""What a model wrote and what was made of it → both texts with the changed parts marked."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

import orjson

from schemas.jsonvalue import JsonObject

PIECES_MAX = 2_000
"""Words and signs compared; comparing is quadratic at worst, so longer texts are shown without marks."""
_PIECE = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Part:
    """A run of text that is the same on both sides (`same`), or stands on one only (`gone`, `new`)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Both sides, in order."""

    before: tuple[Part, ...]
    after: tuple[Part, ...]
    is_marked: bool
    """False when the texts are too long to be compared."""


def difference(before: str, after: str) -> Difference:
    """Compare by words and signs."""
    left, right = _PIECE.findall(before), _PIECE.findall(after)
    if len(left) > PIECES_MAX or len(right) > PIECES_MAX:
        return Difference((Part("same", before),), (Part("same", after),), is_marked=False)
    sides: tuple[list[Part], list[Part]] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        kinds = ("same", "same") if tag == "equal" else ("gone", "new")
        for side, kind, pieces in zip(sides, kinds, (left[a:b], right[c:d]), strict=True):
            if pieces:
                side.append(Part(kind, "".join(pieces)))
    return Difference(tuple(sides[0]), tuple(sides[1]), is_marked=True)


def of_call(raw: str, arguments: JsonObject | None) -> Difference | None:
    """The model's text beside the arguments in the same layout; None when there are no arguments to compare with."""
    if arguments is None:
        return None
    is_wide = "\n" in raw.strip()
    after = orjson.dumps(arguments, option=orjson.OPT_INDENT_2 if is_wide else 0).decode()
    return difference(raw, after if is_wide else re.sub(r'(?<=[,:])(?=["\[{\d\-tfn])', " ", after))
