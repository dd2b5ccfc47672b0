"""Marks → the automaton that all streams share: where to wake up, which mark stands there, what may be one day.

A table holds the marks of one situation. `trigger` finds the next place where one of them may begin, in C; it also
hits at the end of the text when its last character may be the first of a mark. `whole` says which mark stands there,
`partial` whether one may be under way.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from processors.dialects.table import Body, body_of
from processors.segmenting.format import CallGrammar, Format
from processors.segmenting.marks import Mark, MarkKind, is_symbol, items_of, marks_of
from processors.segmenting.template import Literal, Sequence, Variable, beginning, heads_of, parse, whole

_NEVER = r"(?!)"
_SYMBOL = re.compile(r"[<\[{|]")
_TEXT_TRIGGERS = ("`", "~~", "<!")


@dataclass(frozen=True, slots=True)
class Table:
    """The marks of one situation, compiled."""

    whole: re.Pattern[str]
    partial: re.Pattern[str]
    trigger: re.Pattern[str]
    cut: re.Pattern[str]
    """At the end of a stream, where nothing but markup came before: the beginning of a call."""
    opened: re.Pattern[str]
    """At the end of a stream, anywhere: the whole first marker of a call and a beginning of the rest."""
    marks: dict[str, Mark]

    def is_cut_call(self, window: str, here: int, *, is_fresh: bool) -> bool:
        """Whether the end of a stream holds the beginning of a call."""
        pattern = self.cut if is_fresh else self.opened
        return pattern.fullmatch(window, here) is not None and _SYMBOL.search(window, here) is not None


@dataclass(frozen=True, slots=True)
class Call:
    """A call grammar, compiled."""

    grammar: CallGrammar
    body: Body
    close: re.Pattern[str] | None
    close_partial: re.Pattern[str]
    section: str
    """Key of the open section's table; empty when calls stand alone."""


def table_of(marks: Iterable[Mark], extra: tuple[str, ...] = (), lead: str = "") -> Table:
    """Marks → a table; `extra`: literals that wake the reader besides; `lead`: pattern of what may stand before."""
    marks = tuple(marks)
    names = {f"m{place}": mark for place, mark in enumerate(marks)}
    alternatives = [f"(?P<{name}>{whole(mark.sequence, name)})" for name, mark in names.items()]
    cut = [mark for mark in marks if mark.kind <= MarkKind.EMPTY_SECTION and not mark.is_tentative]
    opened = [mark for mark in cut if is_symbol(mark.sequence)]
    return Table(
        whole=re.compile(lead + _either(alternatives), re.DOTALL),
        partial=re.compile(lead + _either(beginning(mark.sequence) for mark in marks)),
        trigger=_trigger(marks, extra),
        cut=re.compile(_either(beginning(mark.sequence) for mark in cut)),
        opened=re.compile(_either(_after_first(mark.sequence) for mark in opened)),
        marks=names,
    )


def _either(patterns: Iterable[str]) -> str:
    unique = tuple(dict.fromkeys(patterns))
    return f"(?:{'|'.join(unique)})" if unique else _NEVER


def _after_first(sequence: Sequence) -> str:
    return whole(sequence[:1]) + beginning(sequence[1:])


def _trigger(marks: Iterable[Mark], extra: tuple[str, ...]) -> re.Pattern[str]:
    follows: dict[str, set[str]] = {}
    lines: set[str] = set()
    for mark in marks:
        for head in heads_of(mark.sequence):
            if mark.place == "line":
                lines.add(head[:1])
            elif mark.place == "anywhere" and head:
                follows.setdefault(head[0], set()).add(head[1:2])
    for literal in extra:
        follows.setdefault(literal[0], set()).add(literal[1:2])
    patterns = []
    for first, seconds in sorted(follows.items()):
        ahead = "" if "" in seconds else f"(?=[{re.escape(''.join(sorted(seconds)))}]|\\Z)"
        patterns.append(re.escape(first) + ahead)
    if lines:
        patterns.append(rf"\n(?=[{re.escape(''.join(sorted(lines)))}]|\Z)")
    return re.compile("|".join(patterns) or _NEVER)


