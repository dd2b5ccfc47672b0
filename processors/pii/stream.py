"""Chunks of one text → the same text without personal data, as early as it is safe.

What may be the beginning of a value is held back from where that begins: the last word, a chain of groups of digits, a
value whose cue stands before it, a key block. All else goes out with the chunk that completed it. What was sent stays
in a short memory, because cues and boundaries stand to the left of values. Values that a cue or a header begins are
recognised as open by searching with letters and digits appended: what then reaches over the end is not complete.

The result does not depend on how the text was cut, as long as no value is longer than `HELD_CHARS_MAX`. A longer one
gets its placeholder there, and what follows up to its end is dropped.
"""

import re

from processors.pii.anchors import PROVINCES, cjk_local
from processors.pii.find import find_in, find_pii
from processors.pii.redact import Naming, plain, quote_for
from processors.pii.rules import NEAR_CHARS, SHIPPED, PiiRules
from processors.pii.span import PiiSpan
from processors.pii.view import view_of

MEMORY_CHARS = NEAR_CHARS + 64
"""What is kept of the text already sent: a cue, what stands between it and its value, and a boundary."""
HELD_CHARS_MAX = 8_192
"""Longest text held back: a 4,096-bit RSA key in PEM has 3,300 characters, and long tokens stay under 4,000."""
LONG_HELD_CHARS = 64
"""Held text from which on a chunk without a boundary is only appended, not searched."""
LONG_RUN_CHARS = 256
"""What stays held of a longer run that is no value: the beginning of no value is further back."""
GROUPS_MAX = 12
"""Most groups of one number: an IBAN has nine."""
ESCAPED_CHARS = 8
"""Characters of one escape two levels deep: so much longer is the memory of escaped text."""
_TAIL_CHARS = 90
PROBE = "q7R-k2W.m9T_z4Xb8J.c5V-y3N"
"""Completes any value that a cue begins, and is no value itself."""

_UPPER, _LOWER, _DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
_BEYOND = "".join(
    map(chr, (*range(0xC0, 0x180), *range(0xFF10, 0xFF1A), *range(0xFF20, 0xFF3B), *range(0xFF41, 0xFF5B)))
)
_WORD = _LOWER + _UPPER + _DIGITS + "!#$%&'()*+,-./:;=?@[]\\^_~·•‧・（）" + _BEYOND
"""What stands inside values; anything else ends them."""
_LOCAL = _LOWER + _UPPER + _DIGITS + "._%+'-"
_GROUP = _UPPER + _DIGITS + "+().-/x（）"
_GROUP_ENDS = frozenset(_UPPER + _DIGITS + ")）x")
_GROUP_BEGINS = frozenset(_UPPER + _DIGITS + "(+（")
_DIGIT_SET = frozenset(_DIGITS)
_KEY = _LOWER + _UPPER + _DIGITS + "+/=-_."
_KEY_BLOCK = _LOWER + _UPPER + _DIGITS + "+/=-_. \n\r\t\\"
_PROVINCES = frozenset(PROVINCES)
_CJK = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_header = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}-{0,5}\Z").match
_spelled = re.compile(
    r"(?i)(?:[\[(](?:dot|at)[\])] ?[A-Z0-9._+\u00c0-\u024f-]{0,63} ?){0,8}(?:[\[(](?:at?|d|dot?)?)?\Z"
).match
_cjk_domain = re.compile(f"(?:(?<=[{_CJK}])@|@[A-Za-z0-9-]{{0,24}}[{_CJK}])[{_CJK}A-Za-z0-9.-]{{0,60}}\\Z").match
_plain = re.compile(f"[A-Za-z\\s,.!?;'\"|*#<>{{}}/_=`。，、；：！？“”‘’…（）《》{_CJK}-]*\\Z").match
_long_word = re.compile(r"[A-Za-z_/-]{16}").search
_open_escape = re.compile(r"(?:\\+u[0-9a-fA-F]{0,3}|&(?:#(?:[0-9]{0,3}|[xX][0-9a-fA-F]{0,2}))?)\Z").search
_CUE_CHARS = 12
"""One less than the longest cue word."""


