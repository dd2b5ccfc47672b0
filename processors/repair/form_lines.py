"""Arguments as command-line flags or as `key: value` lines → a tree of untyped texts."""

import re
from collections.abc import Iterator
from itertools import islice

from processors.repair.lexis import decode
from processors.repair.nodes import Loose, Members, Node
from processors.repair.toolschema import Spec
from processors.repair.value_end import is_known
from processors.repair.words import WORDS, fold

_FLAGS = re.compile(r"\s*(?:\$ ?)?[\w./-]{1,80}\s+--?[A-Za-z][\w-]*[\s=]")
_FLAG = re.compile(r"(?:^|\s)--?([A-Za-z][\w.-]{0,79})(?=[\s=]|\Z)")
_LINE = re.compile(
    r"\s*[\"'`*-]{0,3}([^\W\d][\w.-]{0,79}|[^\W\d][\w -]{0,79}?)[\"'`*]{0,2}\s*[:=：]\s*(.*)\Z", re.DOTALL
)
_KEY_BEHIND = re.compile(r""",\s*["']?([^"'\n:=,]{1,80}?)["']?\s*[:=]""")
LINES_MAX = 2_000


def read_flags(text: str) -> Members | None:
    """`tool --city "Leeds" --days 3`; None if it's no command line."""
    if not _FLAGS.match(text):
        return None
    marks = list(islice(_outside_quotes(text), LINES_MAX))
    pairs: list[tuple[str, Node]] = []
    for mark, after in zip(marks, [*(found.start() for found in marks[1:]), len(text)], strict=True):
        value = text[mark.end() : after].strip().removeprefix("=").strip()
        pairs.append((mark[1], Loose(_unquoted(value)) if value else True))
    return Members(pairs) if pairs else None


def _outside_quotes(text: str) -> Iterator[re.Match[str]]:
    """The flags that don't stand inside a quoted value."""
    quotes, since = 0, 0
    total = text.count('"')
    for found in _FLAG.finditer(text):
        quotes += text.count('"', since, found.start())
        since = found.start()
        if quotes % 2 == 0 or quotes == total:
            yield found


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] in "\"'`" and value[-1] == value[0]
    return str(decode(value[1:-1])) if is_quoted and value[0] not in value[1:-1].replace("\\" + value[0], "") else value


def read_lines(text: str, spec: Spec) -> Members | None:
    """`city: Leeds` on a line of its own for each parameter; None if the lines are something else."""
    pairs: list[tuple[str, str]] = []
    lines = text.split("\n", LINES_MAX)
    for line in lines:
        found = _LINE.match(line)
        if found and not pairs and not is_known(found[1], spec) and found[2].lstrip()[:1] in {"{", "["}:
            return None
        if found and (is_known(found[1], spec) or (" " not in found[1].strip() and not _is_inside(pairs))):
            pairs.append((found[1].strip(), found[2]))
        elif pairs:
            pairs[-1] = (pairs[-1][0], pairs[-1][1] + "\n" + line)
        elif line.strip() and not line.strip().endswith((":", "：")):
            return None
    known = sum(is_known(key, spec) for key, _ in pairs)
    if not known or known * 2 < len(pairs) or _has_more_keys(pairs, spec):
        return None
    return Members(
        [
            (key, Loose(_unquoted(value.strip().rstrip(","))))
            for key, value in pairs
            if fold(key) not in WORDS.wrapper_names or is_known(key, spec)
        ]
    )


def _is_inside(pairs: list[tuple[str, str]]) -> bool:
    """Whether the value so far is an open bracket, so that this line belongs to it."""
    value = pairs[-1][1].strip() if pairs else ""
    return value[:1] in {"{", "["} and value[-1:] not in {"}", "]"}


def _has_more_keys(pairs: list[tuple[str, str]], spec: Spec) -> bool:
    """`city: Leeds, days: 3` on one line is an object without braces."""
    if len(pairs) != 1 or len(spec.properties) < 2:
        return False
    found = _KEY_BEHIND.finditer(pairs[0][1][:2_000])
    return any(is_known(one[1], spec) for one in found)
