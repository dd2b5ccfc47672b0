"""A folder that must be written, or an engine's complaint about its disk → a message that says what to do.

A full disk and a folder that is not writable are no faults of the rows or the configuration: they pass, and nothing may
be lost until then. So they are a `ServerAwayError`: what is under way waits in place, a command ends with code 3.
"""

import os
import re
import shutil
from pathlib import Path

from streams.settings import ServerAwayError

CREATE_BYTES_MIN = 64_000_000
"""Free space without which no store is made: one that runs out of space while it is made does not open again."""

_TROUBLE = re.compile(
    r"NOT_ENOUGH_SPACE|not enough space|No space left|Read-only file ?system|Disk quota exceeded|File too large"
    r"|errno: (?:13|27|28|30|122)\b|MISCONF"
)
TO_DO = "free disk space, make the folder writable, or set HERMES_DATA_DIR to another one"


def is_disk_trouble(error: BaseException) -> bool:
    """Whether a store's complaint is about its disk and not about what it was given."""
    return _TROUBLE.search(str(error)) is not None


def must_be_writable(folder: Path, what: str) -> None:
    """Raise ServerAwayError when a folder can't be made, is not writable, or has too little space to begin with."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise unwritable(folder, what, error.strerror or type(error).__name__) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise unwritable(folder, what, "not writable for this user")
    if free < CREATE_BYTES_MIN:
        raise unwritable(folder, what, f"{free / 1e6:.0f} MB free, {CREATE_BYTES_MIN / 1e6:.0f} MB are needed")


def unwritable(folder: Path | str, what: str, why: str) -> ServerAwayError:
    """What can't be written, why, and what to do."""
    return ServerAwayError(f"{what}: {folder} can't be written: {why}; {TO_DO}")
