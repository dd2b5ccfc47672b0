"""Formats → marks: every literal that means something, once, with the formats that use it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from processors.segmenting.format import CallGrammar, Format
from processors.segmenting.template import Choice, Literal, Sequence, Variable, parse

_WS = Variable("ws")


class MarkKind(IntEnum):
    """What a mark does; the order is the order in which marks that begin alike are tried."""

    CALL = 1
    EMPTY_SECTION = 2
    """A section of calls that is closed at once."""
    REASONING_OPEN = 3
    REASONING_CLOSE = 4
    CONTENT_OPEN = 5
    CONTENT_CLOSE = 6
    LEAK = 7
    END = 8
    """Ends a turn: markup only where nothing but markup follows."""
    RESULT = 9
    """Stands before what a model invents as the result of a call; elsewhere as END."""
    CALL_CLOSE = 10
    """Closes a call that is not open: markup where nothing but markup came before, or follows."""


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """One alternative of the automaton; compared by identity, because equal ones are made one."""

    kind: MarkKind
    sequence: Sequence
    formats: frozenset[str]
    place: str = "anywhere"
    grammar: CallGrammar | None = None
    section: tuple[str, ...] = ()
    """Markers with which the call's section opens; the key to what may follow inside."""

    @property
    def is_tentative(self) -> bool:
        """A call without a marker of its own."""
        return self.grammar is not None and self.grammar.tentative


def marks_of(formats: Iterable[Format]) -> tuple[Mark, ...]:
    """All marks of all formats; equal ones are one mark."""
    owners: dict[tuple[object, ...], tuple[Mark, set[str]]] = {}
    for entry in formats:
        for mark in _marks(entry):
            key = (mark.kind, mark.sequence, mark.place, mark.grammar, mark.section)
            owners.setdefault(key, (mark, set()))[1].add(entry.id)
    merged = [
        Mark(mark.kind, mark.sequence, frozenset(ids), mark.place, mark.grammar, mark.section)
        for mark, ids in owners.values()
    ]
    return tuple(sorted(merged, key=lambda mark: (mark.is_tentative, mark.kind, -_fixed(mark.sequence))))


def _fixed(sequence: Sequence) -> int:
    return sum(len(element.text) for element in sequence if isinstance(element, Literal))


def _marks(entry: Format) -> Iterator[Mark]:
    only = frozenset({entry.id})
    plain = (
        (MarkKind.REASONING_OPEN, entry.reasoning.open if entry.reasoning else ()),
        (MarkKind.REASONING_CLOSE, entry.reasoning.close if entry.reasoning else ()),
        (MarkKind.CONTENT_OPEN, entry.content.open if entry.content else ()),
        (MarkKind.CONTENT_CLOSE, entry.content.close if entry.content else ()),
        (MarkKind.LEAK, entry.leaks),
        (MarkKind.END, entry.end),
        (MarkKind.RESULT, entry.results),
    )
    for kind, templates in plain:
        for template in templates:
            sequence = parse(template)
            is_free = entry.reasoning is not None and entry.reasoning.anywhere and kind is MarkKind.REASONING_CLOSE
            place = "anywhere" if is_free or is_symbol(sequence) else "line"
            yield Mark(kind, sequence, only, place)
    for grammar in entry.calls:
        for template in dict.fromkeys((*grammar.close, *grammar.section_close)):
            sequence = parse(template)
            if is_symbol(sequence) and _fixed(sequence[:1]) > 2 and not template.startswith("`"):
                yield Mark(MarkKind.CALL_CLOSE, sequence, only)
        for section in grammar.section_open or ("",):
            for template in grammar.open:
                sequence = (*parse(section), *((_WS,) if section else ()), *parse(template), *_ahead(grammar))
                yield Mark(MarkKind.CALL, sequence, only, grammar.place, grammar, grammar.section_open)
            for close in grammar.section_close if section and not grammar.tentative else ():
                sequence = (*parse(section), _WS, *parse(close))
                yield Mark(MarkKind.EMPTY_SECTION, sequence, only, grammar.place)


def items_of(marks: Iterable[Mark], section: tuple[str, ...]) -> tuple[Mark, ...]:
    """Calls that may follow inside a section that is already open."""
    items: dict[tuple[object, ...], Mark] = {}
    for mark in marks:
        if mark.kind is MarkKind.CALL and mark.section == section and mark.grammar is not None:
            for template in mark.grammar.open:
                sequence = (*parse(template), *_ahead(mark.grammar))
                item = Mark(MarkKind.CALL, sequence, mark.formats, "anywhere", mark.grammar, section)
                items[sequence, mark.grammar] = item
    return tuple(items.values())


def is_symbol(sequence: Sequence) -> bool:
    """Whether a mark begins with something that prose does not begin a line with."""
    first = sequence[0] if sequence else None
    return isinstance(first, Literal) and not first.text[0].isalnum() and first.text[0] not in " \n>"


def _ahead(grammar: CallGrammar) -> Sequence:
    """What a body must begin with, so that a marker which a text only mentions is no call."""
    match grammar.body:
        case "json_object" | "delimited_literal":
            return (Choice(((Literal("{"),),)),)
        case "tagged_params":
            assert grammar.params is not None
            ways = [_lead(parse(template)) for template in grammar.params.open]
            ways += [_lead(parse(template)) for template in grammar.close or grammar.section_close]
            return (_WS, Choice(tuple(dict.fromkeys(ways))))
        case "nested_elements":
            return (_WS, Choice(((Literal(grammar.prefix + "<"),),)))
        case _:
            return ()


def _lead(sequence: Sequence) -> Sequence:
    """The literal beginning of a marker."""
    lead: list[Literal | Variable] = []
    for element in sequence:
        if isinstance(element, Literal) or element == _WS:
            lead.append(element)
        else:
            break
    return tuple(lead)