class StreamRedactor:
    """Redacts one text that comes in chunks; holds back only what may be the beginning of a value."""

    __slots__ = ("_buffer", "_cue_chars", "_cues", "_dropping", "_is_plain", "_naming", "_rules", "_sent")

    def __init__(self, rules: PiiRules = SHIPPED, naming: Naming = plain) -> None:
        self._rules = rules
        self._naming = naming
        self._cues = (*(needle for needle, _ in rules.words), *(letter for letter, _ in rules.cues))
        self._buffer = ""
        """Memory of what was sent, then what is held."""
        self._sent = 0
        """Where in the buffer the held text begins."""
        self._is_plain = True
        """Whether the held text has only letters, spaces and stops."""
        self._cue_chars = 0
        """For how many more characters a cue that was seen may begin a value."""
        self._dropping = ""
        """Characters of the rest of a value that was too long; while there are some, they are dropped."""

    def feed(self, text: str) -> str:
        """Take a chunk, give what can be sent."""
        if self._dropping:
            text = self._after_value(text)
        buffer, held = self._buffer + text, len(self._buffer) - self._sent
        if self._rules.finders:
            return self._send_lines(buffer)
        if LONG_HELD_CHARS < held <= HELD_CHARS_MAX and not text.rstrip(_WORD):
            self._buffer = buffer
            return ""
        follows_cue = self._follows_cue(buffer[-_CUE_CHARS - len(text) :], len(text))
        if self._is_plain and not follows_cue and _plain(text):
            held_text = buffer[self._sent :]
            if "--" not in held_text and not _long_word(held_text):
                return self._send_plain(buffer)
        return self._send_searched(buffer)

    @property
    def held(self) -> str:
        """What was taken and not given yet."""
        return self._buffer[self._sent :]

    def _send_lines(self, buffer: str) -> str:
        """With searches that don't say where their values begin: whole lines, or what is longer than may be held."""
        cut = buffer.rfind("\n", self._sent) + 1
        if len(buffer) - max(cut, self._sent) > HELD_CHARS_MAX:
            cut = len(buffer) - LONG_RUN_CHARS
        if cut <= self._sent:
            self._buffer = buffer
            return ""
        spans = find_pii(buffer, self._rules)
        for span in spans:
            if span.end > cut:
                cut = min(cut, max(span.start, self._sent))
        return self._send(buffer, [span for span in spans if span.end <= cut], cut)

    def _follows_cue(self, text: str, new_chars: int) -> bool:
        low = text.lower()
        for cue in self._cues:
            if cue in low:
                self._cue_chars = MEMORY_CHARS
                return True
        self._cue_chars -= new_chars
        return self._cue_chars > 0

    def _send_plain(self, buffer: str) -> str:
        """Text in which no value can be: no digit, no mark, no long word, no cue before it."""
        cut = len(buffer.rstrip(_WORD))
        if cut == len(buffer) and buffer[-1:] == " ":
            cut = _last_word(buffer)
        if cut and buffer[cut - 1] >= "\u3040":
            cut = _before_cjk(buffer, cut)
        sent = self._sent
        cut = max(sent, cut)
        if len(buffer) - cut > HELD_CHARS_MAX:
            return self._send_searched(buffer)
        start = cut - MEMORY_CHARS if cut > MEMORY_CHARS else 0
        self._buffer, self._sent = buffer[start:], cut - start
        return buffer[sent:cut]

    def _send_searched(self, buffer: str) -> str:
        whole = len(buffer.rstrip("\\"))
        if (escape := _open_escape(buffer, max(0, len(buffer) - LONG_HELD_CHARS))) is not None:
            whole = escape.start()
        if len(buffer) - whole > LONG_HELD_CHARS:
            whole = len(buffer)
        view = view_of(buffer[:whole] + PROBE)
        spans = find_in(view, self._rules)
        cut = max(self._sent, view.original(open_from(view.text[: -len(PROBE)])))
        for span in spans:
            if span.end > cut:
                cut = min(cut, max(span.start, self._sent))
        if len(buffer) - cut > HELD_CHARS_MAX:
            cut = self._cut_long(buffer, cut, spans)
        sent = self._send(buffer, [span for span in spans if span.end <= cut], cut)
        self._is_plain = _plain(self._buffer, self._sent) is not None
        return sent

    def close(self) -> str:
        """Give the rest: the text ended here."""
        return self._send(self._buffer, find_pii(self._buffer, self._rules), len(self._buffer))

    def _send(self, buffer: str, spans: list[PiiSpan], cut: int) -> str:
        parts: list[str] = []
        seen = self._sent
        for span in spans:
            if span.end <= seen:
                continue
            quote = quote_for(buffer, span)
            parts += (buffer[seen : span.start], quote, self._naming(span.type, buffer[span.start : span.end]), quote)
            seen = span.end
        parts.append(buffer[seen:cut])
        is_escaped = "\\" in buffer or "&#" in buffer
        start = max(0, cut - (MEMORY_CHARS * ESCAPED_CHARS if is_escaped else MEMORY_CHARS))
        self._buffer, self._sent = buffer[start:], cut - start
        return "".join(parts)

    def _cut_long(self, buffer: str, cut: int, spans: list[PiiSpan]) -> int:
        """Where a held text that is too long is cut; a value in it is closed and its rest will be dropped."""
        last = spans[-1] if spans else None
        if last is not None and last.end > cut and last.start <= cut:
            spans[-1] = PiiSpan(last.start, len(buffer), last.type, last.rule)
            self._dropping = _KEY_BLOCK if last.type == "private_key" else _KEY
            return len(buffer)
        return max(cut, len(buffer) - LONG_RUN_CHARS)

    def _after_value(self, text: str) -> str:
        rest = text.lstrip(self._dropping)
        if rest:
            self._dropping = ""
        return rest


