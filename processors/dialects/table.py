"""Body grammar → its reader. A reader finds a body's end while it streams in, and reads it once it is there.

`scan` consumes text and never looks at a character twice; `draft` gets the body's whole text. To add a grammar, add a
module and a line to `body_of`.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from processors.dialects.balanced import Balanced, Strings, delimited, quoted
from processors.dialects.bare_line import LineReader, NothingReader
from processors.dialects.delimited_literal import read_literal
from processors.dialects.json_object import Keys, read_object
from processors.dialects.literal_pairs import PairsReader
from processors.dialects.nested_elements import ElementsReader, elements_of
from processors.dialects.python_call import read_python
from processors.dialects.reading import Head
from processors.dialects.tagged_params import ParamsReader, params_of
from processors.segmenting.format import CallGrammar
from schemas.segment import CallDraft


class Reader(Protocol):
    """Reads one body; one instance for one call."""

    @property
    def wake(self) -> Callable[[str], object]:
        """Gives None for text that neither ends the body nor tells more about it."""
        ...

    @property
    def opened(self) -> int:
        """Where in the body the string or value began that is open at its end, or was last."""
        ...

    def scan(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """Where reading stopped, and whether the body ends there; what lies behind is given again, with more."""
        ...

    def draft(self, raw: str, head: Head) -> CallDraft:
        """The body's whole text → the call."""
        ...


Body = Callable[[], Reader]
"""A body grammar, ready for use: gives a reader for each call."""


def body_of(grammar: CallGrammar, stops: tuple[str, ...]) -> Body:
    """A call grammar's body; `stops`: markers that end a damaged body, where they are not part of a string."""
    match grammar.body:
        case "json_object":
            keys = Keys(grammar.name_keys, grammar.argument_keys, name_is_key=grammar.name_is_key)
            return _balanced(quoted(stops, "}"), 0, partial(read_object, keys=keys))
        case "python_call":
            return _balanced(quoted(stops, ")"), 1, read_python)
        case "delimited_literal":
            return _balanced(
                delimited(grammar.delimiter), 0, lambda raw, head: read_literal(raw, head, grammar.delimiter)
            )
        case "tagged_params":
            assert grammar.params is not None
            markers = params_of(grammar.params, (*grammar.close, *grammar.section_close, *grammar.open))
            return partial(ParamsReader, markers)
        case "literal_pairs":
            assert grammar.pairs is not None
            literals = grammar.pairs
            return lambda: PairsReader(literals)
        case "nested_elements":
            elements = elements_of(grammar.prefix, grammar.close)
            return lambda: ElementsReader(elements)
        case "no_arguments":
            return NothingReader
        case _:
            return LineReader


def _balanced(strings: Strings, depth: int, read: Callable[[str, Head], CallDraft]) -> Body:
    return partial(Balanced, strings, depth, read)
