"""Text → where personal data and secrets stand in it.

The search is for anchors, not for patterns. The text is encoded once to one byte a character; `translate` makes maps of
character classes and `find` looks for runs in them (three digits, sixteen token characters, hexadecimal around a colon,
two capitals and two digits, cue words). Only at what is found, one bounded pattern is matched, then a checksum. So the
cost is a few passes in C plus a constant for each look-alike, and no pattern can take more than linear time.

Names of persons and places are not looked for; a recogniser for them is one more of `PiiRules.finders`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from processors.pii.rules import FOLLOWS, NEAR_CHARS, SHIPPED, PiiRules, Rule
from processors.pii.span import PiiSpan
from processors.pii.view import View, view_of

Hit = tuple[int, int, Rule]

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
_DOTTED = _LETTERS + "_-."


_SHAPE = _table((_DIGITS, b"0"), (_UPPER, b"U"), (_LOWER, b"l"), (b".", b"."), (b"?", b"?"))
_TOKEN = _table((_DIGITS + _UPPER + _LOWER + b"_-", b"T"))
_HEX = _table((_DIGITS + _HEX_LETTERS, b"h"), (b":", b":"), (b"-", b"-"), (b".", b"."))
_TOKEN_RUN = b"T" * TOKEN_CHARS_MIN
_U = ord("U")
_DIGIT_RUN = re.compile(r"[0-9]+")
_WORD_RUN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class _Shape:
    """An anchor that is a literal in one of the maps."""

    name: str
    needle: bytes
    map: int
    """0 = classes, 1 = hexadecimal, 2 = lower case."""
    left: str = ""
    """Characters before the anchor that may belong to the value."""
    left_max: int = 0
    inside: int = 0
    """How many characters of the anchor itself belong to `left`."""
    guard: "re.Pattern[str] | None" = None
    """What must stand at the anchor before anything else is tried."""
    run: "re.Pattern[str] | None" = None
    """What is passed over when no rule matches, so that a long run costs one look."""


_HEX_CHARS = (_DIGITS + _HEX_LETTERS).decode()
_LOCAL = _LETTERS + "._%+'-"
_CJK = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
cjk_local = re.compile(f"(?s)(?:.*[是为到给箱址系送]|.*[^{_CJK}]|)([{_CJK}]{{1,8}})\\Z").match
"""The Chinese part of an address at the end of up to nine characters: short, after a boundary or a word for `is`."""
_SPELLED = re.compile(r"[\[(][Aa][Tt][\])] ?[A-Za-z0-9-]{1,63} ?(?:[\[(][Dd][Oo][Tt][\])]|\.)")
_SHAPES = (
    _Shape("quad", b"0.0", 0, "0123456789", 3, 0, None, re.compile(r"[0-9.]+")),
    _Shape("iban", b"UU00", 0),
    _Shape("plate", b"?U", 0),
    _Shape("hex", b"h:h", 1, _HEX_CHARS + ":", 40, 1, None, re.compile(r"[0-9A-Fa-f:.]+")),
    _Shape("hex", b"::", 1, _HEX_CHARS + ":", 40, 1, None, re.compile(r"[0-9A-Fa-f:.]+")),
    _Shape("dashed", b"hh-hh-hh-hh-hh", 1, "", 0, 0, None, re.compile(r"[0-9A-Fa-f-]+")),
    _Shape("dotted", b"hhhh.hhhh.hhhh", 1, "", 0, 0, None, re.compile(r"[0-9A-Fa-f.]+")),
    _Shape("at", b"@", 2, _LOCAL, 64, 0, re.compile(r"@[\w-]{1,63}\.(?=\w)")),
    _Shape("at_cjk", b"@", 2, "", 0, 0, re.compile(f"(?<=[{_CJK}])@|@[A-Za-z0-9-]{{0,62}}[{_CJK}]")),
    _Shape("spelled", b"[at]", 2, _LOCAL + " ", 80, 0, _SPELLED),
    _Shape("spelled", b"(at)", 2, _LOCAL + " ", 80, 0, _SPELLED),
    _Shape("plus", b"+", 2, "(", 1, 0, re.compile(r"\+\(?[0-9]")),
    _Shape("url", b"://", 2),
    _Shape("pem", b"-----begin ", 2),
    _Shape("padding", b"==", 2, _LETTERS + "+/", 86),
)


def find_pii(text: str, rules: PiiRules = SHIPPED) -> list[PiiSpan]:
    """Spans of personal data and secrets, in order, without overlaps; offsets are of `text` as given."""
    spans = find_in(view_of(text), rules)
    if rules.finders:
        spans = _merged(spans, (span for finder in rules.finders for span in finder(text)))
    return spans


def find_in(view: View, rules: PiiRules) -> list[PiiSpan]:
    """The same for a view, without the rules' finders; offsets are of the original text."""
    hits = settled(candidates(view.text, rules))
    return [PiiSpan(view.original(start), view.original(end), rule.type, rule.id) for start, end, rule in hits]


def candidates(text: str, rules: PiiRules) -> list[Hit]:
    """What each anchor's rules match, overlaps included."""
    hits: list[Hit] = []
    plain = text.encode("ascii", "replace")
    shape = plain.translate(_SHAPE)
    low = plain.lower()
    if b"000" in shape:
        _digits(text, shape, rules, hits)
    tokens = plain.translate(_TOKEN)
    if _TOKEN_RUN in tokens:
        _tokens(text, tokens, rules, hits)
    maps = (shape, plain.translate(_HEX), low)
    for anchor in _SHAPES:
        if anchor.needle in maps[anchor.map] and anchor.name in rules.shapes:
            _shapes(text, maps[anchor.map], anchor, (rules.shapes[anchor.name], hits))
    for needle, found in rules.words:
        if needle in low:
            _words(text, (low, needle), found, hits)
    if not text.isascii():
        for cue, found in rules.cues:
            if cue in text:
                _words(text, (text, cue), found, hits)
    return hits