def open_from(text: str) -> int:
    """Where in a text that goes on the part begins that may be an unfinished value."""
    word = len(text.rstrip(_WORD))
    start = word
    if word == len(text):
        start = _last_word(text) if text.endswith(" ") else word
    elif text[word] in "[(":
        start = _last_word(text[:word])
    start = min(start, _first_group(text, word), _opening(text))
    return _before_cjk(text, start) if start and text[start - 1] >= "\u3040" else start


def _before_cjk(text: str, start: int) -> int:
    """Where the Chinese part of an address, or a plate's province, begins that ends at `start`."""
    start = len(text[:start].rstrip(_LOCAL))
    local = cjk_local(text[max(0, start - 9) : start])
    if local is not None:
        return start - len(local[1])
    return start - 1 if text[start - 1 : start] in _PROVINCES else start


def _opening(text: str) -> int:
    """Where a header of a key block, a spelled-out address or a domain in Chinese begins that the end leaves open."""
    end = len(text)
    tail = max(0, end - _TAIL_CHARS)
    if (at := text.rfind("-----BEGIN ", tail)) >= 0 and _header(text, at):
        return at
    if (at := text.rfind("@", tail)) >= 0 and _cjk_domain(text, at):
        return at
    for bracket in "[(":
        at = text.find(bracket, tail)
        while at >= 0:
            if _spelled(text, at):
                return _last_word(text[:at])
            at = text.find(bracket, at + 1)
    return end


def _last_word(text: str) -> int:
    """Where the word before one last space begins: `[at]` may follow it."""
    word = text[-66:].removesuffix(" ")
    return len(text) - 66 + len(word.rstrip(_LOCAL)) if len(text) > 66 else len(word.rstrip(_LOCAL))


def _first_group(text: str, start: int) -> int:
    """Where the chain of groups of digits or capitals begins that reaches `start`."""
    if start < len(text) and text[start] not in _GROUP_BEGINS:
        return start
    for _ in range(GROUPS_MAX):
        if start < 2 or text[start - 1] not in " -" or text[start - 2] not in _GROUP_ENDS:
            break
        begin = len(text[: start - 1].rstrip(_GROUP))
        if not any(c in _DIGIT_SET for c in text[begin:start]) and start - begin != 5:
            break
        start = begin
    return start
