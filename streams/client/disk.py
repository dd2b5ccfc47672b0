"""Tokens on disk until Kafka has them, in the order written; bounded.

The file `position` says up to where all is delivered, and up to where the batch under way goes. After a death in the
middle, that same batch is put together again from the same lines: tokens that go out a second time are the same to the
byte, and readers drop them by their `seq`. Nothing here knows of Kafka or of loops; one thread at a time calls it.
"""

import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path

from schemas.token import Token
from schemas.wire import UndecodableError, decode_token, encode
from streams.client.line_files import LineFiles
from streams.client.waiting import TOKEN_CHARS_MAX
from streams.settings import ConfigError

FILE_BYTES_MAX = 16_000_000
"""A file is deleted as a whole, so this much more than the limit may stand in the folder."""
BATCH_BYTES_MAX = 400_000
"""What one batch reads: below what the Kafka client puts into one request."""
NUMBER_CHARS = 20
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the files."""

    number: int = 0
    offset: int = 0
    planned: int = 0
    """End of the batch under way, in the same file; not above `offset` if there is none."""


class DiskBuffer:
    """What is written and not yet delivered."""

    def __init__(self, folder: str | os.PathLike[str], bytes_max: int) -> None:
        """Take the folder; a stream that a former process left without an end gets one. Raises ConfigError."""
        self._folder = Path(folder)
        self._bytes_max = bytes_max
        self._files = LineFiles(self._folder, min(FILE_BYTES_MAX, max(1, bytes_max // 4)))
        self.damaged = 0
        """Lines that were no token when they were read: a disk's fault."""
        try:
            self._position = os.open(self._folder / "position", os.O_RDWR | os.O_CREAT, 0o600)
            self._place = self._recovered()
            numbers = range(self._files.first, self._files.last + 1)
            self.bytes = sum(map(self._files.size, numbers)) - self._place.offset
            """Not delivered yet."""
            self.append(self._missing_ends())
        except OSError as error:
            self._files.close()
            raise ConfigError(f"{folder}: {error.strerror}: a buffer needs a disk it may write to") from error

    @property
    def is_full(self) -> bool:
        """Whether nothing more should be written for now."""
        return self.bytes >= self._bytes_max

    def append(self, tokens: list[Token]) -> None:
        """Write tokens; raises OSError, then none of them stands."""
        if tokens:
            self.bytes += self._files.append([encode(token) for token in tokens])

    def batch(self) -> list[Token]:
        """One token for each stream that is next, the same until `advance`; empty when all is delivered."""
        while self.bytes:
            place = self._place
            size = self._files.size(place.number)
            if place.offset >= size and place.number >= self._files.last:  # files were taken away
                self.bytes = 0
            elif place.offset >= size:
                self._go_to(Position(place.number + 1))
                self._files.drop_before(place.number + 1)
            elif tokens := self._planned(place.planned if place.planned > place.offset else size):
                return tokens
            else:  # nothing in it could be read
                self.advance()
        return []

    def advance(self) -> None:
        """The batch is delivered."""
        self.bytes -= self._place.planned - self._place.offset
        self._go_to(replace(self._place, offset=self._place.planned))

    def close(self) -> None:
        """Let the folder go."""
        os.close(self._position)
        self._files.close()

    def _planned(self, limit: int) -> list[Token]:
        """The tokens up to a place, or up to one that can't be joined; the place is written down."""
        joined: dict[str, Token] = {}
        start = end = self._place.offset
        for line in self._files.lines(self._place.number, start, min(limit, start + BATCH_BYTES_MAX)):
            token = self._decoded(line)
            if token is not None:
                before = joined.get(token.stream_id)
                if before is not None and not _follows(before, token):
                    break
                joined[token.stream_id] = _both(before, token) if before is not None else token
            end += len(line)
        self._go_to(replace(self._place, planned=end))
        return [*joined.values()]

    def _decoded(self, line: bytes) -> Token | None:
        try:
            return decode_token(line)
        except UndecodableError:
            self.damaged += 1
            log.warning("a line of the buffer is no token and is passed over", extra={"folder": str(self._folder)})
            return None

    def _recovered(self) -> Position:
        words = os.pread(self._position, 3 * NUMBER_CHARS, 0).split()
        known = len(words) == len(("number", "offset", "planned")) and all(word.isdigit() for word in words)
        place = Position(*map(int, words)) if known else Position()
        if not self._files.first <= place.number <= self._files.last:
            place = Position(self._files.first)
        size = self._files.size(place.number)
        if max(place.offset, place.planned) > size:  # the machine died: the file is older than the position
            place = replace(place, offset=min(place.offset, size), planned=0)
        self._files.drop_before(place.number)
        self._go_to(place)
        return place

    def _missing_ends(self) -> list[Token]:
        open_streams: dict[str, int] = {}
        for number in range(self._place.number, self._files.last + 1):
            start = self._place.offset if number == self._place.number else 0
            for token in map(self._decoded, self._files.lines(number, start, self._files.size(number))):
                if token is not None and token.done:
                    open_streams.pop(token.stream_id, None)
                elif token is not None:
                    open_streams[token.stream_id] = token.seq + token.count
        return [
            Token(stream_id=name, seq=seq, text="", done=True, finish_reason="abandoned")
            for name, seq in open_streams.items()
        ]

    def _go_to(self, place: Position) -> None:
        self._place = place
        text = "".join(f"{value:<{NUMBER_CHARS}}" for value in (place.number, place.offset, place.planned))
        os.pwrite(self._position, text.encode(), 0)


def _follows(token: Token, later: Token) -> bool:
    is_next = later.seq == token.seq + token.count and not token.done and later.meta is None
    return is_next and len(token.text) + len(later.text) <= TOKEN_CHARS_MAX


def _both(token: Token, later: Token) -> Token:
    return replace(
        token,
        text=token.text + later.text,
        count=token.count + later.count,
        done=later.done,
        finish_reason=later.finish_reason,
        usage=later.usage,
    )
