"""The rest of a line → the text of a call's arguments; or nothing at all → a call without arguments."""

import re

from processors.dialects.reading import Head
from schemas.segment import CallDraft

DIALECT = "bare_line"

_END = re.compile("\n")


class LineReader:
    """Finds the end of the line."""

    opened = 0
    """See table.Reader."""

    __slots__ = ("wake",)

    def __init__(self) -> None:
        self.wake = _END.search

    def scan(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """See table.Reader."""
        end = window.find("\n", at)
        return (end, True) if end >= 0 else (len(window), is_final)

    def draft(self, raw: str, head: Head) -> CallDraft:
        """See table.Reader."""
        return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, arguments_text=raw.strip())


class NothingReader:
    """For a call whose marker is all of it."""

    opened = 0
    """See table.Reader."""

    __slots__ = ("wake",)

    def __init__(self) -> None:
        self.wake = _END.search

    def scan(self, _: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """See table.Reader."""
        del is_final
        return at, True

    def draft(self, _: str, head: Head) -> CallDraft:
        """See table.Reader."""
        return CallDraft(dialect="no_arguments", name=head.name, call_id=head.call_id, value={})
