"""Text → where personal data and secrets stand in it.

The search is for anchors, not for patterns. The text is encoded once to one byte a character; `translate` makes maps of
character classes, as `str` again, in which `in` costs a fifth of what it costs in `bytes`; and `find` looks for runs in
them (three digits, sixteen token characters, hexadecimal around a colon, two capitals and two digits, cue words). Only
at what is found, one bounded pattern is matched, then a checksum. So the cost is a few passes in C plus a constant for
each look-alike, and no pattern can take more than linear time.

Names of persons and places are not looked for; a recogniser for them is one more of `PiiRules.finders`.
"""

import re
from operator import itemgetter

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
from processors.pii.matching import Hit, first
from processors.pii.overlaps import masked, merged, settled, touches
from processors.pii.rules import FOLLOWS, SHIPPED, Cue, PiiRules, Rule
from processors.pii.span import PiiSpan
from processors.pii.view import View, is_wide, view_of

PASSES_MAX = 4
"""How often text that touches values is searched: a chain of more values without a boundary is no writing."""

AROUND_CHARS = 224
"""How far from a value the text that touches it is searched again."""
EDGE_CHARS = 96
"""What stands closer to the edge of such a piece may be cut, or lack its cue."""
TOUCHED_MAX = 48
SPELLED_PARTS_MAX = 4


def find_pii(text: str, rules: PiiRules = SHIPPED) -> list[PiiSpan]:
    """Spans of personal data and secrets, in order, without overlaps; offsets are of `text` as given."""
    if "\\" in text or "&#" in text or is_wide(text):
        spans = find_in(view_of(text), rules)
    else:
        spans = [PiiSpan(start, end, rule.type, rule.id) for start, end, rule in _hits(text, rules)]
    if rules.finders:
        spans = merged(spans, (span for finder in rules.finders for span in finder(text)))
    return spans


def find_in(view: View, rules: PiiRules) -> list[PiiSpan]:
    """The same for a view, without the rules' finders; offsets are of the original text."""
    hits = _hits(view.text, rules)
    if not view.at:
        return [PiiSpan(start, end, rule.type, rule.id) for start, end, rule in hits]
    return [PiiSpan(view.original(start), view.original(end), rule.type, rule.id) for start, end, rule in hits]


def _hits(text: str, rules: PiiRules) -> list[Hit]:
    """Hits without overlaps. What touches one is searched again as it will stand: beside a placeholder, which is a
    boundary that it did not have.
    """
    hits = candidates(text, rules)
    if not hits:
        return hits
    hits = more = settled(hits)
    for _ in range(PASSES_MAX - 1):
        touched = [hit for hit in more if touches(text, hit)]
        if not touched:
            break
        text = masked(text, more)
        more = settled(_around(text, touched, rules))
        hits = sorted([*hits, *more], key=itemgetter(0)) if more else hits
    return hits


def _around(text: str, touched: list[Hit], rules: PiiRules) -> list[Hit]:
    """Hits beside the given ones; where those are many, in the whole text, which then costs less."""
    if len(touched) > TOUCHED_MAX:
        return candidates(text, rules)
    found: dict[tuple[int, int], Hit] = {}
    for start, end, _ in touched:
        low, high = max(0, start - AROUND_CHARS), min(len(text), end + AROUND_CHARS)
        first_sure = EDGE_CHARS if low else 0
        last_sure = high - low - (EDGE_CHARS if high < len(text) else 0)
        for a, b, rule in candidates(text[low:high], rules):
            if first_sure <= a and b <= last_sure:
                found[low + a, low + b] = (low + a, low + b, rule)
    return list(found.values())


def candidates(text: str, rules: PiiRules) -> list[Hit]:
    """What each anchor's rules match, overlaps included."""
    hits: list[Hit] = []
    plain = text.encode("ascii", "replace")
    low = plain.lower().decode()
    if "-" in text and KEY_BLOCK.needle in low:
        _shapes(text, low, KEY_BLOCK, rules, hits)
        plain = _blanked(plain, hits)
        low = plain.lower().decode()
    shape = plain.translate(SHAPE).decode()
    if ZERO in shape:
        _with_digits(text, (plain.translate(HEX).decode(), shape), rules, hits)
        if PLATE.needle in shape and not text.isascii():
            _shapes(text, shape, PLATE, rules, hits)
    if TOKEN_RUN in (tokens := plain.translate(TOKEN).decode()):
        _tokens(text, tokens, rules, hits)
    if ":" in text:
        _with_colons(text, (plain.translate(HEX).decode(), low), rules, hits)
    if "@" in text:
        _shapes(text, low, AT, rules, hits)
    if "+" in text:
        _shapes(text, low, PLUS, rules, hits)
    if "=" in text and "==" in low:
        _shapes(text, low, PADDING, rules, hits)
    if "[" in text or "(" in text:
        for anchor in SPELLED:
            if anchor.needle in low:
                _shapes(text, low, anchor, rules, hits)
    for needle, found in rules.words:
        if needle in low:
            _words(text, (low, needle), found, hits)
    if not text.isascii():
        if "@" in text:
            _shapes(text, low, AT_CJK, rules, hits)
        for letter, cues in rules.cues:
            if letter in text:
                _cues(text, letter, cues, hits)
    return hits


