"""The anchors: cheap things to look for, at which alone a value can begin or which each value of a kind contains."""

import re
from dataclasses import dataclass

from processors.pii.checksums import IBAN_CHARS

_LOWER, _UPPER, _DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
_HEX_LETTERS = b"abcdefABCDEF"
TOKEN_CHARS_MIN = 16
"""Shortest run of token characters that is looked at; the shortest vendor key has 20 characters."""


def _table(*classes: tuple[bytes, bytes]) -> bytes:
    table = bytearray(b" " * 256)
    for members, mark in classes:
        for member in members:
            table[member] = mark[0]
    return bytes(table)


DOTTED_HEAD_CHARS = 32
"""Longest part of a key before a dot that its run of token characters follows (`SG.`, `ya29.`)."""
_LETTERS = (_LOWER + _UPPER + _DIGITS).decode()
DOTTED = _LETTERS + "_-."
_HEX_CHARS = (_DIGITS + _HEX_LETTERS).decode()
_LOCAL = _LETTERS + "._%+'-"


SHAPE = _table((_DIGITS, b"0"), (_UPPER, b"U"), (_LOWER, b"l"), (b".", b"."), (b"?", b"?"))
TOKEN = _table((_DIGITS + _UPPER + _LOWER + b"_-", b"T"))
HEX = _table((_DIGITS + _HEX_LETTERS, b"h"), (b":", b":"), (b"-", b"-"), (b".", b"."))
TOKEN_RUN = "T" * TOKEN_CHARS_MIN
UPPER, LOWER, ZERO, STOP, SPACE = "Ul0. "
DIGIT_RUN = re.compile(r"[0-9]+")
WORD_RUN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Shape:
    """An anchor that is a literal in a map of the text; its rules are those that name it."""

    name: str
    needle: str
    left: str = ""
    """Characters before the anchor that may belong to the value."""
    left_max: int = 0
    inside: int = 0
    """How many characters of the anchor itself belong to `left`."""
    guard: "re.Pattern[str] | None" = None
    """What must stand at the anchor before anything else is tried."""
    run: "re.Pattern[str] | None" = None
    """What is passed over when no rule matches, so that a long run costs one look."""


PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼使领"
"""First characters of Chinese licence plates."""
_CJK = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
cjk_local = re.compile(f"(?s)(?:.*[是为到给箱址系送]|.*[^{_CJK}]|)([{_CJK}]{{1,8}})\\Z").match
"""The Chinese part of an address at the end of up to nine characters: short, after a boundary or a word for `is`."""
_SPELLED = re.compile(r"[\[(][Aa][Tt][\])] ?[A-Za-z0-9\u00c0-\u024f-]{1,63} ?(?:[\[(][Dd][Oo][Tt][\])]|\.)")
QUAD = Shape("quad", "0.0", _DIGITS.decode(), 3, guard=re.compile(r"[0-9]\.[0-9]{1,3}\."), run=re.compile(r"[0-9.]+"))
_COUNTRY = "|".join(
    first + "[" + "".join(country[1] for country in sorted(IBAN_CHARS) if country[0] == first) + "]"
    for first in sorted({country[0] for country in IBAN_CHARS})
)
IBAN = Shape("iban", "UU00", guard=re.compile(f"(?:{_COUNTRY})[0-9]{{2}}[ -]?[A-Z0-9]{{4}}[ -]?[A-Z0-9]{{4}}"))
DOTTED_HEX = Shape("dotted", "hhhh.hhhh.hhhh", run=re.compile(r"[0-9A-Fa-f.]+"))
DASHED_HEX = Shape("dashed", "hh-hh-hh-hh-hh", run=re.compile(r"[0-9A-Fa-f-]+"))
COLON_HEX = Shape(
    "hex", "h:h", _HEX_CHARS + ":", 40, 1,
    guard=re.compile(r"(?![0-9]:[0-9]{2}(?::[0-9]{2})?(?![:0-9A-Fa-f]))[0-9A-Fa-f]:[0-9A-Fa-f]{1,4}:"),
    run=re.compile(r"[0-9A-Fa-f:.]+"),
)  # fmt: skip
"""Two colons, but not a time of day."""
TWO_COLONS = Shape(
    "hex", "::", _HEX_CHARS + ":", 40, 1,
    guard=re.compile(r"(?<=[0-9A-Fa-f])::|::(?=[0-9A-Fa-f])"), run=re.compile(r"[0-9A-Fa-f:.]+"),
)  # fmt: skip
URL = Shape("url", "://", guard=re.compile(r"://(?:[^\s/@]{1,320}@|[a-z][a-z0-9-]{0,60}\.)"))
AT = Shape("at", "@", _LOCAL, 64, guard=re.compile(r"(?<=[\w.%+'-])@[\w-]{1,63}\.(?=\w)"))
PLUS = Shape("plus", "+", "(", 1, guard=re.compile(r"(?<![0-9A-Za-z+])\+\(?[1-9][0-9 ().-]{6}"))
PADDING = Shape("padding", "==", _LETTERS + "+/", 86, guard=re.compile(r"(?<=[A-Za-z0-9+/])==(?!=)"))
SPELLED = (
    Shape("spelled", "[at]", _LOCAL, 64, guard=_SPELLED),
    Shape("spelled", "(at)", _LOCAL, 64, guard=_SPELLED),
)
KEY_BLOCK = Shape("pem", "-----begin ")
PLATE = Shape("plate", "?U", guard=re.compile(f"[{PROVINCES}][A-Z][^A-Za-z0-9]?[A-Z0-9]{{5}}"))
AT_CJK = Shape("at_cjk", "@", _LOCAL, 64, guard=re.compile(
    f"(?:(?<=[{_CJK}])@(?=[{_CJK}A-Za-z0-9-]{{1,63}}\\.)|@[A-Za-z0-9-]{{0,62}}[{_CJK}][{_CJK}A-Za-z0-9-]{{0,62}}\\.)"
))  # fmt: skip
