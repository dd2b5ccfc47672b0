"""Marks of one situation → a table: where to wake up, which mark stands there, what may be one when more text comes.

A mark begins with a literal, with few exceptions. The literals are in a dictionary, so that one look-up tells which few
patterns to try, and the beginnings of literals are in another, which tells how much more text is needed at least.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from processors.segmenting.marks import Mark, MarkKind, is_symbol
from processors.segmenting.template import Choice, Literal, Optional, Sequence, beginning, ends_of, heads_of, whole
from processors.segmenting.wake import Wake

_TRIGGER_DEPTH = 3
"""Characters of a mark that wake the reader: with fewer, HTML and comparisons would."""
_KEY_CHARS = 4
"""Characters by which literals are looked up: few literals share more."""
_RARE = "▷>]`[{:\n"
"""Characters by which a marker is noticed, rarest first; any other one only when it has none of these."""
_WORD = re.compile(r"\w[\w.\-/:]{0,128}(?:\W|\Z)(?<! )")
"""A word that prose does not go on behind: most texts begin with one that it does."""
_SIGNS = frozenset("<[{`")
"""First characters of most markers; none of a word."""
_INLINE_CODE = r"`(?:(?<!``)[^`\n]{1,400}`(?!`|\Z))?"
"""A backtick, and the rest of inline code in its usual form, which is jumped over; all else is looked at."""
_NEEDS_NEXT = frozenset({MarkKind.CALL, MarkKind.EMPTY_SECTION, MarkKind.CALL_CLOSE})
_NEVER = r"(?!)"
_SYMBOL = re.compile(r"[<\[{|]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A mark with the names of its groups in the pattern."""

    mark: Mark
    name_group: str | None
    id_group: str | None
    has_names: bool
    """Whether there is such a group."""
    needs_next: bool
    """Whether what follows the mark tells what it does, or how long it is."""

    def names(self, found: re.Match[str]) -> tuple[str | None, str | None]:
        """The tool's name and the call's id that the marker holds."""
        name = found[self.name_group] if self.name_group else None
        call_id = found[self.id_group] if self.id_group else None
        written = self.mark.grammar.call_id if self.mark.grammar else ""
        if written and call_id:
            call_id = written.replace("$name", name or "").replace("$index", call_id)
        return name, call_id


@dataclass(frozen=True, slots=True)
class Group:
    """Marks that begin alike, compiled."""

    whole: re.Pattern[str]
    partial: re.Pattern[str]
    """Matches the rest of a text if one of these marks may be under way there."""
    entries: dict[str, Entry]
    may_extend: bool
    """Whether a mark that is found may be the beginning of another one."""
    hold: Wake
    """For a text that ends in what may be one of these: wakes at a sign without which none of them is whole."""


@dataclass(frozen=True)
class Table:
    """The marks of one situation, compiled."""

    marks: tuple[Mark, ...]
    ways: Mapping[str, tuple[tuple[str, tuple[Group, ...]], ...]]
    """By the first characters of a text: the literals that it may begin with, longest first, and their marks."""
    missing: dict[str, int]
    """Beginning of a literal → characters that the shortest such literal still needs."""
    waits: Mapping[str, Wake]
    """Frequent ends of a text in which a marker is under way → what wakes the reader; the beginnings are among them."""
    longest: int
    others: tuple[Group, ...]
    """Marks that begin with a word."""
    trigger: re.Pattern[str]
    """Finds inline code, or the one character with which something else may begin; at the end of a text too, when what
    follows would tell.
    """
    idle: Wake
    """For a text in which no mark is under way: wakes at the rarest character that a mark cannot do without."""

    def groups_at(self, window: str, here: int) -> tuple[Group, ...]:
        """The marks that may stand here, by their first characters."""
        key = window[here : here + _KEY_CHARS]
        for literal, groups in self.ways.get(key) or self.ways.get(key[:1], ()):
            if window.startswith(literal, here):
                is_word = self.others and key[0] not in _SIGNS and _WORD.match(window, here)
                return (*groups, *self.others) if is_word else groups
        return self.others if self.others and _WORD.match(window, here) else ()

    def missing_at(self, window: str, here: int) -> int:
        """How many characters are missing at least to a literal that is under way here; 0 when none is."""
        return self.missing.get(window[here:], 0) if len(window) - here < self.longest else 0

    def is_cut_call(self, window: str, here: int, *, is_fresh: bool) -> bool:
        """Whether the end of a stream holds the beginning of a call.

        is_fresh: only markup came before; else the call's first literal must be whole.
        """
        pattern = self._cut if is_fresh else self._opened
        return pattern.fullmatch(window, here) is not None and _SYMBOL.search(window, here) is not None

    @property
    def _calls(self) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind <= MarkKind.EMPTY_SECTION and not mark.is_tentative]

    @cached_property
    def _cut(self) -> re.Pattern[str]:
        return re.compile(either(beginning(mark.sequence) for mark in self._calls))

    @cached_property
    def _opened(self) -> re.Pattern[str]:
        symbols = [mark.sequence for mark in self._calls if is_symbol(mark.sequence)]
        return re.compile(either(whole(sequence[:1]) + beginning(sequence[1:]) for sequence in symbols))


def either(patterns: Iterable[str]) -> str:
    """One of several patterns; none of none."""
    unique = tuple(dict.fromkeys(patterns))
    return f"(?:{'|'.join(unique)})" if unique else _NEVER


