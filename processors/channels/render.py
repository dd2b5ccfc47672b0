"""Parts of one answer → the text of one stream: channels that a server kept apart, marked as format `channels` does.

Plain text passes as it is, so whatever a server left in the text (a call its own parser missed) is still read by its
own format. A tool call is written when it is complete: its pieces may come between those of another. A call that the
end of the stream cuts stays open, so it is never executed. See docs/adr/0070.
"""

import re
from dataclasses import dataclass, field

from processors.channels.part import CallPiece, Part

REASONING = "<|channels:reasoning|>"
CALL = "<|channels:call|>"
CALL_ID = "<|channels:id|>"
ARGUMENTS = "<|channels:arguments|>"
END = "<|channels:end|>"

NAME_CHARS_MAX = 128
ID_CHARS_MAX = 64
CALLS_OPEN_MAX = 256
"""Calls of one answer whose pieces are held; beyond it the oldest is written as it is."""
CUT = frozenset({"length", "max_tokens", "max_output_tokens", "error", "cancelled", "abandoned"})
"""Finish reasons after which the last call may lack its end."""

_NOT_NAME = re.compile(r"[^\w.\-/:]")
_NOT_ID = re.compile(r"[^\w.\-:]")


@dataclass(slots=True)
class _Call:
    name: str = ""
    call_id: str = ""
    arguments: list[str] = field(default_factory=list)

    def text(self, *, is_whole: bool) -> str:
        name = _NOT_NAME.sub("_", self.name)[:NAME_CHARS_MAX].lstrip(".-/:") or "unnamed"
        call_id = _NOT_ID.sub("_", self.call_id)[:ID_CHARS_MAX]
        arguments = "".join(self.arguments)
        head = f"{CALL}{name}{CALL_ID + call_id if call_id else ''}{ARGUMENTS}"
        return f"{head}{arguments or '{}'}{END}" if is_whole else head + arguments


class Renderer:
    """Writes one answer; feed it its parts, then close it once."""

    __slots__ = ("_calls", "_done", "_is_reasoning", "_reason")

    def __init__(self) -> None:
        self._is_reasoning = False
        self._calls: dict[str, _Call] = {}
        self._done: dict[str, str] = {}
        self._reason = ""

    def feed(self, part: Part) -> str:
        """The text that one part adds."""
        if part.finish_reason:
            self._reason = part.finish_reason
        if not part.calls and not part.reasoning and not self._is_reasoning and not self._calls:
            return part.text
        out = []
        if part.reasoning:
            out += self._written(is_last_whole=True)
            if not self._is_reasoning:
                out.append(REASONING)
                self._is_reasoning = True
            out.append(part.reasoning)
        if part.text:
            out += [*self._end_of_reasoning(), *self._written(is_last_whole=True), part.text]
        for piece in part.calls:
            out += self._piece(piece)
        return "".join(out)

    def close(self, *, is_cut: bool = False) -> str:
        """What ends the answer; `is_cut`: it did not come to its end."""
        is_last_whole = not is_cut and self._reason not in CUT
        return "".join([*self._end_of_reasoning(), *self._written(is_last_whole=is_last_whole)])

    def _piece(self, piece: CallPiece) -> list[str]:
        out: list[str] = []
        call = self._calls.get(piece.key)
        if call is not None and piece.call_id and call.call_id and piece.call_id != call.call_id:
            out += self._written(is_last_whole=True)  # a server that gives each of its calls the same index
            call = None
        if call is None:
            is_late = self._done.get(piece.key) == piece.call_id or not piece.name
            if (piece.key in self._done and is_late) or not (piece.name or piece.arguments):
                return out  # more of a call that was written, or the end of a block that is no call
            call = self._calls[piece.key] = _Call()
        call.name += piece.name if piece.name != call.name else ""
        call.call_id = piece.call_id or call.call_id
        if piece.is_whole:
            call.arguments.clear()
        call.arguments.append(piece.arguments)
        if piece.is_end or len(self._calls) > CALLS_OPEN_MAX:
            key = piece.key if piece.is_end else next(iter(self._calls))
            out += [*self._end_of_reasoning(), self._calls[key].text(is_whole=True)]
            self._forget(key)
        return out

    def _forget(self, key: str) -> None:
        call = self._calls.pop(key)
        if key:
            self._done[key] = call.call_id

    def _end_of_reasoning(self) -> list[str]:
        was, self._is_reasoning = self._is_reasoning, False
        return [END] if was else []

    def _written(self, *, is_last_whole: bool) -> list[str]:
        """All held calls, in the order in which they began."""
        if not self._calls:
            return []
        last = next(reversed(self._calls))
        found = [call.text(is_whole=is_last_whole or key != last) for key, call in self._calls.items()]
        for key in [*self._calls]:
            self._forget(key)
        return [*self._end_of_reasoning(), *found]
