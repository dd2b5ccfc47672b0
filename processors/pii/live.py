"""Deltas of one segment → the same without personal data, held back where a value may begin.

The beginning of a value may stand at the end of an earlier segment (`processors/pii/joints.py`). Then that end is read
first, and what comes of it is left out here: it is the earlier segment's.
"""

from processors.pii.matching import PLACEHOLDER_END
from processors.pii.stream import StreamRedactor


class LiveText:
    """The text of one open segment as it comes."""

    __slots__ = ("_lead", "_redactor", "_sent")

    def __init__(self, redactor: StreamRedactor, before: str) -> None:
        """before: the open end of the text that this one goes on."""
        self._redactor = redactor
        redactor.feed(before)
        self._lead = redactor.held
        self._sent = 0

    def feed(self, text: str) -> str:
        """Take a delta, give what can be shown."""
        return self._own(self._redactor.feed(text))

    def close(self) -> str:
        """The rest, when no segment came to say what it is."""
        return self._own(self._redactor.close())

    def rest(self, text: str) -> str:
        """What was not shown of the segment's whole text, which is clean."""
        return text[self._sent :]

    def _own(self, text: str) -> str:
        if text and self._lead:
            text = self._without_lead(text)
        self._sent += len(text)
        return text

    def _without_lead(self, text: str) -> str:
        lead = self._lead
        same = next(
            (at for at, (a, b) in enumerate(zip(text, lead, strict=False)) if a != b), min(len(text), len(lead))
        )
        self._lead = lead[same:] if same == len(text) else ""
        if same in {len(lead), len(text)}:
            return text[same:]
        end = text.find(PLACEHOLDER_END, same)
        return text[end + len(PLACEHOLDER_END) :] if end >= 0 else text[same:]
