"""A value and the texts it may come from → the first scalar that stands in none of them.

Whoever proposes arguments from outside (a language model) may choose and arrange what was written, never add to it. A
text counts as found as a whole, between word boundaries, case and blanks aside; a number as the same number; a boolean
as a word that says it.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from schemas.jsonvalue import Json

_NUMBER = re.compile(r"(?:(?<![\w.])[-+])?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[\"\\/bfnrt'])")
_TRUE = re.compile(r"(?<!\w)(?:true|yes|on|enabled?)(?!\w)|是|开启|打开|启用", re.IGNORECASE)
_FALSE = re.compile(r"(?<!\w)(?:false|no|off|disabled?)(?!\w)|否|关闭|禁用", re.IGNORECASE)
_NULL = re.compile(r"(?<!\w)(?:null|none|nil|undefined)(?!\w)", re.IGNORECASE)
_EMPTY: dict[type, re.Pattern[str]] = {
    str: re.compile(r"\"\"|''|“”"),
    list: re.compile(r"\[\s*\]"),
    dict: re.compile(r"\{\s*\}"),
}
DIGITS_MAX = 400


class Ground:
    """Texts in which values are looked up; reading them once is linear in their length."""

    def __init__(self, *texts: str) -> None:
        whole = "\n".join(texts)
        self._plain = whole
        self._folded = f" {_fold(whole)} "
        self._unescaped = f" {_fold(_ESCAPE.sub(_unescaped, whole))} "
        written = [piece for found in _NUMBER.findall(whole) for piece in {found, *found.split(",")}]
        self._numbers = {number for piece in written if (number := _decimal(piece)) is not None}

    def missing(self, value: Json, known_keys: frozenset[str] = frozenset()) -> str | None:
        """JSON pointer of the first value or key that is not in the texts; None if all are."""
        for path, key, scalar in _scalars(value):
            if key is not None and key not in known_keys and not self._has_text(key):
                return path
            if not self._has(scalar):
                return path
        return None

    def _has(self, value: Json) -> bool:
        if isinstance(value, bool):
            return bool((_TRUE if value else _FALSE).search(self._plain))
        if value is None:
            return bool(_NULL.search(self._plain))
        if isinstance(value, int | float):
            return _decimal(repr(value)) in self._numbers
        if not value:
            return bool(_EMPTY[type(value)].search(self._plain))
        return not isinstance(value, str) or self._has_text(value)

    def _has_text(self, text: str) -> bool:
        folded = _fold(text)
        if not folded:
            return False
        before = r"(?<!\w)" if folded[0].isascii() and folded[0].isalnum() else ""
        after = r"(?!\w)" if folded[-1].isascii() and folded[-1].isalnum() else ""
        if folded not in self._folded and folded not in self._unescaped:
            return False
        pattern = re.compile(before + re.escape(folded) + after, re.ASCII)
        return bool(pattern.search(self._folded) or pattern.search(self._unescaped))


def _scalars(value: Json) -> Iterator[tuple[str, str | None, Json]]:
    """Path, key and value of each scalar and each empty container, in order."""
    stack: list[tuple[str, str | None, Json]] = [("", None, value)]
    while stack:
        path, key, item = stack.pop()
        if isinstance(item, dict) and item:
            stack += [(f"{path}/{name}", name, inner) for name, inner in reversed(item.items())]
        elif isinstance(item, list) and item:
            stack += [(f"{path}/{place}", key, item[place]) for place in range(len(item) - 1, -1, -1)]
        else:
            yield path, key, item


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _unescaped(found: re.Match[str]) -> str:
    if found[0] == "\\'":
        return "'"
    return str(json.loads(f'"{found[0]}"'))


def _decimal(text: str) -> Decimal | None:
    if len(text) > DIGITS_MAX:
        return None
    try:
        return Decimal(text.replace(",", "").replace("_", "")).normalize()
    except InvalidOperation:
        return None
