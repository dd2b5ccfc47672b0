"""Lines → numbered files in a folder that one process holds, oldest deleted first.

Written is not forced to the platter: a file survives the death of the process, not of the machine. A line that was not
whole as the process died is cut off when the folder is opened again.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from streams.settings import ConfigError

READ_BYTES = 65_536


class LineFiles:
    """The files of one folder; `first` and `last` are their numbers."""

    def __init__(self, folder: Path, file_bytes_max: int) -> None:
        """Take the folder; raises ConfigError if it can't be had."""
        self._folder = folder
        self._file_bytes_max = file_bytes_max
        with ExitStack() as stack:
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
                stack.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                numbers = sorted(int(path.stem) for path in folder.glob("*.jsonl") if path.stem.isdecimal()) or [1]
                self.first, self.last = numbers[0], numbers[-1]
                self._file = self._opened()
                stack.callback(lambda: os.close(self._file))
                self.end = self._cut_torn_line()
            except BlockingIOError as error:
                message = f"{folder}: another process buffers here; give each process a folder of its own"
                raise ConfigError(message) from error
            except OSError as error:
                raise ConfigError(f"{folder}: {error.strerror}: a buffer needs a folder it may write to") from error
            self._closing = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the folder go."""
        self._closing.close()

    def append(self, lines: list[bytes]) -> int:
        """Write lines, without their ends; how many bytes. Raises OSError, then nothing of them stands."""
        if self.end >= self._file_bytes_max:
            os.close(self._file)
            self.last += 1
            self._file, self.end = self._opened(), 0
        data = b"".join(line + b"\n" for line in lines)
        written = 0
        try:
            written = os.pwrite(self._file, data, self.end)
        finally:
            if written < len(data):
                os.ftruncate(self._file, self.end)
        if written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.end += len(data)
        return len(data)

    def size(self, number: int) -> int:
        """Bytes in a file; 0 if there is none."""
        if number == self.last:
            return self.end
        path = self._path(number)
        return path.stat().st_size if path.exists() else 0

    def lines(self, number: int, start: int, end: int) -> Iterator[bytes]:
        """Whole lines that begin in this range, with their ends."""
        if start >= end:
            return
        place = os.dup(self._file) if number == self.last else self._path(number)
        with open(place, "rb", buffering=READ_BYTES) as file:  # noqa: PTH123 - a descriptor outlives the folder
            file.seek(start)
            while start < end and (line := file.readline()):
                start += len(line)
                yield line

    def drop_before(self, number: int) -> None:
        """Delete files that are not needed any more."""
        for old in range(self.first, number):
            self._path(old).unlink(missing_ok=True)
        self.first = max(self.first, number)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:012}.jsonl"

    def _opened(self) -> int:
        return os.open(self._path(self.last), os.O_RDWR | os.O_CREAT, 0o600)

    def _cut_torn_line(self) -> int:
        size, kept = os.fstat(self._file).st_size, 0
        while size and not kept:
            start = max(0, size - READ_BYTES)
            kept = start + os.pread(self._file, size - start, start).rfind(b"\n") + 1 if size else 0
            size, kept = (start, 0) if kept == start else (size, kept)
        os.ftruncate(self._file, kept)
        return kept
