"""Text → where personal data and secrets stand in it.

The search is for anchors, not for patterns. The text is encoded once to one byte a character; `translate` makes maps of
character classes and `find` looks for runs in them (three digits, sixteen token characters, hexadecimal around a colon,
two capitals and two digits, cue words). Only at what is found, one bounded pattern is matched, then a checksum. So the
cost is a few passes in C plus a constant for each look-alike, and no pattern can take more than linear time.

Names of persons and places are not looked for; a recogniser for them is one more of `PiiRules.finders`.
"""

import re
from collections.abc import Iterable

from processors.pii.anchors import (
    AT,
    AT_CJK,
    COLON_HEX,
    DASHED_HEX,
    DIGIT_RUN,
    DOTTED,
    DOTTED_HEAD_CHARS,
    DOTTED_HEX,
    HEX,
    IBAN,
    KEY_BLOCK,
    LOWER,
    PADDING,
    PLATE,
    PLUS,
    QUAD,
    SHAPE,
    SPACE,
    SPELLED,
    STOP,
    TOKEN,
    TOKEN_RUN,
    TWO_COLONS,
    UPPER,
    URL,
    WORD_RUN,
    ZERO,
    Shape,
    cjk_local,
)  # fmt: skip
from processors.pii.rules import FOLLOWS, NEAR_CHARS, SHIPPED, Cue, PiiRules, Rule
from processors.pii.span import PiiSpan
from processors.pii.view import View, is_wide, view_of

Hit = tuple[int, int, Rule]
"""Start, end, and the rule that found it."""


def find_pii(text: str, rules: PiiRules = SHIPPED) -> list[PiiSpan]:
    """Spans of personal data and secrets, in order, without overlaps; offsets are of `text` as given."""
    if "\\" in text or is_wide(text):
        spans = find_in(view_of(text), rules)
    elif hits := candidates(text, rules):
        spans = [PiiSpan(start, end, rule.type, rule.id) for start, end, rule in settled(hits)]
    else:
        spans = []
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
    shape = plain.translate(SHAPE)
    low = plain.lower()
    if ZERO in shape:
        _with_digits(text, (plain, shape), rules, hits)
    if TOKEN_RUN in (tokens := plain.translate(TOKEN)):
        _tokens(text, tokens, rules, hits)
    if ":" in text:
        _with_colons(text, plain, rules, hits)
    if "@" in text:
        _shapes(text, low, AT, rules, hits)
    if "+" in text:
        _shapes(text, low, PLUS, rules, hits)
    if "=" in text and b"==" in low:
        _shapes(text, low, PADDING, rules, hits)
    if "-" in text and KEY_BLOCK.needle in low:
        _shapes(text, low, KEY_BLOCK, rules, hits)
    if "[" in text or "(" in text:
        for anchor in SPELLED:
            if anchor.needle in low:
                _shapes(text, low, anchor, rules, hits)
    for needle, found in rules.words:
        if needle in low:
            _words(text, (low, needle), found, hits)
    if not text.isascii():
        _beyond_ascii(text, (low, shape), rules, hits)
    return hits


def _with_digits(text: str, maps: tuple[bytes, bytes], rules: PiiRules, hits: list[Hit]) -> None:
    plain, shape = maps
    if b"000" in shape:
        _digits(text, shape, rules, hits)
    if IBAN.needle in shape:
        _shapes(text, shape, IBAN, rules, hits)
    if QUAD.needle in shape:
        _shapes(text, shape, QUAD, rules, hits)
    if "." in text or "-" in text:
        hexes = plain.translate(HEX)
        if DOTTED_HEX.needle in hexes:
            _shapes(text, hexes, DOTTED_HEX, rules, hits)
        if DASHED_HEX.needle in hexes:
            _shapes(text, hexes, DASHED_HEX, rules, hits)


def _with_colons(text: str, plain: bytes, rules: PiiRules, hits: list[Hit]) -> None:
    hexes = plain.translate(HEX)
    if COLON_HEX.needle in hexes:
        _shapes(text, hexes, COLON_HEX, rules, hits)
    if TWO_COLONS.needle in hexes:
        _shapes(text, hexes, TWO_COLONS, rules, hits)
    if URL.needle in plain:
        _shapes(text, plain, URL, rules, hits)


def _beyond_ascii(text: str, maps: tuple[bytes, bytes], rules: PiiRules, hits: list[Hit]) -> None:
    low, shape = maps
    if PLATE.needle in shape:
        _shapes(text, shape, PLATE, rules, hits)
    if "@" in text:
        _shapes(text, low, AT_CJK, rules, hits)
    for letter, cues in rules.cues:
        if letter in text:
            _cues(text, letter, cues, hits)


