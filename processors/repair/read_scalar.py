"""One scalar of damaged JSON: a string, however it is quoted, or an unquoted token with its raw text."""

import re

from processors.repair.lexis import QUOTES, decode
from processors.repair.nodes import Bare, Cut, Items, Members, Node
from processors.repair.read_date import is_full_date
from processors.repair.toolschema import Spec
from processors.repair.value_end import Source
from schemas.span import Span

_STRICT_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"')
_PLAIN_BARE = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)\s*(?=[}\]]|,\s*[^\s\d.])")
_PLAIN_BARE_ITEM = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)\s*(?=[,}\]])")
_END = re.compile(r"""[,，}\]｝］)\n"'“”`]|\s(?=//|#|/\*)|\\[n"]""")
_PLAIN_MEMBER = re.compile(r'"([^"\\\n\r\t]*)"(?=,\s*"[^"\\\n:,{}\[\]]{1,60}"\s*:)')
_PLAIN_ITEM = re.compile(r'"([^"\\\n\r\t]*)"(?=,\s*["\]]|\]\s*[,}])')
"""A string as most are, followed by what proves its end; the long way decides on all others."""
_CONTROL = re.compile(r"[\x00-\x1f]")
_NOT_OF_JSON = re.compile(r"(?<!\\)(?:\\\\)*\\['`\n]")
"""Escapes that have one meaning, and that JSON does not have."""
_PREFIX = re.compile(r"[rRbBuUfF]{1,2}(?=[\"'])")
_LAST_CLOSERS = re.compile(r"[\s}\]]*\Z")
_COMMA_BEFORE = re.compile(r"[\s,，]*\Z")
BEFORE_KEY_MAX = 60
COMPLETE_MAX = 1_000
"""Longest enum member that is known by itself, in characters: each quote of a text asks."""
LAST_CLOSERS_MAX = 400


def read_scalar(source: Source, at: int, spec: Spec) -> tuple[Node, int]:
    """The scalar that begins here, and where it ends."""
    is_member = isinstance(source.stack[-1].node, Members)
    if found := (_PLAIN_MEMBER if is_member else _PLAIN_ITEM).match(source.text, at):
        return found[1], found.end(1) + 1
    if prefixed := _PREFIX.match(source.text, at):
        at = prefixed.end()
    if source.text[at] in QUOTES:
        return _tripled(source, at) or _string(source, at, spec)
    if found := (_PLAIN_BARE if is_member else _PLAIN_BARE_ITEM).match(source.text, at):
        return Bare(found[1]), found.end(1)
    return _bare(source, at)


def _tripled(source: Source, at: int) -> tuple[Node, int] | None:
    """A Python string in three quotes, which is closed by three."""
    mark = source.text[at] * 3
    if source.is_strict or mark not in {'"""', "'''"} or not source.text.startswith(mark, at):
        return None
    end = source.text.find(mark, at + 3)
    if end < at + 4 or not source.ends_at(end + 3):
        return None
    source.codes.add("quotes_replaced")
    return decode(source.text[at + 3 : end]), end + 3


def _string(source: Source, at: int, spec: Spec) -> tuple[Node, int]:
    text, quote = source.text, source.text[at]
    if quote != '"':
        source.codes.add("quotes_replaced")
    place, start = at + 1, at + 1
    is_next = source.closers_of(quote, at)
    while found := is_next.search(text, place):
        end, place = found.start(), found.end()
        if found[0] == "\\":
            if not _is_path_end(source, start, end, quote):
                place += 1
                continue
            end, place = end + 1, end + 2
        if source.is_strict:
            return decode(text[start:end]), place
        if _opens_next_key(source, start, end):
            source.codes.add("half_quotes_mended")
            body = text[start:end]
            return decode(_without_curly(_without_end(body, _COMMA_BEFORE, BEFORE_KEY_MAX))), end
        if source.ends_at(place) or _is_complete(source, (start, end), spec, place):
            inner = _lost_opening(source, start, end, quote)
            if inner:
                source.codes.add("half_quotes_mended")
                return decode(text[start:inner]), inner + 1
            return _closed(source, text[start:end], quote, place)
    return _unclosed(source, start, spec)


