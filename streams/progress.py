"""Which streams of a partition have finished, in the form that travels with a committed offset.

A partition's committed offset is that of its oldest stream still open. Streams that ended above it would be read again
after a restart; the commit's metadata names them, so that a replay skips them. A name is 8 bytes of a hash (with 384
names and a million streams read again, the chance that one is skipped by mistake is about 2 in 10¹¹). What doesn't fit
is read again and gives the same events with the same ids.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64Error
from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b

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


class Finished:
    """Streams that ended, in order of their end: which were named by a commit, which were seen to end."""

    __slots__ = ("_ends", "_restored")

    def __init__(self, metadata: str = "") -> None:
        self._restored = frozenset(_names(metadata))
        self._ends: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def __contains__(self, stream_id: str) -> bool:
        return stream_id in self._ends or (bool(self._restored) and name(stream_id) in self._restored)

    def next_seq(self, stream_id: str) -> int | None:
        """The number after a finished stream's last delta; None where only its name is known."""
        end = self._ends.get(stream_id)
        return end[1] if end else None

    def add(self, stream_id: str, offset: int, next_seq: int) -> None:
        """A stream ended at an offset."""
        self._ends[stream_id] = (offset, next_seq)
        if len(self._ends) > KEPT_MAX:
            self._ends.popitem(last=False)

    def metadata(self) -> str:
        """The latest to end, as many as fit: those above the committed offset are among them if they fit."""
        latest = [name(stream_id) for stream_id, _ in zip(reversed(self._ends), range(NAMES_MAX), strict=False)]
        for restored in self._restored:
            if len(latest) >= NAMES_MAX:
                break
            latest.append(restored)
        return MARK + b64encode(b"".join(latest)).decode() if latest else ""

    def above(self, offset: int) -> int:
        """How many ended at or above an offset: those that a replay from there must skip."""
        count = 0
        for end, _ in reversed(self._ends.values()):
            if end < offset:
                break
            count += 1
        return count


def _names(metadata: str) -> Iterator[bytes]:
    if not metadata.startswith(MARK):
        return
    try:
        packed = b64decode(metadata[len(MARK) :], validate=True)
    except NotBase64Error:  # not written by us
        return
    for start in range(0, len(packed) - NAME_BYTES + 1, NAME_BYTES):
        yield packed[start : start + NAME_BYTES]
