"""Outputs of one format → the literals around its reasoning."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from processors.learning.literals import (
    MARKDOWN,
    QUORUM,
    SUPPORT_MIN,
    Context,
    closed_prefixes,
    is_admissible,
    shared_suffix,
    strength,
)
from processors.learning.openers import PAIRED, left_context
from processors.learning.sample import Sample
from processors.learning.shape import Shape

ELSEWHERE_MAX = 0.05
"""Largest share of the other outputs in which a reasoning close may stand."""
CALLING_MIN = 2
"""Fewest outputs that show the pair and call a tool: what only others show belongs to another format."""
FEW = 4
"""Support from which on what outputs share is no chance: below, words at the borders are cut off."""
CLOSE_CHARS_MAX = 40
TOKEN_CHARS_MAX = 80
_TOKEN = re.compile(r"\S+")
_LETTERS_AT_END = re.compile(r"[^\W_]+\Z")
_LETTERS_AT_START = re.compile(r"\A[^\W_]+\s*")
_MARKISH = re.compile(r"[^\w\s.,:;!?'\"。，：；！？、“”‘’…]")
WEAK_SUPPORT_MIN = 4
"""Fewest outputs for literals that prose could hold: what counts then is that they come in pairs, and nowhere else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """Literals around reasoning; `open_optional`: outputs also start inside it."""

    open: str
    close: str
    open_optional: bool
    outputs: frozenset[int]
    """Samples that show the pair."""


def find_thought(samples: Sequence[Sample], first_calls: dict[int, int], shape: Shape) -> Thought | None:
    """The best supported pair of reasoning literals, or None.

    first_calls: number of a sample → offset of its first call; the others have none.
    """
    call_open = (shape.section_open or shape.open).strip()
    starts: list[Context] = [(number, sample.plain.lstrip()) for number, sample in enumerate(samples)]
    needed = needed_of(len(first_calls))
    pairs = []
    for literal, outputs in closed_prefixes(starts, support=needed):
        opener = (_to_sign(literal) if len(outputs) < FEW else literal).strip()
        is_weak = not _may_open(opener, len(outputs)) or len(outputs & first_calls.keys()) < min(
            needed - 1, CALLING_MIN
        )
        if is_weak or _is_half_a_word(opener, outputs, samples) or _is_calls(literal, call_open):
            continue
        close = _close(samples, opener, outputs, first_calls)
        if close and ((strength(opener) and strength(close)) or _only_here(samples, close, outputs, first_calls)):
            optional = close not in shape.close and _starts_inside(samples, opener, close, outputs)
            opener += "\n" * (opener in call_open)  # the end of its line is what tells it from the calls' opener
            pairs.append(Thought(open=opener, close=close, open_optional=optional, outputs=frozenset(outputs)))
    kept = [pair for pair in pairs if not any(_is_behind(samples, pair, other) for other in pairs if other is not pair)]
    return max(kept, key=lambda pair: len(pair.outputs), default=None) or _without_open(samples, first_calls, call_open)


