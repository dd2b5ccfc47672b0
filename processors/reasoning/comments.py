"""A comment's text → named values: `key: value` lines or lists, `key=value`, JSON, in English and Chinese.

What has none of these shapes is kept as text under `text`. A value stays as written (`28°C`), but a bare number,
truth value or JSON value becomes one.
"""

import re

import orjson

from processors.limits import LIMITS
from schemas.jsonvalue import Json, JsonObject

COMMENT_CHARS_MAX = 100_000
"""Longest comment read for values; a longer one is kept as text."""
VALUES_MAX = 2_000
"""Most values of one comment."""

_KEY = re.compile(r"[^\W\d_][\w .\-/·（）()]{0,60}")
_LINE = re.compile(r"(?:[-*•]\s+)?([^\s:：={\[][^:：=\n{\[]{0,60}?)\s*(?:[:：]|=(?!=))(.*)", re.DOTALL)
_BARE = re.compile(r"(?:[-*•]\s+)?([^\W\d_][^\d:：=\n+\-]{0,40}?)\s*([+-]?\d[\d.,]{0,20}\s*[^\s\d]{0,8})")
_BARE_CHARS_MAX = 80
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
_PART = re.compile(r"[,，;；、|\n]")
_WORD = re.compile(r"[^\W_]+")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}

_THEMES = (
    (
        "weather_data",
        re.compile(r"temperature|humidity|aqi|wind|weather|气温|温度|湿度|空气质量|天气|风力|风速", re.IGNORECASE),
    ),
    ("progress", re.compile(r"phase|progress|percent|stage|status|step|进度|阶段|状态|步骤", re.IGNORECASE)),
    ("order_data", re.compile(r"order|tracking|shipment|订单|物流|快递|运单", re.IGNORECASE)),
    ("price_data", re.compile(r"price|cost|total|amount|currency|价格|金额|费用|总价|单价", re.IGNORECASE)),
    ("sales_data", re.compile(r"revenue|sales|turnover|营收|销售额|销量", re.IGNORECASE)),
)


def read_values(text: str) -> tuple[str, JsonObject]:
    """A comment's body → a key that its content names, and its values by name."""
    body = text.strip()
    if len(body) > COMMENT_CHARS_MAX:
        return "comment", {"text": body}
    name, content = _named_json(body)
    if not content:
        name, rest = _name(body)
        content = (_pairs(rest) or _one(rest.strip())) if name else {}
    if not content:
        name, content = "", _pairs(body) or _one(body)
    if not content:
        return "comment", {"text": body}
    return name or theme_of(content), content


def _named_json(body: str) -> tuple[str, JsonObject]:
    """JSON, with or without a name before it; the nearest name counts."""
    place = re.search(r"[{\[]", body)
    if not place:
        return "", {}
    names = [piece.strip() for piece in re.split(r"[:：=\n]", body[: place.start()]) if piece.strip()]
    if len(body[: place.start()]) > 120 or (names and not _KEY.fullmatch(names[-1])):
        return "", {}
    return (slug(names[-1]) if names else ""), read_object(body[place.start() :])


def _name(body: str) -> tuple[str, str]:
    """A leading `name:` before values, and what follows; no name where the body starts with its first value."""
    head, mark, rest = _cut(body)
    if not mark or not _KEY.fullmatch(head) or "\n" in head:
        return "", body
    if rest.lstrip(" \t").startswith("\n"):
        return slug(head), rest
    pieces = _parts(rest.strip())
    if _LINE.match(pieces[0]) or (len(pieces) > 1 and all(map(_pair, pieces))):
        return slug(head), rest
    return "", body


def _cut(text: str) -> tuple[str, str, str]:
    found = re.search(r"[:：=]", text)
    return (text[: found.start()].strip(), found[0], text[found.end() :]) if found else (text, "", "")


def read_object(text: str) -> JsonObject:
    """JSON → an object; `{}` where the text is not JSON or is nested too deep to be passed on."""
    if not text.startswith(("{", "[")) or depth_of(text) > LIMITS.nesting_max // 2:
        return {}
    try:
        value = orjson.loads(text.encode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {"items": value}


def depth_of(text: str) -> int:
    """An upper bound of the nesting of JSON text: brackets in strings count too."""
    deepest = level = 0
    for found in re.finditer(r"[\[\]{}]", text):
        level += 1 if found[0] in "[{" else -1
        deepest = max(deepest, level)
    return deepest


def _pairs(text: str) -> JsonObject:
    """`name: value` by line or by comma → an object; `{}` where too little of the text has that shape."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) == 1 and not _is_list(lines[0]):
        return {}
    content: JsonObject = {}
    notes: list[str] = []
    for piece in [piece for line in lines for piece in (_parts(line) if _is_list(line) else (line,))][:VALUES_MAX]:
        found = _pair(piece)
        if found:
            content[slug(found[1])] = _value(found[2])
        else:
            notes.append(piece.strip())
    if len(content) < max(len(notes), 1):
        return {}
    return content | ({"note": "\n".join(notes)} if notes else {})


def _one(text: str) -> JsonObject:
    found = None if "\n" in text else _pair(text)
    return {slug(found[1]): _value(found[2])} if found else {}


def _parts(text: str) -> list[str]:
    return [piece.strip() for piece in _PART.split(text)]


def _pair(text: str) -> re.Match[str] | None:
    """`name: value`, or a name followed by a number."""
    piece = text.strip()
    return _LINE.match(piece) or (_BARE.fullmatch(piece) if len(piece) <= _BARE_CHARS_MAX else None)


def _is_list(line: str) -> bool:
    if line.count("{") + line.count("["):
        return False
    pieces = _parts(line)
    return len(pieces) > 1 and all(map(_pair, pieces))


def _value(text: str) -> Json:
    bare = text.strip().rstrip(",，;；")
    if bare in _WORDS:
        return _WORDS[bare]
    if bare.startswith(("{", "[")) and depth_of(bare) <= LIMITS.nesting_max // 2:
        try:
            return orjson.loads(bare.encode("utf-8", "replace"))
        except orjson.JSONDecodeError:
            return bare
    if _NUMBER.fullmatch(bare):
        return float(bare) if "." in bare else int(bare)
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" else bare


def slug(name: str) -> str:
    """A key from a name as written: lower case, words joined by one underscore, at most 48 characters."""
    return "_".join(_WORD.findall(name.lower()))[:48] or "value"


def theme_of(content: JsonObject) -> str:
    """A key named from the names of the values: a known theme, else the first names."""
    names = list(content)
    for theme, words in _THEMES:
        if words.search(" ".join(names[:20])):
            return theme
    return names[0] if len(names) == 1 else "_".join(names[:2])[:48]
