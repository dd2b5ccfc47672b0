"""What follows the names behind one opener → hypotheses of how the arguments are written.

Every reader is tried; a hypothesis is only kept if it reads something. Which one is right is decided by reading the
samples with it (`induce`), never here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from processors.learning.literals import (
    LITERAL_CHARS_MAX,
    QUORUM,
    Context,
    most_common,
    shared_prefix,
    shared_suffix,
    strength,
)
from processors.learning.openers import Opener
from processors.learning.sample import Sample
from processors.learning.shape import NAME, RUN, Reader, Shape, Typing, after_literal
from processors.learning.tails import Tail, closes_of, echoed, empties_of, empty_of, tails
from processors.learning.values import literal_at, structure_end, types_of

KEY_END_CHARS_MAX = 24
FIRSTS_TRIED = 3
KEYS_LOOKED_AT_MAX = 24
"""Keys of one call that are looked at for a quote token: a text of nothing but keys must not cost more than others."""
CLOSE_QUORUM = 0.6
"""Share of calls whose ends must agree: some are cut off, or a token of the turn follows them."""
_WORD = re.compile(r"\A[A-Za-z0-9_.:-]+")
_RUNS = re.compile(r"[A-Za-z0-9]*\d[A-Za-z0-9]*")


def hypotheses(samples: Sequence[Sample], opener: Opener) -> Iterator[Shape]:
    """Shapes that could read the calls behind an opener."""
    behind = tails(samples, opener)
    common = Shape(
        open=opener.literal, line_start=opener.line_start, section_open=opener.section, reader=Reader.JSON
    )  # fmt: skip
    yield from _json_shapes(common, behind)
    yield from _pair_shapes(common, behind)


def _json_shapes(common: Shape, behind: list[Tail]) -> Iterator[Shape]:
    befores: list[Context] = []
    for tail in behind:
        brace = tail.text.find("{", 0, LITERAL_CHARS_MAX)
        if brace >= 0:
            befores.append((tail.output, _with_run(tail.text[:brace])))
    first, outputs = most_common(befores)
    if len(outputs) < 2:
        return
    rests: list[tuple[Tail, str]] = []
    for tail in behind:
        brace = tail.text.find("{", 0, LITERAL_CHARS_MAX)
        if brace >= 0 and _with_run(tail.text[:brace]) == first:
            end = structure_end(tail.text, brace)
            if end:
                rests.append((tail, tail.text[end:]))
    close, section_close = closes_of(rests)
    without = [tail for tail in behind if "{" not in tail.text[:LITERAL_CHARS_MAX]]
    empties = empties_of(without, first, close, close + section_close)
    yield replace(common, first=first, close=close, section_close=section_close, empty=empties)


def _with_run(text: str) -> str:
    """Numbers and ids between name and object as a run: a length, an index."""
    return _RUNS.sub(RUN, text, count=1)


def _keys(tail: Tail) -> re.Pattern[str] | None:
    names = [name for name in tail.properties if name]
    if not names:
        return None
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{alternatives})(?![A-Za-z0-9_])")


@dataclass(frozen=True, slots=True)
class _Keyed:
    """A tail with its first key: `text[at:]` begins behind the key."""

    tail: Tail
    key: str
    at: int
    pattern: re.Pattern[str]


def _pair_shapes(common: Shape, behind: list[Tail]) -> Iterator[Shape]:
    common = replace(common, reader=Reader.PAIRS)
    keyed = []
    for tail in behind:
        pattern = _keys(tail)
        match = pattern.search(tail.text, 0, LITERAL_CHARS_MAX * 2) if pattern else None
        if match and pattern:
            keyed.append(
                (tail.text[: match.start()].replace(tail.name, NAME), _Keyed(tail, match.group(), match.end(), pattern))
            )
    tried = 0
    remaining = keyed
    while remaining and tried < FIRSTS_TRIED:
        first, outputs = most_common([(member.tail.output, literal) for literal, member in remaining])
        if len(outputs) < 2:
            return
        members = [member for literal, member in remaining if literal == first]
        with_keys = {id(member.tail) for member in members}
        without = [tail for tail in behind if id(tail) not in with_keys]
        yield from _with_first(replace(common, first=first), members, without)
        remaining = [pair for pair in remaining if pair[0] != first]
        tried += 1


def _with_first(common: Shape, members: list[_Keyed], without: list[Tail]) -> Iterator[Shape]:
    if common.first.endswith('{"'):
        return  # a JSON object, whose keys may stand in any order and notation
    after = [(member.tail.output, member.tail.text[member.at : member.at + KEY_END_CHARS_MAX]) for member in members]
    whole = shared_prefix(after)
    for key_end in _key_ends(whole, after):
        yield from _self_typed(replace(common, key_end=key_end), members, without)
        yield from _schema_typed(replace(common, key_end=key_end, typing=Typing.SCHEMA), members, without)


def _key_ends(whole: str, after: list[Context]) -> Iterator[str]:
    """What may end a key: the shared literal, shorter ones, and one with a word in it that differs (a type)."""
    for size in range(len(whole), 0, -1):
        if not whole[size - 1].isalnum():
            yield whole[:size]
    behind = [(output, _WORD.sub("", text[len(whole) :], count=1)) for output, text in after if text.startswith(whole)]
    further = shared_prefix(behind)
    if whole and not whole[-1].isalnum() and further and not further[0].isalnum():
        yield whole + RUN + further


def _self_typed(common: Shape, members: list[_Keyed], without: list[Tail]) -> Iterator[Shape]:
    betweens: list[Context] = []
    rests: list[tuple[Tail, str]] = []
    for member in members:
        at = member.at
        text = member.tail.text
        while (value_at := after_literal(text, at, common.key_end)) is not None:
            read = literal_at(text, value_at)
            if read is None:
                break
            following = _next_key(member, read[1], common.key_end)
            if following is None:
                rests.append((member.tail, text[read[1] :]))
                break
            betweens.append((member.tail.output, text[read[1] : following[0]]))
            at = following[1]
    outputs = {tail.output for tail, _ in rests}
    if len(outputs) < 2 or len(outputs) < QUORUM / 2 * len({member.tail.output for member in members}):
        return
    separator, _ = most_common(betweens)
    close, section_close = closes_of(rests)
    empty = empties_of(without, common.first, close, empty_of(common.first, separator, close))
    yield replace(common, next=separator, close=close, section_close=section_close, empty=empty)


def _next_key(member: _Keyed, at: int, key_end: str) -> tuple[int, int] | None:
    """Start and end of the next declared key that its end literal follows, within one literal's length."""
    for match in member.pattern.finditer(member.tail.text, at, at + LITERAL_CHARS_MAX * 2):
        if after_literal(member.tail.text, match.end(), key_end) is not None:
            return match.span()
    return None


