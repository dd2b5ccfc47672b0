"""Calls of one stream in order → which repeats which, and which replaces which.

A *list* is a run of calls with nothing but markup between them: equal calls of one list are meant, models write them
for parallel work. An equal call in a later list is a duplicate of the first one, because nothing has changed in
between. If the model took something back in between (a self-correction node), the re-issued call replaces the earlier
one instead. Positions are character offsets in the raw text, so marks may arrive after the calls; `again` then reads
all calls anew.
"""

import json
import re
import tomllib
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import islice, takewhile
from operator import itemgetter

import orjson

from schemas.jsonvalue import Json, JsonObject

VALUES_MAX = 20
VALUE_CHARS_MAX = 64
BARE_BYTES_MAX = 12
"""A correction no longer than this ("Wait, no.", "等等。") says nothing else, so it is about what was just done."""
CORRECTIONS_MAX = 16
"""Corrections between two calls that are read."""
CANDIDATES_MAX = 32
"""Earlier calls of a name that a re-issued one is compared with: bounds the work for a stream of 1,000 calls."""

Pairs = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """One executable call, as far as linking needs it."""

    id: str
    name: str
    start: int
    pairs: Pairs
    """(key, hash of the value) for each argument."""
    keys: frozenset[str]
    values: frozenset[str]
    """Short texts and numbers among the values, as a correction may name them."""


@dataclass(frozen=True, slots=True)
class Link:
    """How a call stands to the others."""

    duplicate_of: str | None = None
    superseded_by: str | None = None


@dataclass(slots=True)
class Marks:
    """Where a stream's list of calls is broken and where something was taken back: sorted offsets."""

    breaks: list[int] = field(default_factory=list)
    corrections: list[tuple[int, str]] = field(default_factory=list)
    """Offset and what was said, in lower case."""


def issued(call_id: str, name: str, arguments: JsonObject, start: int) -> Issued:
    """A call as a linkable value; the hash is of canonical JSON, so key order and spacing don't matter."""
    pairs = frozenset((key, hash(canonical(value))) for key, value in arguments.items())
    written = [str(value).lower() for value in arguments.values() if isinstance(value, str | int | float)]
    values = frozenset(text for text in written[:VALUES_MAX] if 1 < len(text) <= VALUE_CHARS_MAX)
    return Issued(id=call_id, name=name, start=start, pairs=pairs, keys=frozenset(arguments), values=values)


@lru_cache(maxsize=1)
def cues() -> JsonObject:
    """What a correction must say, from corrections.toml."""
    return tomllib.loads(files("processors.tools").joinpath("corrections.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(cues()["calls"]), re.compile(cues()["more"])


def takes_back(said: str, earlier: Issued, later: Issued) -> bool:
    """Whether a correction, in lower case, says that the later call stands in for the earlier one."""
    calls, more = _patterns()
    if earlier.pairs == later.pairs:
        return True
    if 2 * len(earlier.keys & later.keys) < max(len(earlier.keys), len(later.keys)) or more.search(said):
        return False
    is_bare = len(said.strip().encode("utf-8", "replace")) <= BARE_BYTES_MAX
    return is_bare or bool(calls.search(said)) or any(value in said for value in earlier.values | later.values)


def canonical(value: Json) -> bytes:
    """One spelling for each JSON value.

    What orjson can't write (a lone surrogate, a huge integer, 255 levels) is written slower, what is no JSON gets its
    repr; values too deep for both are all alike.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        pass
    try:
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
    except TypeError:
        return repr(value).encode("utf-8", "surrogatepass")
    except RecursionError:
        return b"too deep"


class Links:
    """The links of one stream's executable calls; work for a call is bounded by CANDIDATES_MAX."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._calls: list[Issued] = []
        self._first: dict[tuple[str, Pairs], Issued] = {}
        self._live: dict[str, list[Issued]] = {}
        self._links: dict[str, Link] = {}

    def of(self, call_id: str) -> Link:
        """How a call stands to the others, as far as is known."""
        return self._links.get(call_id, Link())

    def is_after_all(self, start: int) -> bool:
        """Whether a position lies behind each call so far."""
        return not self._calls or start > self._calls[-1].start

    def add(self, call: Issued) -> str | None:
        """Take the next call; gives the id of the call that it supersedes."""
        self._calls.append(call)
        live = self._live.setdefault(call.name, [])
        replaced = self._replaced(call, live)
        original = self._first.get((call.name, call.pairs))
        if replaced:
            live.remove(replaced)
            self._links[replaced.id] = Link(superseded_by=call.id)
        elif original and original.id not in self._links and self._parts(self._marks.breaks, original, call):
            self._links[call.id] = Link(duplicate_of=original.id)
            return None
        if not original or original.id in self._links:
            self._first[call.name, call.pairs] = call
        live.append(call)
        return replaced.id if replaced else None

    def again(self) -> list[str]:
        """Read all calls anew with the marks known now; gives the ids whose link is another."""
        before, calls = self._links, self._calls
        self._calls, self._first, self._live, self._links = [], {}, {}, {}
        for call in calls:
            self.add(call)
        return [call.id for call in calls if before.get(call.id, Link()) != self.of(call.id)]

    def _replaced(self, call: Issued, live: list[Issued]) -> Issued | None:
        """The earlier call that this one re-issues: before a correction, sharing most arguments."""
        best, shared_most = None, -1
        for earlier in reversed(live[-CANDIDATES_MAX:]):
            shared = len(earlier.pairs & call.pairs)
            if shared > shared_most and self._is_taken_back(earlier, call):
                best, shared_most = earlier, shared
        return best

    def _is_taken_back(self, earlier: Issued, later: Issued) -> bool:
        corrections = self._marks.corrections
        first = bisect_left(corrections, earlier.start, key=itemgetter(0))
        between = takewhile(lambda one: one[0] < later.start, islice(corrections, first, first + CORRECTIONS_MAX))
        return any(takes_back(said, earlier, later) for _, said in between)

    @staticmethod
    def _parts(marks: list[int], earlier: Issued, later: Issued) -> bool:
        place = bisect_left(marks, earlier.start)
        return place < len(marks) and marks[place] < later.start