def table_of(marks: Iterable[Mark], extra: tuple[str, ...] = (), lines: Iterable[Mark] = ()) -> Table:
    """Marks → their table.

    extra: literals that wake the reader besides; lines: marks that begin a line and stand in another table.
    """
    marks = tuple(marks)
    everything = (*marks, *lines)
    starts = {head[:1] for mark in everything if mark.place == "line" for head in heads_of(mark.sequence)}
    heads = {mark: heads_of(mark.sequence) for mark in marks}
    literals = {head for mark in marks for head in heads[mark] if head}
    groups = {
        literal: group_of(mark for mark in marks if any(head and literal.startswith(head) for head in heads[mark]))
        for literal in literals
    }
    others = [mark for mark in marks if "" in heads[mark]]
    alike: dict[str, set[str]] = {}
    for literal in literals:
        short = literal[:_KEY_CHARS]
        same = {other for other in literals if other.startswith(short) or short.startswith(other)}
        alike.setdefault(short, set()).update(same)
        alike.setdefault(literal[:1], set()).update({literal} if len(literal) < _KEY_CHARS else ())
    ways = {
        key: tuple((literal, (groups[literal],)) for literal in sorted(same, key=len, reverse=True))
        for key, same in alike.items()
    }
    missing: dict[str, int] = {}
    for literal in sorted(literals, key=len, reverse=True):
        for size in range(1, len(literal)):
            missing[literal[:size]] = len(literal) - size
    waits: dict[str, Wake] = {}
    idle = _one_of({_rarest(mark.sequence) for mark in everything})
    table = Table(
        marks=marks,
        ways=ways,
        missing=missing,
        waits=waits,
        longest=max(map(len, literals), default=0),
        others=(group_of(others),) if others else (),
        trigger=_trigger(marks, extra, "".join(sorted(starts))),
        idle=idle,
    )
    waits.update(_holds(table, [literal + space for literal in literals for space in ("", "\n", " ")]))
    waits.update(dict.fromkeys(missing, idle))
    return table


def _holds(table: Table, ends: Iterable[str]) -> Iterator[tuple[str, Wake]]:
    """Those of these ends of a text in which one of the table's marks is under way, each with what wakes the reader."""
    for end in ends:
        group = table.groups_at(end, 0)[0]
        if (group.may_extend or not group.whole.match(end)) and group.partial.fullmatch(end):
            yield end, group.hold


def group_of(marks: Iterable[Mark]) -> Group:
    """Marks → one pattern; the first that fits counts."""
    marks = tuple(marks)
    entries, patterns = {}, []
    for place, mark in enumerate(marks):
        tag = f"m{place}"
        pattern = whole(mark.sequence, tag)
        patterns.append(f"(?P<{tag}>{pattern})")
        groups = [f"{name}_{tag}" for name in ("name", "id", "index")]
        names = [group if f"<{group}>" in pattern else None for group in groups]
        needs_next = mark.kind in _NEEDS_NEXT or not isinstance(mark.sequence[-1], Literal)
        entries[tag] = Entry(mark, names[0], names[1] or names[2], any(names), needs_next)
    partial = either(beginning(mark.sequence) for mark in marks)
    hold = _one_of({sign for mark in marks for sign in _last_signs(mark.sequence)})
    plain = [
        mark.sequence[0].text for mark in marks if len(mark.sequence) == 1 and isinstance(mark.sequence[0], Literal)
    ]
    longer = [mark for mark in marks if any(whole(mark.sequence).startswith(re.escape(text)) for text in plain)]
    return Group(re.compile(either(patterns), re.DOTALL), re.compile(partial), entries, len(longer) > len(plain), hold)


def _last_signs(sequence: Sequence) -> set[str]:
    """Signs that come no earlier than a marker's last literal; of a tag, the one that ends it."""
    signs: set[str] = set()
    for element in reversed(sequence):
        match element:
            case Literal(text):
                return signs | {_rarest((element,)) if text[-1].isalnum() else text[-1]}
            case Optional(inner):
                signs |= _last_signs(inner)
            case Choice(ways):
                literals = [part.text for way in ways for part in way if isinstance(part, Literal)]
                return signs | {">" if text[0] == "<" else text[-1] for text in literals}
    return signs


def _rarest(sequence: Sequence) -> str:
    """The character, of those that a marker cannot do without, that texts hold least; empty if it needs none."""
    own = "".join(element.text for element in sequence if isinstance(element, Literal)) or "".join(ends_of(sequence))
    return min(own, key=lambda character: (_RARE.find(character) % (len(_RARE) + 1), character), default="")


def _one_of(characters: set[str]) -> Wake:
    if "" in characters:  # a name alone may be a marker within a section: anything can be its last sign
        return re.compile(r"(?s:.)").search
    return re.compile(f"[{re.escape(''.join(sorted(characters)))}]" if characters else _NEVER).search


def _trigger(marks: tuple[Mark, ...], extra: tuple[str, ...], line_starts: str) -> re.Pattern[str]:
    heads = [head for mark in marks if mark.place == "anywhere" for head in heads_of(mark.sequence) if head]
    patterns = _first_characters([*heads, *(literal for literal in extra if literal != "`")], _TRIGGER_DEPTH)
    patterns += [_INLINE_CODE] if "`" in extra else []
    if line_starts:
        patterns.append(rf"\n(?=[{re.escape(line_starts)}]|\Z)")
    return re.compile("|".join(patterns) or _NEVER)


def _first_characters(literals: Iterable[str], depth: int) -> list[str]:
    """Patterns of the first characters of literals, each of which the end of the text may cut short."""
    rests: dict[str, set[str]] = {}
    for literal in literals:
        rests.setdefault(literal[0], set()).add(literal[1:])
    patterns = []
    for first, after in sorted(rests.items()):
        ahead = "" if depth == 1 or "" in after else "|".join([*_first_characters(after, depth - 1), r"\Z"])
        patterns.append(re.escape(first) + (f"(?={ahead})" if ahead else ""))
    return patterns