def _first(rules: tuple[Rule, ...], text: str, start: int) -> Hit | None:
    """What the first rule finds that matches at a place and passes its checks."""
    for rule in rules:
        match = rule.match(text, start)
        if match is not None:
            hit = _checked(rule, text, match)
            if hit is not None:
                return hit
    return None


def _checked(rule: Rule, text: str, match: re.Match[str]) -> Hit | None:
    start, end = match.span(rule.group)
    if rule.unless is not None and rule.unless.search(text[max(0, start - NEAR_CHARS) : start]):
        return None
    if rule.check is not None and not rule.check(text[start:end]):
        end = _shrunk(rule, text, start, end) if rule.shrink else start
        if end == start:
            return None
    if rule.near is not None and not rule.near.search(text, max(0, start - NEAR_CHARS), start):
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


def _end_of(run: re.Pattern[str], text: str, at: int) -> int:
    match = run.match(text, at)
    return match.end() if match else at + 1


def _digits(text: str, shape: bytes, rules: PiiRules, hits: list[Hit]) -> None:
    at = shape.find(b"000")
    last = len(text)
    while at >= 0:
        end = _end_of(DIGIT_RUN, text, at)
        before = shape[at - 1] if at else SPACE
        start = at
        if before == UPPER:
            found = rules.letters.get(end - at)
            start = at - 2 if at > 1 and shape[at - 2] == UPPER else at - 1
        elif before == LOWER:
            found = rules.worded.get(end - at)
        elif before == STOP and at > 1 and shape[at - 2] == ZERO:
            found = None
        else:
            follow = text[end] if end < last else ""
            found = rules.digits.get((end - at, follow if follow in FOLLOWS else ""))
        hit = None if found is None else _first(found, text, start)
        if hit is not None:
            hits.append(hit)
            end = max(end, hit[1])
        at = shape.find(b"000", end)


def _tokens(text: str, tokens: bytes, rules: PiiRules, hits: list[Hit]) -> None:
    at = tokens.find(TOKEN_RUN)
    while at >= 0:
        end = _end_of(WORD_RUN, text, at)
        found = rules.tokens.get(text[at : at + 2], ()) + rules.token_lengths.get(end - at, ())
        hit = _first(found, text, at) if found else None
        if hit is None and at and text[at - 1] == ".":
            start = _start_of(text, at, DOTTED, DOTTED_HEAD_CHARS)
            hit = _first(rules.tokens.get(text[start : start + 2], ()), text, start)
        if hit is not None:
            hits.append(hit)
            end = max(end, hit[1])
        at = tokens.find(TOKEN_RUN, end)


def _shapes(text: str, plain: bytes, anchor: Shape, rules: PiiRules, hits: list[Hit]) -> None:
    needle, guard, run = anchor.needle, anchor.guard, anchor.run
    found = rules.shapes.get(anchor.name, ())
    at = plain.find(needle)
    while at >= 0:
        after = at + 1
        hit = None
        if guard is None or guard.match(text, at):
            hit = _first(found, text, _reach(text, at, anchor))
        if hit is not None:
            hits.append(hit)
            after = max(after, hit[1])
        elif run is not None:
            after = max(after, _end_of(run, text, at))
        at = plain.find(needle, after)


def _start_of(text: str, at: int, members: str, most: int) -> int:
    """Where the run of `members` that ends before `at` begins, at most so many characters back."""
    before = text[max(0, at - most) : at]
    return at - len(before) + len(before.rstrip(members))


def _reach(text: str, at: int, anchor: Shape) -> int:
    """Where a value begins whose anchor is at `at`."""
    if not anchor.left:
        return at
    start = _start_of(text, at + anchor.inside, anchor.left, anchor.left_max)
    if anchor.name == "at_cjk" and (local := cjk_local(text[max(0, start - 9) : start])):
        return start - len(local[1])
    return start


def _words(text: str, where: tuple[bytes, bytes], rules: tuple[Rule, ...], hits: list[Hit]) -> None:
    low, needle = where
    at = low.find(needle)
    while at >= 0:
        after = at + len(needle)
        hit = _first(rules, text, at)
        if hit is not None:
            hits.append(hit)
            after = max(after, hit[1])
        at = low.find(needle, after)


def _cues(text: str, letter: str, cues: tuple[Cue, ...], hits: list[Hit]) -> None:
    at = text.find(letter)
    while at >= 0:
        after = at + 1
        for cue, place, rules in cues:
            hit = _first(rules, text, at - place) if text.startswith(cue, at - place) else None
            if hit is not None:
                hits.append(hit)
                after = max(after, hit[1])
        at = text.find(letter, after)


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