def attempt(rule: Rule, text: str, start: int) -> Hit | None:
    """One rule at one place: pattern, check, neighbourhood."""
    match = rule.match(text, start)
    if match is None:
        return None
    start, end = match.span(rule.group)
    if rule.check is not None and not rule.check(text[start:end]):
        end = _shrunk(rule, text, start, end) if rule.shrink else start
        if end == start:
            return None
    if rule.near is not None and not rule.near.search(text, max(0, start - NEAR_CHARS), start):
        return None
    if rule.unless is not None and rule.unless.search(text[max(0, start - NEAR_CHARS) : start]):
        return None
    for lead in rule.lead:
        if text.startswith(lead, max(0, start - len(lead)), start):
            return start - len(lead), end, rule
    return start, end, rule


def _shrunk(rule: Rule, text: str, start: int, end: int) -> int:
    for _ in range(4):
        cut = max(text.rfind(" ", start, end), text.rfind("-", start, end), text.rfind(".", start, end))
        if cut <= start:
            break
        end = cut
        if rule.check is not None and rule.check(text[start:end]):
            return end
    return start


def _first(rules: tuple[Rule, ...], text: str, start: int) -> Hit | None:
    for rule in rules:
        hit = attempt(rule, text, start)
        if hit is not None:
            return hit
    return None


def _end_of(run: re.Pattern[str], text: str, at: int) -> int:
    match = run.match(text, at)
    return match.end() if match else at + 1


def _digits(text: str, shape: bytes, rules: PiiRules, hits: list[Hit]) -> None:
    at = shape.find(b"000")
    last = len(text)
    while at >= 0:
        end = _end_of(_DIGIT_RUN, text, at)
        hit = None
        if at and shape[at - 1] == _U:
            if (found := rules.letters.get(end - at)) is not None:
                hit = _first(found, text, at - 2 if at > 1 and shape[at - 2] == _U else at - 1)
        else:
            follow = text[end] if end < last else ""
            if (found := rules.digits.get((end - at, follow if follow in FOLLOWS else ""))) is not None:
                hit = _first(found, text, at)
        if hit is not None:
            hits.append(hit)
            end = max(end, hit[1])
        at = shape.find(b"000", end)


def _tokens(text: str, tokens: bytes, rules: PiiRules, hits: list[Hit]) -> None:
    at = tokens.find(_TOKEN_RUN)
    while at >= 0:
        end = _end_of(_WORD_RUN, text, at)
        found = rules.tokens.get(text[at : at + 2], ()) + rules.token_lengths.get(end - at, ())
        hit = _first(found, text, at) if found else None
        if hit is None and at and text[at - 1] == ".":
            start = _start_of(text, at, _DOTTED, DOTTED_HEAD_CHARS)
            hit = _first(rules.tokens.get(text[start : start + 2], ()), text, start)
        if hit is not None:
            hits.append(hit)
            end = max(end, hit[1])
        at = tokens.find(_TOKEN_RUN, end)


def _shapes(text: str, plain: bytes, anchor: _Shape, found: tuple[tuple[Rule, ...], list[Hit]]) -> None:
    rules, hits = found
    at = plain.find(anchor.needle)
    while at >= 0:
        after = at + 1
        if anchor.guard is None or anchor.guard.match(text, at):
            hit = _first(rules, text, _reach(text, at, anchor))
            if hit is not None:
                hits.append(hit)
                after = max(after, hit[1])
            elif anchor.run is not None and (run := anchor.run.match(text, at)):
                after = max(after, run.end())
        at = plain.find(anchor.needle, after)


def _start_of(text: str, at: int, members: str, most: int) -> int:
    """Where the run of `members` that ends before `at` begins, at most so many characters back."""
    before = text[max(0, at - most) : at]
    return at - len(before) + len(before.rstrip(members))


def _reach(text: str, at: int, anchor: _Shape) -> int:
    """Where a value begins whose anchor is at `at`."""
    if anchor.name == "at_cjk":
        start = _start_of(text, at, _LOCAL, 64)
        local = cjk_local(text[max(0, start - 9) : start])
        return start - len(local[1]) if local else start
    if not anchor.left:
        return at
    return _start_of(text, at + anchor.inside, anchor.left, anchor.left_max)


def _words(text: str, where: tuple[bytes, bytes] | tuple[str, str], rules: tuple[Rule, ...], hits: list[Hit]) -> None:
    hay, needle = where
    at = hay.find(needle)  # type: ignore[arg-type]  # both bytes or both str
    while at >= 0:
        after = at + len(needle)
        hit = _first(rules, text, at)
        if hit is not None:
            hits.append(hit)
            after = max(after, hit[1])
        at = hay.find(needle, after)  # type: ignore[arg-type]


def settled(hits: list[Hit]) -> list[Hit]:
    """Hits without overlaps: of two that claim a place the lower rank keeps it, then the longer."""
    if len(hits) < 2:
        return hits
    hits.sort(key=lambda hit: (hit[0], -hit[1]))
    kept: list[Hit] = []
    for hit in hits:
        if not kept or hit[0] >= kept[-1][1]:
            kept.append(hit)
        elif hit[2].rank < kept[-1][2].rank:
            start, end, _ = kept.pop()
            kept.append((start, max(hit[1], end), hit[2]))
    return kept


def _merged(spans: list[PiiSpan], more: Iterable[PiiSpan]) -> list[PiiSpan]:
    kept = list(spans)
    for span in more:
        if all(span.end <= other.start or span.start >= other.end for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)
