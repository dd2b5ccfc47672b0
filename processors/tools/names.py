"""A tool name as written → the words it is made of.

Models write a registered name in another case, with the prefix of another harness (`functions.`, `mcp__server__`),
with a call suffix (`()`, `:0`) or with a word that says nothing (`_tool`, `_api`, `_v2`). What remains after taking
these away is what two names are compared by.
"""

import re
from dataclasses import dataclass

from processors.tools.lexicon import Lexicon, lexicon, stem

NAMESPACE = re.compile(r"^(?:functions|function|tools|tool|default_api|namespace)[./:]+(?=\S)")
"""Namespaces that harnesses put before each name and models repeat; what follows is the name itself."""
NAME_READ_CHARS_MAX = 256
"""What is read of a wrong name: four times what providers allow."""
TEXT_READ_CHARS_MAX = 400
_MCP = re.compile(r"^mcp__.+?__(?=.)", re.IGNORECASE)
_NAMESPACES = re.compile(r"^(?:[A-Za-z_][\w-]*(?:::|[./:]))+(?=[^\W\d])")
_SUFFIX = re.compile(r"(?:\(\s*\)|[:#]\d+|;|[_-]v\d+)+\s*$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_WITHIN_A_SCRIPT = re.compile(r"(?<=[^\x00-\x7f])_(?=[^\x00-\x7f])")
_CAMEL = re.compile(r"[a-z\d][A-Z]")
JOINED_MAX = 3
"""Most words that one meaning is written in (`turn_on`, `what_time`)."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name, in the forms that are compared."""

    folded: str
    """Letters and digits of all its words."""
    words: tuple[str, ...]
    """Without fillers; what is known by several words together is one."""
    phrase: str
    """All words, joined by `_` where the script has blanks."""


def read_name(name: str, also: frozenset[str] = frozenset()) -> Name:
    """The forms of a name; `also` are further words into which a run of letters may be cut."""
    known = lexicon()
    runs = _without_fillers([word.lower() for word in _WORD.findall(bare(name[:NAME_READ_CHARS_MAX]))] or [""], known)
    pieces = [piece for run in runs for piece in known.cut(run, also)]
    phrase = _WITHIN_A_SCRIPT.sub("", "_".join(pieces))
    return Name("".join(runs), tuple(_joined(_without_fillers(pieces, known), known)), phrase)


def read_text(text: str) -> tuple[str, ...]:
    """The words of a description, as far as it is read; of a text without blanks, those that are known."""
    known = lexicon()
    runs = [word.lower() for word in _WORD.findall(text[:TEXT_READ_CHARS_MAX])]
    return tuple(piece for run in runs for piece in ((run,) if run.isascii() else known.found_in(run)))


def fold(name: str) -> str:
    """A name without case and separators."""
    return "".join(_WORD.findall(name[:NAME_READ_CHARS_MAX])).lower()


def bare(name: str) -> str:
    """The name without call suffix and namespace prefixes; a name that is nothing else stays."""
    name = _SUFFIX.sub("", name.strip())
    name = _MCP.sub("", name)
    return _NAMESPACES.sub("", name) if _has_namespace(name) else name


def _has_namespace(name: str) -> bool:
    """`a.b_c` is a name in a namespace; `turn.on.light` is a name with dots for blanks."""
    last = re.split(r"::|[./:]", name)[-1]
    return "_" in last or "-" in last or bool(_CAMEL.search(last)) or not re.search(r"[./:]", name)


def _without_fillers(words: list[str], known: Lexicon) -> list[str]:
    kept = [word for word in words if word not in known.fillers] or words
    # `call_refund_order` says to call that tool, `call_number` says what the tool does.
    return kept[1:] if kept[0] == "call" and len(kept) > 2 and known.is_verb(kept[1]) else kept


def _joined(words: list[str], known: Lexicon) -> list[str]:
    out: list[str] = []
    place = 0
    while place < len(words):
        for length in range(min(JOINED_MAX, len(words) - place), 0, -1):
            word = "_".join(words[place : place + length])
            if length == 1 or stem(word) in known.meanings:
                out.append(word)
                place += length
                break
    return out
