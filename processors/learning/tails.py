"""Names behind one opener → what follows each, and the literals with which calls end.

Brackets tell what belongs to a pair and what to the call, when no output shows a call without arguments: `first` begins
a pair as `next` does, and `close` ends one as `next` does; what is left of both belongs to the call. So
`(f (key "x"))` gives `(f)`, and `f(key=1)` gives `f()`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from processors.learning.literals import LITERAL_CHARS_MAX, SUPPORT_MIN, most_common, shared_prefix
from processors.learning.openers import Opener
from processors.learning.sample import Anchor, Sample
from processors.learning.shape import ECHO, NAME, RUN

_OPENING = "<([{⟦【«〈《「『〔⟨⟪◁╭"
_CLOSING = re.compile(r".*[>)\]}⟧】»〉》」』〕⟩⟫▷╯]", re.DOTALL)

_FIRST_CLOSING = re.compile(r"[^>)\]}⟧】»〉》」』〕⟩⟫▷╯]*[>)\]}⟧】»〉》」』〕⟩⟫▷╯]")


@dataclass(frozen=True, slots=True)
class Tail:
    """What follows one name: up to the next call of the same sample, or to the end of the text."""

    output: int
    name: str
    text: str
    is_last: bool
    properties: dict[str, object]


def tails(samples: Sequence[Sample], opener: Opener) -> list[Tail]:
    """The text behind each name; the opener of the next call is not part of it."""
    found = []
    following: dict[int, Anchor] = {}
    for anchor in reversed(opener.anchors):
        sample = samples[anchor.sample]
        after = following.get(anchor.sample)
        end = after.start - len(opener.literal) if after and RUN not in opener.literal else len(sample.plain)
        if after and RUN in opener.literal:
            end = after.start - LITERAL_CHARS_MAX if after.start - LITERAL_CHARS_MAX > anchor.end else after.start
        text = sample.plain[anchor.end : max(end, anchor.end)]
        found.append(Tail(anchor.sample, anchor.name, text, after is None, sample.tools.get(anchor.name, {})))
        following[anchor.sample] = anchor
    return found[::-1]


def closes_of(rests: list[tuple[Tail, str]]) -> tuple[str, str]:
    """Closing literals of call and section from what follows the arguments."""
    lasts = [(tail.output, text.rstrip()) for tail, text in rests if tail.is_last]
    inner = [(tail.output, text.rstrip()) for tail, text in rests if not tail.is_last]
    whole = shared_prefix(lasts) if lasts else ""
    if inner:
        call = shared_prefix(inner, quorum=0.6)
        if whole.startswith(call) and len(whole) > len(call):
            return call, whole[len(call) :].strip()
        return (call if not lasts else shared_prefix([*lasts, *inner])), ""
    ending = [(output, text) for output, text in lasts if len(text) <= LITERAL_CHARS_MAX]
    end = shared_prefix(ending) if len({output for output, _ in ending}) >= SUPPORT_MIN else ""
    if whole.strip() and len(ending) < len(lasts) and end.startswith(whole):
        return whole, end[len(whole) :].strip()  # behind the longer ones stands a further call without an opener
    return whole, ""


def empties_of(without: list[Tail], first: str, close: str, default: str) -> str:
    """What follows the name of a call without arguments: most often, and agreeing with the close.

    Behind the close it is cut: what stands between two calls is not part of the first, and few outputs have two. What
    begins as a call with arguments does was cut off before them.
    """
    ends = []
    for tail in without:
        text = echoed(tail.text.rstrip()[: 2 * LITERAL_CHARS_MAX], name=tail.name)
        if len(text) <= LITERAL_CHARS_MAX and (first.startswith(text) or (text.startswith(first) and first.strip())):
            continue
        end = next((end for end in (default, close) if end.strip() and end.strip() in text), "")
        text = text[: text.index(end.strip()) + len(end.strip())] if end else text
        if len(text) <= LITERAL_CHARS_MAX:
            ends.append((tail.output, text))
    literal, outputs = most_common(ends)
    return literal if literal and len(outputs) > 1 else default  # one odd output proves no literal


def echoed(text: str, *, key: str = "", name: str = "") -> str:
    """The end of a text with the key, and the tool's name, as echoes."""
    text = text[-LITERAL_CHARS_MAX:]
    for word, echo in ((key, ECHO), (name, NAME)):
        if word:
            text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", echo, text)
    return text


def empty_of(first: str, following: str, close: str) -> str:
    """What would follow the name of a call without arguments; `following` is empty where no call has two."""
    shared = _shared_suffix(first, following) if following else first
    begins = max(shared.rfind(sign) for sign in _OPENING)
    pair = shared[begins:] if begins >= 0 else shared
    ended = _CLOSING.match(_shared_prefix(following, close)) if begins >= 0 and following else None
    if not following:
        ended = _FIRST_CLOSING.match(close) if begins >= 0 else None
        if begins >= 0 and (ended is None or not close[ended.end() :].strip()):
            return first + close.lstrip()  # its only bracket is that of all arguments
    head = first[: len(first) - len(pair)]
    rest = close[ended.end() :] if ended else close
    if not head.strip() or rest[:1].isspace():
        head = head.rstrip()
    return head + rest


def _shared_prefix(one: str, other: str) -> str:
    size = 0
    while size < min(len(one), len(other)) and one[size] == other[size]:
        size += 1
    return one[:size]


def _shared_suffix(one: str, other: str) -> str:
    return _shared_prefix(one[::-1], other[::-1])[::-1]