@dataclass(frozen=True)
class Automaton:
    """Everything the segmenter knows about formats, compiled once and shared by all streams."""

    formats: dict[str, Format]
    marks: tuple[Mark, ...]
    _calls: dict[CallGrammar, Call] = field(default_factory=dict)
    _sections: dict[str, Table] = field(default_factory=dict)
    _reasoning: dict[frozenset[str], Table] = field(default_factory=dict)

    @cached_property
    def start(self) -> Table:
        """Where nothing but markup and white space came before."""
        return table_of(self._outside({MarkKind.REASONING_OPEN, MarkKind.CONTENT_OPEN}))

    @cached_property
    def line(self) -> Table:
        """At the start of a line."""
        return table_of(mark for mark in self._outside(set()) if mark.place == "line")

    @cached_property
    def text(self) -> Table:
        """Inside of a response."""
        marks = self._outside(set())
        anywhere = table_of([mark for mark in marks if mark.place == "anywhere"])
        return replace(anywhere, trigger=_trigger(marks, _TEXT_TRIGGERS))

    def _outside(self, openers: set[MarkKind]) -> list[Mark]:
        """Marks outside of reasoning: a bare closing marker counts where a prompt may have opened the block."""
        entries = self.formats.values()
        implied = {entry.id for entry in entries if entry.reasoning and entry.reasoning.implied}
        skipped = {MarkKind.REASONING_OPEN, MarkKind.CONTENT_OPEN} - openers
        return [
            mark
            for mark in self.marks
            if mark.kind not in skipped and (mark.kind is not MarkKind.REASONING_CLOSE or mark.formats & implied)
        ]

    def reasoning(self, formats: frozenset[str]) -> Table:
        """Inside a reasoning block that any of these formats may have opened; of none: the prompt opened it."""
        table = self._reasoning.get(formats)
        if table is None:
            table = self._reasoning[formats] = table_of(self._ends_of_reasoning(formats), ("`",))
        return table

    def _ends_of_reasoning(self, formats: frozenset[str]) -> list[Mark]:
        users = {name: entry for name, entry in self.formats.items() if name in formats or not formats}
        enders = {name for name, entry in users.items() if entry.reasoning and entry.reasoning.ended_by_call}
        ends = []
        for mark in self.marks:
            by_call = mark.kind in {MarkKind.CALL, MarkKind.CONTENT_OPEN} and mark.formats & enders
            if (mark.kind is MarkKind.REASONING_CLOSE and mark.formats & users.keys()) or (
                by_call and not mark.is_tentative
            ):
                ends.append(mark)
        return ends

    def call(self, grammar: CallGrammar) -> Call:
        """A grammar, compiled on first use."""
        call = self._calls.get(grammar)
        if call is None:
            call = self._calls[grammar] = _compile(grammar)
        return call

    def section(self, call: Call) -> Table:
        """What may follow inside the section that the call stands in: its next call or its end."""
        table = self._sections.get(call.section)
        if table is None:
            table = self._sections[call.section] = self._table_of_section(call.grammar)
        return table

    def _table_of_section(self, grammar: CallGrammar) -> Table:
        items = items_of(self.marks, grammar.section_open)
        close = [
            Mark(MarkKind.EMPTY_SECTION, parse(template), frozenset()) for template in grammar.section_close if template
        ]
        return table_of((*items, *close), lead=r"[\s,;]{0,256}+")


def _compile(grammar: CallGrammar) -> Call:
    closes = [(Variable("ws"), *parse(template)) for template in grammar.close]
    stops = [*grammar.close, *grammar.section_close, *grammar.open, *grammar.section_open]
    literals = [element.text for template in stops for element in parse(template)[:1] if isinstance(element, Literal)]
    return Call(
        grammar=grammar,
        body=body_of(grammar, tuple(text for text in dict.fromkeys(literals) if len(text) > 2)),
        close=re.compile(_either(whole(close) for close in closes)) if closes else None,
        close_partial=re.compile(_either(beginning(close) for close in closes)),
        section="\x00".join(grammar.section_open),
    )


def automaton_of(formats: Iterable[Format]) -> Automaton:
    """Formats → their automaton."""
    entries = {entry.id: entry for entry in formats}
    return Automaton(entries, marks_of(entries.values()))
