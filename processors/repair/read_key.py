"""The key of a pair, however it is quoted, and the separator behind it."""

import re

from processors.repair.lexis import NEXT_IN_KEY, QUOTES, decode
from processors.repair.nodes import Escaped
from processors.repair.value_end import Frame, Source, is_known, is_separator

_PLAIN = re.compile(r'"([^"\\\n{}\[\],]{1,120})"\s*:\s*')
_BARE = re.compile(
    r"""([^\s:：=＝"'“”`{}\[\],，｛｝][^:：=＝"'“”`{}\[\],，\n｛｝]{0,119}?)\s*(?=[:：=＝"'”`“\[{｛]|\Z)"""
)
_SEPARATOR = re.compile(r"[:：=＝\n]")
_STRAY = frozenset("\"'”`’")
_NOT_IN_NAMES = frozenset(":：={}[],\n")
KEY_MAX = 200
"""Longest key looked for without its closing quote, in characters."""


def read_key(source: Source, at: int, frame: Frame) -> tuple[str | None, int]:
    """The key that begins here and where its value begins; None, and one character on, if nothing like a key does."""
    if found := _PLAIN.match(source.text, at):
        return found[1], found.end()
    read = _quoted if source.text[at] in QUOTES else _bare
    key, at = read(source, at, frame)
    if key is None:
        return None, at
    return key, _behind_separator(source, at)


def _behind_separator(source: Source, at: int) -> int:
    at = source.skip(at)
    char = source.text[at : at + 1]
    if not char:
        return at
    if not is_separator(char):
        source.codes.add("missing_colon")
        return at
    if char in "=＝":
        source.codes.add("equals_for_colon")
    elif char != ":":
        source.codes.add("separator_replaced")
    return source.skip(at + (2 if source.text.startswith("=>", at) else 1))


def _quoted(source: Source, at: int, frame: Frame) -> tuple[str | None, int]:
    start, quote = at + 1, source.text[at]
    place = start
    while found := NEXT_IN_KEY[quote].search(source.text, place):
        place = found.end()
        if found[0] == "\\":
            place += 1
            continue
        body = source.text[start : found.start()]
        if source.is_strict or _ends_key(source, place, body, frame):
            if quote != '"':
                source.codes.add("quotes_replaced")
            text = decode(body)
            return (text.plain if isinstance(text, Escaped) and text.is_valid else str(text)), place
        break
    return _half_quoted(source, start, frame)


def _ends_key(source: Source, after: int, body: str, frame: Frame) -> bool:
    after = source.blanks.skip(after, 40)
    follows = source.text[after : after + 1]
    if follows == "" or is_separator(follows):
        return True
    is_plain = _NOT_IN_NAMES.isdisjoint(body)
    return is_plain and (is_known(body, frame.spec) or (follows in '{["' and len(body) < 40))


def _half_quoted(source: Source, start: int, frame: Frame) -> tuple[str, int]:
    """`"days: 3`: the closing quote is missing, so the key ends at its separator."""
    source.codes.add("auto_quoted_keys")
    found = _SEPARATOR.search(source.text, start, start + KEY_MAX)
    end = found.start() if found else min(len(source.text), start + KEY_MAX)
    if source.is_strict and not is_known(source.text[start:end], frame.spec):
        return source.text[start:], len(source.text)
    return source.text[start:end].strip().rstrip("”’＂"), end


def _bare(source: Source, at: int, frame: Frame) -> tuple[str | None, int]:
    found = _BARE.match(source.text, at)
    if not found:
        source.codes.add("skipped_text")
        return None, at + 1
    frame.has_bare_keys = True
    source.codes.add("auto_quoted_keys")
    end = found.end()
    if source.text[end : end + 1] in _STRAY:
        behind = source.blanks.skip(end + 1, 40)
        if source.text[behind : behind + 1] and is_separator(source.text[behind]):
            end += 1
    return found[1], end
