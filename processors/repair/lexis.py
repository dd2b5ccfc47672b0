r"""Characters of damaged JSON: blanks and comments, quote pairs, escapes.

Blanks outside of strings include no-break and zero-width ones, and a written-out `\n`. Comments are `//`, `#` and
`/* */`.
"""

import re

from processors.repair.nodes import Escaped

QUOTES = {
    '"': '"', "'": "'", "`": "`", "“": '“”"', "”": '”"', "„": '“”"', "‘": "’'", "’": "’'", "«": "»", "「": "」",
    "『": "』", "＂": '＂"',
}  # fmt: skip
"""Opening quote → what may close it."""
CLOSERS = frozenset("}]｝］)")
COMMAS = frozenset(",，、;；")
SEPARATORS = frozenset(":：=＝")
STRICT_CLOSERS = {"“": "”", "‘": "’"}
"""Curly quotes that a straight one closes only where no curly one follows any more."""
_CLOSING = r"""\\|[{}](?:(?=[\s,，、;；}}\]｝］)/#\\…\u200b-\u200f\ufeff\u2060]|\Z|["'“`„「][^\s"'“`])|(?<=[,，\s].))"""
"""A backslash, or a quote that may close: what follows could stand behind a value, or what precedes, before a key."""
NEXT_IN_STRING = {
    quote: re.compile(_CLOSING.format(re.escape(closing)), re.DOTALL) for quote, closing in QUOTES.items()
}
NEXT_STRICT = {quote: re.compile(_CLOSING.format(closing), re.DOTALL) for quote, closing in STRICT_CLOSERS.items()}
NEXT_IN_KEY = {quote: re.compile("[\\\\" + re.escape(closing) + "]") for quote, closing in QUOTES.items()}
BLANK = re.compile(r"(?:[\s\u00a0\ufeff\u200b-\u200f\u2060]|\\[ntr](?![\w]))*")
_NO_BLANK = frozenset('"{}[],:0123456789-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')
LOOK_AHEAD = 300
"""Longest comment looked through when deciding where a value ends, in characters."""
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.)|\Z)", re.DOTALL
)
_KNOWN = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "'": "'",
    "`": "`",
    "\n": "\n",
}
_UNKNOWN = re.compile(r"\\(?:\\|[^\"\\/bfnrtu'`\n]|u(?![0-9a-fA-F]{4})|\Z)", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:\\(?!\\)")
_LITERAL = re.compile(r'\\(["\\])')
SURROGATE = re.compile(r"[\ud800-\udfff]")


class Blanks:
    """Skips what stands between tokens."""

    __slots__ = ("_comment_ends", "codes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.codes: set[str] = set()
        self._comment_ends = True

    def skip(self, at: int, limit: int = 0) -> int:
        """Position of the next token; with a limit, a comment longer than that is not looked through."""
        text = self.text
        char = text[at : at + 1]
        if char == " ":
            at += 1
            char = text[at : at + 1]
        if char in _NO_BLANK:
            return at
        while True:
            found = BLANK.match(text, at)
            if found and found.end() > at:
                if (not limit and not found[0].isascii()) or "\\" in found[0]:
                    self.codes.add("blank_stripped")
                at = found.end()
            mark = text[at : at + 2]
            if mark == "/*":
                end = self._block_end(at, limit)
            elif mark == "//" or mark[:1] == "#":
                end = text.find("\n", at, at + limit if limit else len(text))
                end = end if end >= 0 else (at if limit else len(text))
            else:
                return at
            if end <= at:
                return at
            if not limit:
                self.codes.add("comment_stripped")
            at = end

    def _block_end(self, at: int, limit: int) -> int:
        if not self._comment_ends:
            return at
        end = self.text.find("*/", at + 2, at + limit if limit else len(self.text))
        if end < 0 and not limit:
            self._comment_ends = False  # so that a million unclosed ones are not searched a million times
        return end + 2 if end >= 0 else at


def unescape(raw: str) -> str:
    """The text of a string body: known escapes read, unknown ones without their backslash, no lone surrogate left."""
    text = _ESCAPE.sub(_unescaped, raw)
    return SURROGATE.sub("\ufffd", text) if SURROGATE.search(text) else text


def _unescaped(found: re.Match[str]) -> str:
    high, low, code, char = found.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    if code:
        return chr(int(code, 16))
    return _KNOWN.get(char, char) if char else ""


def decode(raw: str) -> str:
    """A string body as text; as Escaped where its backslashes may be meant as they stand."""
    if "\\" not in raw:
        return SURROGATE.sub("\ufffd", raw) if SURROGATE.search(raw) else raw
    plain = unescape(raw)
    unknown = [found for found in _UNKNOWN.findall(raw) if found != "\\\\"]
    if not unknown and not _DRIVE.match(raw) and "\b" not in plain and "\f" not in plain:
        return plain
    literal = Escaped(SURROGATE.sub("\ufffd", _LITERAL.sub(r"\1", _keep_share(raw))))
    literal.plain, literal.is_valid = plain, not unknown
    return literal


def _keep_share(raw: str) -> str:
    r"""`\\server\share`: two backslashes in front of single ones are meant as two."""
    return "\\\\" + raw if raw.startswith("\\\\") and re.search(r"[^\\]\\[^\\]", raw) else raw
