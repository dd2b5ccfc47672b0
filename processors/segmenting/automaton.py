"""Formats → what the segmenter knows about them, compiled once and shared by all streams."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from processors.dialects.table import Body, body_of
from processors.segmenting.evidence import Judge
from processors.segmenting.format import CallGrammar, Format
from processors.segmenting.marks import Mark, MarkKind, items_of, marks_of
from processors.segmenting.table import Table, either, table_of
from processors.segmenting.template import Literal, Variable, beginning, parse, whole

_TEXT_TRIGGERS = ("`", "~~", "<!")


@dataclass(frozen=True, slots=True)
class Call:
    """A call grammar, compiled."""

    grammar: CallGrammar
    body: Body
    close: re.Pattern[str] | None
    close_partial: re.Pattern[str]
    close_literals: tuple[str, ...]
    stop: re.Pattern[str]
    """Markers that end a damaged body."""


@dataclass(frozen=True)
class Automaton:
    """Tables for every situation; those that few streams need are made when the first one needs them."""

    formats: dict[str, Format]
    marks: tuple[Mark, ...]
    _calls: dict[int, Call] = field(default_factory=dict)
    _sections: dict[tuple[str, ...], Table] = field(default_factory=dict)
    _opener_lines: dict[Mark, re.Pattern[str]] = field(default_factory=dict)
    _reasoning: dict[frozenset[str], Table] = field(default_factory=dict)
    _again: dict[frozenset[str], tuple[Table, Table]] = field(default_factory=dict)

    @cached_property
    def judge(self) -> Judge:
        """What tells a stream's format."""
        return Judge(self.formats)

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
        anywhere = (mark for mark in marks if mark.place == "anywhere")
        return table_of(anywhere, _TEXT_TRIGGERS, [mark for mark in marks if mark.place == "line"])

    def again(self, formats: frozenset[str]) -> tuple[Table, Table]:
        """As `text` and `line`, in a stream in which these formats' marker has opened a reasoning block before.

        Then a line that begins with the same marker opens another block; a marker that was not used yet is text there.
        """
        tables = self._again.get(formats)
        if tables is None:
            opens = [
                replace(mark, place="line")
                for mark in self.marks
                if mark.kind is MarkKind.REASONING_OPEN and mark.formats & formats
            ]
            marks = self._outside(set())
            lines = [*(mark for mark in marks if mark.place == "line"), *opens]
            anywhere = (mark for mark in marks if mark.place == "anywhere")
            tables = self._again[formats] = (table_of(anywhere, _TEXT_TRIGGERS, lines), table_of(lines))
        return tables

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
            marks = self._ends_of_reasoning(formats)
            table = self._reasoning[formats] = table_of(marks, ("`",))
        return table

    def _ends_of_reasoning(self, formats: frozenset[str]) -> list[Mark]:
        users = {name: entry for name, entry in self.formats.items() if name in formats or not formats}
        enders = {name for name, entry in users.items() if entry.reasoning and entry.reasoning.ended_by_call}
        ends = []
        for mark in self.marks:
            is_close = mark.kind is MarkKind.REASONING_CLOSE and mark.formats & users.keys()
            by_call = mark.kind in {MarkKind.CALL, MarkKind.CONTENT_OPEN} and mark.formats & enders
            is_leak = mark.kind is MarkKind.LEAK and mark.formats & users.keys()
            if is_close or is_leak or (by_call and not mark.is_tentative):
                ends.append(mark)
        return ends

    def opener_line(self, close: Mark) -> re.Pattern[str]:
        """An opening marker, of a closing one's formats, that begins or ends a line: the text shows a pair of them."""
        pattern = self._opener_lines.get(close)
        if pattern is None:
            blocks = [entry.reasoning for name, entry in self.formats.items() if name in close.formats]
            opens = either(whole(parse(template)) for block in blocks if block for template in block.open)
            pattern = self._opener_lines[close] = re.compile(rf"^\W*{opens}|{opens}[ \t]*$", re.MULTILINE)
        return pattern

    def call(self, grammar: CallGrammar) -> Call:
        """A grammar, compiled on first use."""
        call = self._calls.get(id(grammar))  # grammars live as long as the formats do; hashing one is slow
        if call is None:
            call = self._calls[id(grammar)] = _compile(grammar)
        return call

    def section(self, grammar: CallGrammar) -> Table:
        """What may follow inside the section that a call stands in: its next call or its end."""
        table = self._sections.get(grammar.section_open)
        if table is None:
            table = self._sections[grammar.section_open] = self._table_of_section(grammar)
        return table

    def _table_of_section(self, grammar: CallGrammar) -> Table:
        items = items_of(self.marks, grammar.section_open)
        closes = [template for template in grammar.section_close if template]
        marks = [Mark(MarkKind.EMPTY_SECTION, parse(template), frozenset()) for template in closes]
        return table_of((*items, *marks))


def _compile(grammar: CallGrammar) -> Call:
    closes = [(Variable("ws"), *parse(template)) for template in grammar.close]
    ends = [*grammar.close, *grammar.section_close, *grammar.open, *grammar.section_open]
    literals = [element.text for template in ends for element in parse(template)[:1] if isinstance(element, Literal)]
    stops = tuple(text for text in dict.fromkeys(literals) if len(text) > 2)
    return Call(
        grammar=grammar,
        body=body_of(grammar, stops),
        close=re.compile(either(whole(close) for close in closes)) if closes else None,
        close_partial=re.compile(either(beginning(close) for close in closes)),
        close_literals=tuple(template for template in grammar.close if "$" not in template),
        stop=re.compile(either(map(re.escape, stops))),
    )


def automaton_of(formats: Iterable[Format]) -> Automaton:
    """Formats → their automaton."""
    entries = {entry.id: entry for entry in formats}
    return Automaton(entries, marks_of(entries.values()))
