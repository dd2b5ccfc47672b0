"""Which streams of a partition have finished, in the form that travels with a committed offset.

A partition's committed offset is that of its oldest stream still open. Streams that ended above it would be read again
after a restart; the commit's metadata names them, so that a replay skips them. A name is 8 bytes of a hash (with 384
names and a million streams read again, the chance that one is skipped by mistake is about 2 in 10¹¹). Of those that
don't fit the outputs are found on their topic (streams/emitted.py), for which a point says how far back to look.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64Error
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

METADATA_CHARS_MAX = 4_096
"""What a Kafka broker takes by default (`offset.metadata.max.bytes`)."""
NAME_BYTES = 8
MARK = "1:"
"""Version of the form."""
RESERVED_CHARS = 24
"""Left for what delivery puts in front."""
NAMES_MAX = (METADATA_CHARS_MAX - RESERVED_CHARS - len(MARK)) // 4 * 3 // NAME_BYTES
KEPT_MAX = 100_000
"""Most finished streams remembered, for late and repeated deltas: 20 MB."""


def name(stream_id: str) -> bytes:
    """What stands for a stream in metadata."""
    return blake2b(stream_id.encode("utf-8", "surrogatepass"), digest_size=NAME_BYTES).digest()


@dataclass(frozen=True, slots=True)
class Point:
    """What may be committed for a partition once everything that follows from its records is durable."""

    offset: int
    names: str
    ended: int
    """Streams that ended here since the partition was taken over."""
    passed: int | None
    """Of them, in the order of their ends, how many lie below the offset. None while outputs of streams that have not
    ended here yet are on their topic."""
    is_named: bool
    """Whether all others have their names here."""


class Finished:
    """Streams that ended, in order of their end: which were named by a commit, which were seen to end."""

    __slots__ = ("_above", "_ends", "_restored", "ended")

    def __init__(self, names: str = "") -> None:
        self._restored = frozenset(_names(names))
        self._ends: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._above: deque[int] = deque(maxlen=KEPT_MAX)
        self.ended = 0
        """How many were seen to end."""

    def __contains__(self, stream_id: str) -> bool:
        return stream_id in self._ends or (bool(self._restored) and name(stream_id) in self._restored)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ends)

    def next_seq(self, stream_id: str) -> int | None:
        """The number after a finished stream's last delta; None where only its name is known."""
        end = self._ends.get(stream_id)
        return end[1] if end else None

    def add(self, stream_id: str, offset: int, next_seq: int) -> None:
        """A stream ended at an offset."""
        self._ends[stream_id] = (offset, next_seq)
        self._above.append(offset)
        self.ended += 1
        if len(self._ends) > KEPT_MAX:
            self._ends.popitem(last=False)

    def point(self, offset: int, *, is_behind: bool) -> Point:
        """What to commit with an offset.

        offset: of the oldest stream still open; it never goes back.
        is_behind: the worker before this one had read further, so the names it left are still needed.
        cost: the number of names, and that of streams that the offset has passed since the last call.
        """
        while self._above and self._above[0] < offset:
            self._above.popleft()
        kept = list(islice(self._restored, NAMES_MAX)) if is_behind else []
        latest = [name(stream_id) for stream_id in islice(reversed(self._ends), NAMES_MAX - len(kept))]
        is_named = len(self._above) <= len(latest)
        if not is_behind:  # for late and repeated deltas
            kept = list(islice(self._restored, NAMES_MAX - len(latest)))
        return Point(offset, _packed([*latest, *kept]), self.ended, self.ended - len(self._above), is_named)


def _packed(names: Iterable[bytes]) -> str:
    packed = b"".join(names)
    return MARK + b64encode(packed).decode() if packed else ""


def _names(names: str) -> Iterator[bytes]:
    if not names.startswith(MARK):
        return
    try:
        packed = b64decode(names[len(MARK) :], validate=True)
    except NotBase64Error:  # not written by us
        return
    for start in range(0, len(packed) - NAME_BYTES + 1, NAME_BYTES):
        yield packed[start : start + NAME_BYTES]
