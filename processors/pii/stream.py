"""Chunks of one text → the same text without personal data, as early as it is safe.

What may be the beginning of a value is held back from where that begins: the last word, a chain of groups of digits, a
value whose cue stands before it, a key block. All else goes out with the chunk that completed it. What was sent stays
in a short memory, because cues and boundaries stand to the left of values. Values that a cue or a header begins are
recognised as open by searching with letters and digits appended: what then reaches over the end is not complete.

The result does not depend on how the text was cut, as long as no value is longer than `HELD_CHARS_MAX`. A longer one
gets its placeholder there, and what follows up to its end is dropped.
"""

import re

from processors.pii.find import cjk_local, find_in
from processors.pii.redact import Naming, plain, quote_for
from processors.pii.rules import NEAR_CHARS, SHIPPED, PiiRules
from processors.pii.span import PiiSpan
from processors.pii.view import view_of

MEMORY_CHARS = NEAR_CHARS + 64
"""What is kept of the text already sent: a cue, what stands between it and its value, and a boundary."""
HELD_CHARS_MAX = 8_192
"""Longest text held back: a 4,096-bit RSA key in PEM has 3,300 characters, and long tokens stay under 4,000."""
LONG_RUN_CHARS = 256
"""What stays held of a longer run that is no value: the beginning of no value is further back."""
GROUPS_MAX = 12
"""Most groups of one number: an IBAN has nine."""
ESCAPED_CHARS = 8
"""Characters of one escape two levels deep: so much longer is the memory of escaped text."""
_TAIL_CHARS = 150
PROBE = "q7R-k2W.m9T_z4Xb8J.c5V-y3N"
"""Completes any value that a cue begins, and is no value itself."""

_UPPER, _LOWER, _DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
_LATIN = "".join(map(chr, range(0xC0, 0x180)))
_WORD = _LOWER + _UPPER + _DIGITS + "!#$%&'()*+,-./:;=?@[]\\^_~·•‧・（）" + _LATIN
"""What stands inside values; anything else ends them."""
_LOCAL = _LOWER + _UPPER + _DIGITS + "._%+'-"
_GROUP = _UPPER + _DIGITS + "+().-/x（）"
_GROUP_ENDS = frozenset(_UPPER + _DIGITS + ")）x")
_GROUP_BEGINS = frozenset(_UPPER + _DIGITS + "(+（")
_DIGIT_SET = frozenset(_DIGITS)
_KEY_BLOCK = _LOWER + _UPPER + _DIGITS + "+/=-_. \n\r\t\\"
_PROVINCES = frozenset("京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼使领")
_CJK = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_cjk_domain = re.compile(f"(?:(?<=[{_CJK}])@|@[A-Za-z0-9-]{{0,24}}[{_CJK}])[{_CJK}A-Za-z0-9.-]{{0,60}}\\Z").search
_header = re.compile(r"-{1,5}(?:B(?:E(?:G(?:I(?:N(?: [A-Z0-9 ]{0,40}-{0,5})?)?)?)?)?)?\Z").search
_spelled = re.compile(
    r"(?i)[A-Z0-9._%+'-]{1,64} ?[\[(](?:a(?:t(?:[\])](?: ?[A-Z0-9-]{0,63}(?: ?[\[(]?(?:d(?:ot?)?)?)?)?)?)?)?\Z"
).search
_OPENINGS = (("-", _header), ("[", _spelled), ("(", _spelled), ("@", _cjk_domain))


class StreamRedactor:
    """Redacts one text that comes in chunks; holds back only what may be the beginning of a value."""

    __slots__ = ("_buffer", "_dropping", "_naming", "_rules", "_sent")

    def __init__(self, rules: PiiRules = SHIPPED, naming: Naming = plain) -> None:
        self._rules = rules
        self._naming = naming
        self._buffer = ""
        self._sent = 0
        self._dropping = False

    def feed(self, text: str) -> str:
        """Take a chunk, give what can be sent."""
        if self._dropping:
            text = self._after_value(text)
        buffer = self._buffer + text
        view = view_of(buffer + PROBE)
        spans = find_in(view, self._rules)
        cut = view.original(open_from(view.text[: -len(PROBE)]))
        for span in spans:
            if span.end > cut:
                cut = min(cut, max(span.start, self._sent))
        if len(buffer) - cut > HELD_CHARS_MAX:
            cut = self._cut_long(buffer, cut, spans)
        return self._send(buffer, [span for span in spans if span.end <= cut], cut)

    def close(self) -> str:
        """Give the rest: the text ended here."""
        spans = find_in(view_of(self._buffer), self._rules)
        return self._send(self._buffer, spans, len(self._buffer))

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
        start = max(0, cut - MEMORY_CHARS)
        if "\\" in buffer:
            start = max(0, cut - MEMORY_CHARS * ESCAPED_CHARS)
        self._buffer, self._sent = buffer[start:], cut - start
        return "".join(parts)

    def _cut_long(self, buffer: str, cut: int, spans: list[PiiSpan]) -> int:
        """Where a held text that is too long is cut; a value in it is closed and its rest will be dropped."""
        last = spans[-1] if spans else None
        if last is not None and last.end > cut and last.start <= cut:
            spans[-1] = PiiSpan(last.start, len(buffer), last.type, last.rule)
            self._dropping = True
            return len(buffer)
        return max(cut, len(buffer) - LONG_RUN_CHARS)

    def _after_value(self, text: str) -> str:
        rest = text.lstrip(_KEY_BLOCK)
        self._dropping = not rest
        return rest


def open_from(text: str) -> int:
    """Where in a text that goes on the part begins that may be an unfinished value."""
    start = len(text.rstrip(_WORD))
    if start == len(text):
        start = _last_word(text)
    elif text[start] in "[(":
        start = _last_word(text[:start])
    start = _first_group(text, start)
    tail = text[-_TAIL_CHARS:]
    for mark, search in _OPENINGS:
        if mark in tail and (opening := search(tail)) is not None:
            start = min(start, len(text) - len(tail) + opening.start())
    if start and text[start - 1] >= "\u3040":
        start = len(text[:start].rstrip(_LOCAL))
        local = cjk_local(text[max(0, start - 9) : start])
        if local is not None:
            return start - len(local[1])
        if text[start - 1 : start] in _PROVINCES:
            return start - 1
    return start


def _last_word(text: str) -> int:
    """Where the word before one last space begins: `[at]` may follow it."""
    if not text.endswith(" "):
        return len(text)
    return len(text[-66:-1].rstrip(_LOCAL)) + max(0, len(text) - 66)


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