def _is_complete(source: Source, inside: Span, spec: Spec, place: int) -> bool:
    """An enum member or a date is over at its quote, if another quote follows: only a comma is missing."""
    if not (spec.enum or spec.format == "date") or inside[1] - inside[0] > COMPLETE_MAX:
        return False
    body = source.text[inside[0] : inside[1]]
    is_known = bool(spec.index.find(body)) or (spec.format == "date" and is_full_date(body))
    return is_known and source.text[source.skip(place) : source.skip(place) + 1] in QUOTES


def _lost_opening(source: Source, start: int, end: int, quote: str) -> int:
    """`"two" three"` in a list: one quote inside, behind a word, ended an item whose follower lost its opening one."""
    if not isinstance(source.stack[-1].node, Items):
        return 0
    inner = source.text.find(quote, start, end)
    is_one = inner > start and source.text.find(quote, inner + 1, end) < 0
    is_mark = is_one and (source.text[inner - 1] in "\\ " or source.text[inner - 1].isdigit())
    return inner if is_one and not is_mark and source.text[inner + 1 : inner + 2] == " " else 0


def _without_curly(body: str) -> str:
    """`"北京”, "days"`: a curly quote at the end that none opened was meant to close."""
    is_stray = body[-1:] in {"”", "’", "＂"} and not any(opening in body for opening in "“‘＂"[:2])
    return body[:-1] if is_stray else body


def _closed(source: Source, body: str, quote: str, place: int) -> tuple[Node, int]:
    if quote in body.replace("\\" + quote, ""):
        source.codes.add("inner_quotes_kept")
    if _CONTROL.search(body):
        source.codes.add("control_characters_kept")
    if quote == '"' and "\\" in body and _NOT_OF_JSON.search(body):
        source.codes.add("backslash_dropped")
    return decode(body), place


def _is_path_end(source: Source, start: int, slash: int, quote: str) -> bool:
    r"""`"C:\temp\"`: the last backslash belongs to the path, not to the quote."""
    text = source.text
    is_path = text[start + 1 : start + 3] == ":\\" and text[start + 3 : start + 4] != "\\"
    return is_path and text[slash + 1 : slash + 2] == quote and source.ends_at(slash + 2)


def _opens_next_key(source: Source, start: int, quote_at: int) -> bool:
    """Whether this quote begins a known key: then the string before it lost its closing quote."""
    text = source.text
    before = text[max(start, quote_at - BEFORE_KEY_MAX) : quote_at].rstrip()
    level = len(source.stack) - 1
    if isinstance(source.stack[level].node, Items) or not before.endswith((",", "，")):
        return False
    return source.is_key(quote_at, level, needs_known=True)


def _without_end(text: str, end: re.Pattern[str], most: int) -> str:
    """The text without what this pattern finds at its end, among its last characters."""
    found = end.search(text, max(0, len(text) - most))
    return text[: found.start()] if found else text


def _unclosed(source: Source, start: int, spec: Spec) -> tuple[Node, int]:
    """No quote closes it: whole only if closers alone follow a value the schema knows; else cut."""
    rest = source.text[start:]
    bare = _without_end(rest, _LAST_CLOSERS, LAST_CLOSERS_MAX)
    if bare != rest and spec.index.find(bare):
        source.codes.add("half_quotes_mended")
        return bare, start + len(bare)
    return Cut(decode(rest)), len(source.text)


def _bare(source: Source, at: int) -> tuple[Node, int]:
    text = source.text
    in_array = isinstance(source.stack[-1].node, Items)
    place = at
    while found := _END.search(text, place):
        end, place = found.start(), found.end()
        char = found[0]
        if char in QUOTES and source.ends_at(place):
            source.codes.add("half_quotes_mended")
            return decode(text[at:end].strip()), place
        if char in QUOTES and not source.is_key(end, len(source.stack) - 1, needs_known=True):
            continue
        if (in_array and char in ",，") or char in QUOTES or source.ends_at(end):
            return _token(text[at:end]), end
    return Cut(Bare(text[at:].strip())), len(text)


def _token(raw: str) -> Node:
    token = raw.strip()
    return Bare(token) if token else None