def _schema_typed(common: Shape, members: list[_Keyed], without: list[Tail]) -> Iterator[Shape]:
    separators: list[Context] = []
    ends: list[tuple[Tail, str]] = []
    values: list[str] = []
    for member in members:
        text, key = member.tail.text, member.key
        start = after_literal(text, member.at, common.key_end)
        if start is None:
            continue
        for match in member.pattern.finditer(text, start):
            value_at = after_literal(text, match.end(), common.key_end)
            if value_at is not None and match.group() != key:  # a closing tag may repeat the key
                before = text[start : match.start()]
                values.append(before)
                separators.append((member.tail.output, echoed(before, key=key)))
                key, start = match.group(), value_at
        rest = text[start:].rstrip()
        values.append(rest)
        ends.append((member.tail, echoed(rest, key=key, name=member.tail.name)))
    if len({tail.output for tail, _ in ends}) < 2:
        return
    separator = _separator(separators, common.first)
    lasts = shared_suffix([(tail.output, text) for tail, text in ends if tail.is_last], CLOSE_QUORUM)
    inner = [(tail.output, text) for tail, text in ends if not tail.is_last]
    close, section_close, whole = lasts, "", _only_markup(lasts)
    if inner:
        call = shared_suffix(inner, CLOSE_QUORUM)
        if call and call in lasts and not lasts.endswith(call):
            cut = lasts.index(call) + len(call)
            close, section_close = call, lasts[cut:].strip()
        else:
            close = shared_suffix([(tail.output, text) for tail, text in ends], CLOSE_QUORUM)
    close = _from_value_end(_only_markup(close), separator)
    empty = empties_of(without, common.first, close, empty_of(common.first, separator, close))
    decode = ("entities",) if any("&quot;" in v or "&amp;" in v or "&lt;" in v for v in values) else ()
    if section_close and not common.section_open:  # perhaps it closes every call, and some of several were cut short
        yield replace(common, next=separator, close=whole, empty=empty, decode=decode)
    for trim in ((), ("trim",)):
        yield replace(
            common, next=separator, close=close, section_close=section_close, empty=empty, decode=(*decode, *trim)
        )


def _separator(separators: list[Context], first: str) -> str:
    """What stands between a value and the next key; from one output only if the first key is opened by the same."""
    if len({output for output, _ in separators}) >= 2:
        return _only_markup(shared_suffix(separators))
    return first if separators and first.strip() and all(text.endswith(first) for _, text in separators) else ""


def _from_value_end(close: str, separator: str) -> str:
    """A close from where values end, as they do before the separator: before that stands what some happen to share."""
    end = re.match(r"[^\w\s]+[\w:.]*[^\w\s]*", separator)
    at = close.find(end.group()) if end and strength(end.group()) else -1
    return close[at:] if at > 0 else close


def _only_markup(literal: str) -> str:
    """A literal without the letters at its start, which are the end of values that happen to agree."""
    return re.sub(r"\A[\w\s]*?(?=[^\w\s]|\s|\Z)", "", literal, count=1) if literal[:1].isalnum() else literal


def quoted(shape: Shape, behind: Sequence[Tail]) -> Shape | None:
    """The same shape with a private token around strings, when string values share one that others lack."""
    strings: list[Context] = []
    others: list[Context] = []
    for tail in behind:
        pattern = _keys(tail)
        for match in islice(pattern.finditer(tail.text), KEYS_LOOKED_AT_MAX) if pattern else ():
            if tail.text.startswith(shape.key_end, match.end()):
                value = tail.text[match.end() + len(shape.key_end) :][:LITERAL_CHARS_MAX]
                is_string = types_of(tail.properties.get(match.group())) == {"string"}
                (strings if is_string else others).append((tail.output, value))
    quote = shared_prefix(strings) if len({output for output, _ in strings}) >= 2 else ""
    while quote[-1:].isalnum() or quote[-1:] == " ":
        quote = quote[:-1]
    if len(quote) < 2 or any(value.startswith(quote) for _, value in others):
        return None
    separator, close = shape.next.removeprefix(quote), shape.close.removeprefix(quote)
    return replace(shape, quote=quote, typing=Typing.SELF, next=separator, close=close)
