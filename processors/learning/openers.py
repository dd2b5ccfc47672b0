"""Anchors of many samples → the literals that stand before a tool's name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from processors.learning.literals import (
    LITERAL_CHARS_MAX,
    STRONG,
    SUPPORT_MIN,
    Context,
    closed_prefixes,
    is_admissible,
    shared_suffix,
    strength,
)
from processors.learning.sample import Anchor, Sample
from processors.learning.shape import RUN

_TRAILING_RUN = re.compile(r"[A-Za-z0-9_.:-]{1,40}\Z")
RUN_END_CHARS_MAX = 3
_TRAILING_WORD = re.compile(r"[A-Za-z0-9]{1,40}\Z")
CUT_OFF_CHARS = 60
"""Markup that near to an output's end may be the start of a call that was cut off."""
_CLOSING = ("/", "\\")
_STARTERS = ("```", "~~~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """A literal before names, and the anchors it stands before."""

    literal: str
    line_start: bool
    section: str
    """What stands before the first of several calls only."""
    anchors: tuple[Anchor, ...]

    @property
    def outputs(self) -> set[int]:
        """Numbers of the samples in which it stands."""
        return {anchor.sample for anchor in self.anchors}


def left_context(text: str, at: int) -> str:
    """What stands before an offset; the start of the text counts as the start of a line."""
    start = at - LITERAL_CHARS_MAX
    return text[start:at] if start > 0 else "\n" + text[:at]


def find_openers(samples: Sequence[Sample], anchors: Sequence[Anchor]) -> list[Opener]:
    """Opening literals with enough support, best supported first."""
    contexts = [left_context(samples[anchor.sample].plain, anchor.start) for anchor in anchors]
    placed = list(zip(anchors, contexts, strict=True))
    first_of_name = {(anchor.sample, anchor.name): anchor for anchor in reversed(anchors)}
    pool = _Pool(samples, {anchor.sample for anchor in anchors}, set(first_of_name.values()))
    found: dict[tuple[str, str], Opener] = {}
    for literal, _ in closed_prefixes([(anchor.sample, text[::-1]) for anchor, text in placed]):
        opener = _opener(pool, literal[::-1], placed)
        if opener is not None:
            found.setdefault((opener.section, opener.literal), opener)
    return sorted(found.values(), key=lambda opener: (-len(opener.outputs), -len(opener.literal)))


_Placed = tuple[Anchor, str]
"""An anchor and its left context."""


@dataclass(frozen=True, slots=True)
class _Pool:
    samples: Sequence[Sample]
    carriers: set[int]
    """Samples in which any registered name stands."""
    firsts: set[Anchor]
    """The first anchor of each name in each sample."""


def _opener(pool: _Pool, suffix: str, placed: list[_Placed]) -> Opener | None:
    literal = whole_tags(_without_reasoning_close(pool, suffix).lstrip())
    literal = _from_line(_whole_words(literal, placed), placed)
    if strength(literal) == 0:
        literal = _behind_run(suffix, placed) or literal
    if not literal.strip():
        return None
    if RUN in literal:
        return _with_run(literal, placed)
    members = [pair for pair in placed if pair[1].endswith(literal) and not _is_echo(pair[1], literal)]
    if not members:
        return None
    grown = whole_tags(shared_suffix([(anchor.sample, text) for anchor, text in members]).lstrip())
    if grown.endswith(literal) and len(members) < sum(pair[1].endswith(literal) for pair in placed):
        literal = grown  # without the echoes, the rest shares more
    if literal.startswith(_STARTERS):
        return None
    firsts = _firsts(members)
    if sum(anchor in pool.firsts for anchor, _ in firsts) * 2 < len(firsts):
        return None  # these names only repeat earlier ones: closing tags
    section, literal, laters = _split_section(firsts, literal, placed)
    if not section:
        literal = _with_runs(literal, [(anchor.sample, text) for anchor, text in members])
    ends = (
        [text[: len(text) - len(section + literal)].rstrip(" \t") for _, text in firsts] if RUN not in literal else []
    )
    at_line = bool(ends) and all(text[-1:] in {"\n", ""} for text in ends)
    if not all(map(is_admissible, (section, literal))) or not literal.strip():
        return None
    if strength(section + literal) == 0 and not at_line:
        return None
    kept = {anchor: None for anchor, _ in [*members, *laters]}
    ordered = tuple(sorted(kept, key=lambda anchor: (anchor.sample, anchor.start)))
    # An opener that no prose has needs no place of its own; that all samples have it at a line's start may be chance.
    at_line = at_line and not section and strength(literal) < STRONG
    return Opener(literal=literal, line_start=at_line, section=section.strip(), anchors=ordered)


def _from_line(literal: str, placed: list[_Placed]) -> str:
    """An opener from its last line on, if the line before is only the end of something longer, as of reasoning."""
    rest = literal[literal.rfind("\n", 0, len(literal.rstrip())) + 1 :]
    before = [text[: len(text) - len(literal)].rstrip(" \t")[-1:] for _, text in placed if text.endswith(literal)]
    is_whole = strength(rest) < STRONG or all(char in {"", "\n"} for char in before)
    return literal if is_whole else rest


def _behind_run(suffix: str, placed: list[_Placed]) -> str:
    """The opener that ends with a short literal behind an id or a length, as `[[t7 ` does: `[[`, a run, a blank."""
    if len(suffix) > RUN_END_CHARS_MAX or suffix[:1].isalnum():
        return ""
    before = [(anchor.sample, text[: len(text) - len(suffix)]) for anchor, text in placed if text.endswith(suffix)]
    for run in (_TRAILING_WORD, _TRAILING_RUN):
        further = whole_tags(shared_suffix([(output, run.sub("", text)) for output, text in before]).lstrip())
        if strength(further) and len(further) > 1:
            return further + RUN + suffix
    return ""


def _with_run(literal: str, placed: list[_Placed]) -> Opener | None:
    """The opener with a run in it, and the anchors behind it."""
    head, tail = literal.split(RUN)
    members = []
    for anchor, text in placed:
        before = text[: len(text) - len(tail)] if text.endswith(tail) else ""
        if any(run.sub("", before).endswith(head) for run in (_TRAILING_WORD, _TRAILING_RUN)):
            members.append(anchor)
    if len({anchor.sample for anchor in members}) < SUPPORT_MIN or not is_admissible(literal):
        return None
    return Opener(literal=literal, line_start=False, section="", anchors=tuple(members))


def _whole_words(literal: str, placed: list[_Placed]) -> str:
    """A literal without the last letters of a word that differs before it."""
    head = re.match(r"[^\W_]+", literal)
    if head is None or not strength(literal[head.end() :]):
        return literal
    before = [text[: len(text) - len(literal)][-1:] for _, text in placed if text.endswith(literal)]
    inside = sum(char.isalnum() for char in before)
    return literal[head.end() :] if inside * 2 > len(before) else literal


def _firsts(members: list[_Placed]) -> list[_Placed]:
    """The first member of each sample."""
    firsts: dict[int, _Placed] = {}
    for member in members:
        firsts.setdefault(member[0].sample, member)
    return list(firsts.values())


def _split_section(firsts: list[_Placed], literal: str, placed: list[_Placed]) -> tuple[str, str, list[_Placed]]:
    """Section opener, call opener and later anchors: what stands before a first call only belongs to the section."""
    starts = {anchor.sample: anchor.start for anchor, _ in firsts}
    laters = [
        (anchor, text)
        for anchor, text in placed
        if starts.get(anchor.sample, anchor.start) < anchor.start and not _is_echo(text, literal)
    ]
    contexts = [(anchor.sample, text) for anchor, text in laters]
    if len({output for output, _ in contexts}) < 2:
        return "", literal, [pair for pair in laters if pair[1].endswith(literal)]
    common = whole_tags(_common_suffix(shared_suffix(contexts, quorum=0.6), literal).lstrip())
    if not common or len(common) >= len(literal.lstrip()):
        return _section(firsts, laters, literal), literal, [pair for pair in laters if pair[1].endswith(literal)]
    kept = [pair for pair in laters if pair[1].endswith(common)]
    return literal[: len(literal) - len(common)], common, kept


def _common_suffix(one: str, other: str) -> str:
    size = 0
    while size < min(len(one), len(other)) and one[-1 - size] == other[-1 - size]:
        size += 1
    return one[len(one) - size :]


def _is_echo(text: str, literal: str) -> bool:
    """Whether a name is only repeated by a closing tag, or stands behind something else altogether."""
    common = _common_suffix(text, literal)
    return not common or text[: len(text) - len(common)].endswith(_CLOSING)


def _section(firsts: list[_Placed], laters: list[_Placed], literal: str) -> str:
    """The strong literal that stands before nearly every first call and before no later one."""
    before = [(anchor.sample, text[: len(text) - len(literal)].rstrip()) for anchor, text in firsts]
    shared = whole_tags(shared_suffix(before).strip())
    if len(before) < SUPPORT_MIN or not strength(shared):
        return ""
    again = sum(text[: len(text) - len(literal)].rstrip().endswith(shared) for _, text in laters)
    return shared if again * 5 <= len(laters) else ""


PAIRED = {
    ">": "<",
    "]": "[",
    "}": "{",
    ")": "(",
    "⟧": "⟦",
    "】": "【",
    "»": "«",
    "〉": "〈",
    "》": "《",
    "」": "「",
    "▷": "◁",
}


def whole_tags(literal: str) -> str:
    """A literal without what is only the end of something before it: half a word, half a tag, the end of a sentence."""
    blank = literal.rfind("\n\n")
    if blank >= 0 and strength(literal[blank:]):
        literal = literal[blank:].lstrip()
    for place, char in enumerate(literal):
        if char in PAIRED.values():
            break
        if char in PAIRED and literal[place + 1 : place + 2] != char and strength(literal[place + 1 :]):
            return whole_tags(literal[place + 1 :])
    return literal.lstrip()


def _without_reasoning_close(pool: _Pool, suffix: str) -> str:
    """Cut off the head of an opener that outputs without a call also have: a reasoning close before the call."""
    without = [sample.plain for number, sample in enumerate(pool.samples) if number not in pool.carriers]
    for place in range(len(suffix) - 1, 1, -1):
        head = suffix[:place].strip()
        is_border = suffix[place - 1].isspace() or (suffix[place - 1] in PAIRED and not suffix[place].isalnum())
        if is_border and strength(head) and strength(suffix[place:]) and any(map(_shows(head), without)):
            return suffix[place:]
    return suffix


def _shows(literal: str) -> Callable[[str], bool]:
    """Whether a text has the literal, and not only where the text was cut off."""
    return lambda text: 0 <= text.find(literal) < len(text.rstrip()) - len(literal) - CUT_OFF_CHARS


def _with_runs(literal: str, contexts: list[Context]) -> str:
    """The opener with what varies before it (an id, an index) as a run, where a shared literal is before that."""
    if all(text[: len(text) - len(literal)].endswith(" ") for _, text in contexts):
        literal = " " + literal
    rest = [(output, text[: len(text) - len(literal)]) for output, text in contexts]
    cut = [(output, _TRAILING_RUN.sub("", text)) for output, text in rest]
    if any(len(before) == len(after) for (_, before), (_, after) in zip(rest, cut, strict=True)):
        return literal.lstrip()
    further = whole_tags(shared_suffix(cut).lstrip())
    if len(further) < 2 or strength(further) == 0:
        return literal.lstrip()
    return further + RUN + literal