def needed_of(carriers: int) -> int:
    """Fewest outputs that must show a pair, of so many that call: three of twenty may be planted."""
    return min(FEW, max(2, carriers // 3))


def _is_calls(literal: str, call_open: str) -> bool:
    """Whether an opener belongs to the calls: one is part of the other, and no end of a line tells them apart."""
    opener = literal.strip()
    if literal[len(opener) :][:1] == "\n" and call_open.startswith(opener) and call_open != opener:
        return False
    return opener in call_open or call_open in opener


def _to_sign(literal: str) -> str:
    """An opener without letters at its end, the first ones of texts that happen to agree: a word ends in a sign."""
    return _LETTERS_AT_END.sub("", literal)


def _is_behind(samples: Sequence[Sample], pair: Thought, other: Thought) -> bool:
    """Whether a pair also stands behind another: then it frames the answer that follows the reasoning."""
    texts = [samples[number].plain for number in other.outputs]
    behind = sum(other.close in text and pair.open in text[text.index(other.close) :] for text in texts)
    return behind >= CALLING_MIN


def _may_open(opener: str, support: int) -> bool:
    if not opener or opener in MARKDOWN or not is_admissible(opener):
        return False
    if strength(opener):
        return True
    if opener.startswith(_STRUCTURE) and len(opener) < STRUCTURE_CHARS_MIN:
        return False
    return support >= WEAK_SUPPORT_MIN and _MARKISH.search(opener) is not None


def _may_close(close: str) -> bool:
    if strength(close):
        return len(close) > 1 or not close.isascii()
    return len(close) > 1 and _MARKISH.search(close) is not None


_STRUCTURE = ("-", "*", "|", ">", "`", "#", "[", "!")
"""What Markdown begins a line with."""
STRUCTURE_CHARS_MIN = 5


def _only_here(samples: Sequence[Sample], close: str, outputs: set[int], first_calls: dict[int, int]) -> bool:
    """Whether a literal that prose could hold stands in hardly any other output, before its first call."""
    others = [s.plain[: first_calls.get(number)] for number, s in enumerate(samples) if number not in outputs]
    return sum(close in text for text in others) <= ELSEWHERE_MAX * len(others)


def _is_half_a_word(opener: str, outputs: set[int], samples: Sequence[Sample]) -> bool:
    after = [samples[n].plain.lstrip()[len(opener) : len(opener) + 1] for n in outputs]
    return opener[-1].isalnum() and opener.isascii() and sum(char.isalnum() for char in after) * 2 > len(after)


def _starts_inside(samples: Sequence[Sample], opener: str, close: str, outputs: set[int]) -> bool:
    others = [s.plain for number, s in enumerate(samples) if number not in outputs]
    return any(text.count(close) == 1 and opener not in text for text in others)


def _region(sample: Sample, opener: str, first_call: int | None) -> str:
    """Text between the opener and the first call, where the close must stand."""
    start = sample.plain.index(opener) + len(opener)
    return sample.plain[start : first_call if first_call is not None else len(sample.plain)]


def _close(samples: Sequence[Sample], opener: str, outputs: set[int], first_calls: dict[int, int]) -> str:
    regions = {number: _region(samples[number], opener, first_calls.get(number)) for number in outputs}
    called = [region for number, region in regions.items() if number in first_calls]
    needed = min(SUPPORT_MIN, needed_of(len(first_calls)))
    candidates = _ends(called) | (_tokens(regions.values(), needed) if strength(opener) else set())
    best, best_key = "", (0, 0)
    for candidate in candidates:
        close = candidate.strip()
        if len(outputs) < FEW:
            close = _from_sign(close)
        close = _without_sentence_end(close)
        if close == opener or not is_admissible(close) or not _may_close(close):
            continue
        once = sum(region.count(close) == 1 for region in regions.values())
        cut_off = sum(region.count(close) == 0 and number not in first_calls for number, region in regions.items())
        if once < needed or once < QUORUM * (len(regions) - min(cut_off, len(regions) // 3)):
            continue
        if (once, len(close)) > best_key:
            best, best_key = close, (once, len(close))
    return best


def _from_sign(close: str) -> str:
    """A close of few samples without a word before its sign, with which their reasoning may happen to end."""
    rest = _LETTERS_AT_START.sub("", close)
    return rest if strength(rest) and _may_close(rest) else close


def _without_sentence_end(close: str) -> str:
    """A close without the full stop of the reasoning before it, which all samples may happen to have."""
    rest = close.lstrip(".。!！?？,，… ").lstrip()
    return rest if rest and _may_close(rest) else close


def _ends(regions: Iterable[str]) -> set[str]:
    """What stands right before the first call in at least two outputs."""
    counts: dict[str, int] = {}
    for region in regions:
        tail = region.rstrip()[-CLOSE_CHARS_MAX:]
        for size in range(1, len(tail) + 1):
            counts[tail[-size:].strip()] = counts.get(tail[-size:].strip(), 0) + 1
    return {piece for piece, count in counts.items() if count >= CALLING_MIN}


def _tokens(regions: Iterable[str], needed: int) -> set[str]:
    """Words with a sign that prose does not use, which several regions have."""
    counts: dict[str, int] = {}
    for region in regions:
        tokens = {match.group() for match in _TOKEN.finditer(region)}
        for part in {part for token in tokens if len(token) <= TOKEN_CHARS_MAX for part in _marks(token)}:
            counts[part] = counts.get(part, 0) + 1
    return {token for token, count in counts.items() if count >= needed and strength(token)}


def _marks(token: str) -> set[str]:
    """A token and its pieces between unusual signs: `text.</inner>` gives `</inner>`."""
    starts = [match.start() for match in _MARKISH.finditer(token)][:8]
    ends = [match.end() for match in _MARKISH.finditer(token)][:8]
    return {token, *(token[start:] for start in starts), *(token[s:e] for s in starts for e in ends if e > s)}


def _without_open(samples: Sequence[Sample], first_calls: dict[int, int], call_open: str) -> Thought | None:
    """Reasoning that the prompt opened: a rare literal right before calls."""
    before = [(n, left_context(samples[n].plain, at).rstrip()) for n, at in first_calls.items()]
    close = shared_suffix(before, quorum=0.5).strip() if len(before) >= SUPPORT_MIN else ""
    outputs = {n for n, text in before if text.endswith(close)} if close else set()
    if len(outputs) < SUPPORT_MIN or strength(close) < 2 or not is_admissible(close) or close in call_open:
        return None
    others = [s.plain for number, s in enumerate(samples) if number not in first_calls]
    if sum(text.count(close) != 1 and close in text for text in others) > ELSEWHERE_MAX * len(others):
        return None
    return Thought(open="", close=close, open_optional=True, outputs=frozenset(outputs))


def whole_thought(thought: Thought | None) -> Thought | None:
    """The pair, unless its close ends inside a bracket that its opener closes: then several closes share that much."""
    if thought is None:
        return None
    for closing, opening in PAIRED.items():
        is_cut = thought.close.count(opening) > thought.close.count(closing)
        if is_cut and 0 < thought.open.count(closing) <= thought.open.count(opening):
            return None
    return thought