def _blanked(plain: bytes, hits: list[Hit]) -> bytes:
    """The bytes without the key blocks found: nothing in one is anything else."""
    blanked = bytearray(plain)
    for start, end, _ in hits:
        blanked[start:end] = b" " * (end - start)
    return bytes(blanked)


def _with_digits(text: str, maps: tuple[str, str], rules: PiiRules, hits: list[Hit]) -> None:
    hexes, shape = maps
    if "000" in shape:
        _digits(text, shape, rules, hits)
    if IBAN.needle in shape:
        _shapes(text, shape, IBAN, rules, hits)
    if QUAD.needle in shape:
        _shapes(text, shape, QUAD, rules, hits)
    if "." in text and DOTTED_HEX.needle in hexes:
        _shapes(text, hexes, DOTTED_HEX, rules, hits)
    if "-" in text and DASHED_HEX.needle in hexes:
        _shapes(text, hexes, DASHED_HEX, rules, hits)


def _with_colons(text: str, maps: tuple[str, str], rules: PiiRules, hits: list[Hit]) -> None:
    hexes, low = maps
    if COLON_HEX.needle in hexes:
        _shapes(text, hexes, COLON_HEX, rules, hits)
    if TWO_COLONS.needle in hexes:
        _shapes(text, hexes, TWO_COLONS, rules, hits)
    if URL.needle in low:
        _shapes(text, low, URL, rules, hits)


def _end_of(run: re.Pattern[str], text: str, at: int) -> int:
    match = run.match(text, at)
    return match.end() if match else at + 1


def _digits(text: str, shape: str, rules: PiiRules, hits: list[Hit]) -> None:
    at = shape.find("000")
    last, run_of_digits = len(text), DIGIT_RUN.match
    while at >= 0:
        end = run_of_digits(text, at).end()  # type: ignore[union-attr]  # three digits were found there
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
            found = rules.digits.get((end - at, follow if follow in FOLLOWS else "", text[at]))
        hit = None if found is None else first(found, text, start)
        if hit is not None:
            hits.append(hit)
            end = max(end, hit[1])
        at = shape.find("000", end)


def _tokens(text: str, tokens: str, rules: PiiRules, hits: list[Hit]) -> None:
    at = tokens.find(TOKEN_RUN)
    while at >= 0:
        end = _end_of(WORD_RUN, text, at)
        found = rules.tokens.get(text[at : at + 2], ()) + rules.token_lengths.get(end - at, ())
        hit = first(found, text, at) if found else None
        if hit is None and at and text[at - 1] == ".":
            start = _start_of(text, at, DOTTED, DOTTED_HEAD_CHARS)
            hit = first(rules.tokens.get(text[start : start + 2], ()), text, start)
        if hit is not None:
            hits.append(hit)
            end = max(end, hit[1])
        at = tokens.find(TOKEN_RUN, end)


def _shapes(text: str, plain: str, anchor: Shape, rules: PiiRules, hits: list[Hit]) -> None:
    needle, guard, run = anchor.needle, anchor.guard, anchor.run
    found = rules.shapes.get(anchor.name, ())
    at = plain.find(needle)
    while at >= 0:
        after = at + 1
        hit = None
        if guard is None or guard.match(text, at):
            hit = first(found, text, _reach(text, at, anchor))
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


def _spelled_start(text: str, at: int) -> int:
    """Where the local part begins that ends before `[at]`, `[dot]` and all."""
    start = at
    for _ in range(SPELLED_PARTS_MAX):
        end = start - 1 if text[start - 1 : start] == " " else start
        start = _start_of(text, end, SPELLED[0].left, SPELLED[0].left_max)
        space = start - 1 if text[start - 1 : start] == " " else start
        if text[max(0, space - 5) : space].lower() not in {"[dot]", "(dot)"}:
            break
        start = space - 5
    return start


def _reach(text: str, at: int, anchor: Shape) -> int:
    """Where a value begins whose anchor is at `at`."""
    if not anchor.left:
        return at
    if anchor.name == "spelled":
        return _spelled_start(text, at)
    start = _start_of(text, at + anchor.inside, anchor.left, anchor.left_max)
    if anchor.name == "at_cjk" and (local := cjk_local(text[max(0, start - 9) : start])):
        return start - len(local[1])
    return start


def _words(text: str, where: tuple[str, str], rules: tuple[Rule, ...], hits: list[Hit]) -> None:
    low, needle = where
    at = low.find(needle)
    while at >= 0:
        after = at + len(needle)
        hit = first(rules, text, at)
        if hit is not None:
            hits.append(hit)
            after = max(after, hit[1])
        at = low.find(needle, after)


def _cues(text: str, letter: str, cues: tuple[Cue, ...], hits: list[Hit]) -> None:
    at = text.find(letter)
    while at >= 0:
        after = at + 1
        for cue, place, rules in cues:
            hit = first(rules, text, at - place) if text.startswith(cue, at - place) else None
            if hit is not None:
                hits.append(hit)
                after = max(after, hit[1])
        at = text.find(letter, after)
