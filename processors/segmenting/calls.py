"""A call's opening marker and what follows → calls, one after the other, until their section ends.

The reader is in one of three places: in a body, behind a body (where its closing marker may stand), in a section
(where the next call or the section's end may stand).
"""

import io
import re
from collections.abc import Callable
from enum import Enum

from processors.dialects.reading import Head
from processors.dialects.table import Reader
from processors.limits import ENDING_CHARS, Limits
from processors.segmenting.automaton import Automaton, Call
from processors.segmenting.members import CALL
from processors.segmenting.run import Run
from processors.segmenting.table import Entry
from processors.segmenting.tools import Tools, is_call, may_be_call
from processors.segmenting.wake import Wake, after, always, at_solid
from schemas.failure import FailureCode
from schemas.segment import CallDraft, SegmentKind

_STATE = "call"
_REREADS_MAX = 8
"""Calls with an unclosed string that are looked for at a stream's end: each reads the rest once more."""
_NAMELESS = re.compile(r"\s*</>")
_EXTRA = re.compile(r"[\s}\])]*[}\])]")
_BETWEEN = re.compile(r"[\s,;]*+")
_NEXT = re.compile(r"\s*(?:[<>]|\Z)")


class Outcome(Enum):
    """What a step led to."""

    WAIT = "more text is needed"
    GO_ON = "the next step can be taken"
    REREAD = "the call ended before its text did; the rest is to be read again"
    DONE = "the calls are over"
    REJECTED = "it was no call; its text is text"


WAIT, GO_ON, REREAD, DONE, REJECTED = Outcome


class CallReader:
    """Reads the calls of one stream; `open` begins with each first marker."""

    __slots__ = (
        "_automaton", "_call", "_cut_end", "_head", "_head_text", "_is_final", "_is_first", "_kind", "_ledger",
        "_limits", "_mark", "_offset", "_place", "_raw", "_reader", "_rereads", "_room", "_run", "_tools",
        "_window", "calls", "rejected", "rest", "start", "wake",
    )  # fmt: skip

    def __init__(self, automaton: Automaton, run: Run, tools: Tools, limits: Limits) -> None:
        self._automaton = automaton
        self._run = run
        self._ledger = run.ledger
        self._tools = tools
        self._limits = limits
        self.calls = self.start = self._rereads = self._cut_end = 0
        self.rejected = self.rest = ""
        self.wake: Wake = always
        self._place: Callable[[CallReader, int], tuple[int, Outcome]] = CallReader._in_body

    @property
    def is_tentative(self) -> bool:
        """Whether the open call may still turn out to be text."""
        return self._is_first and self._mark.is_tentative

    def may_open(self, place: int) -> bool:
        """Whether one more call is within the limit; says once when it is not."""
        if self.calls < self._limits.calls_max:
            return True
        if self.calls == self._limits.calls_max:
            self.calls += 1
            self._ledger.failure(FailureCode.TOO_MANY_CALLS, (place, place), "", state=_STATE)
        return False

    def open(self, entry: Entry, found: re.Match[str], offset: int, kind: SegmentKind) -> None:
        """A call's opening marker was found; `offset`: place of the window; `kind`: of the text before it."""
        self._kind = kind
        self._begin(entry, found, offset)
        self._is_first = True

    def _begin(self, entry: Entry, found: re.Match[str], offset: int) -> None:
        mark = entry.mark
        assert mark.grammar is not None
        self._mark = mark
        self._call: Call = self._automaton.call(mark.grammar)
        name, call_id = entry.names(found) if entry.has_names else (None, None)
        self._head = Head(name, call_id, mark.grammar.body, self._tools, self._limits.nesting_max)
        self._head_text = found[0]
        self.start = offset + found.start()
        self._raw = io.StringIO()
        self._room = self._limits.held_chars_max
        self._reader: Reader = self._call.body()
        self._is_first = False
        self._place = CallReader._in_body

    def step(self, window: str, at: int, offset: int, *, is_final: bool) -> tuple[int, Outcome]:
        """Read on from here."""
        self._window, self._offset, self._is_final = window, offset, is_final
        outcome = GO_ON
        while outcome is GO_ON:
            at, outcome = self._place(self, at)
        return at, outcome

    def _in_body(self, at: int) -> tuple[int, Outcome]:
        window, reader = self._window, self._reader
        end, is_over = reader.scan(window, at, is_final=self._is_final)
        if end - at > self._room:
            end, is_over = at + self._room, False
        if end > at:
            self._room -= self._raw.write(window[at:end])
        if is_over:
            self._place = CallReader._behind_body
            return end, GO_ON
        self.wake = reader.wake
        if not self._room:
            self._ledger.failure(FailureCode.HELD_TOO_LONG, (self.start, self._offset + end), "", state=_STATE)
            return self._cut(end)
        if not self._is_final:
            return end, WAIT
        self._raw.write(window[end:])
        return self._recover()

    def _recover(self) -> tuple[int, Outcome]:
        """The stream ended in a body: perhaps a string was never closed, and the marker that ends the body is in it."""
        stop = self._call.stop.search(self._raw.getvalue(), self._reader.opened)
        if stop is None or self._rereads >= _REREADS_MAX:
            return self._cut(len(self._window))
        return self._reread(len(self._window), stop.start())

    def _reread(self, at: int, end: int) -> tuple[int, Outcome]:
        """The body ends at `end` of its text; what was read beyond, up to `at` of the window, is to be read again."""
        raw = self._raw.getvalue()
        self._rereads += 1
        self._raw = io.StringIO()
        self._room = self._limits.held_chars_max - self._raw.write(raw[:end])
        self.rest = raw[end:]
        self._place = CallReader._behind_body
        return at, REREAD

    def _behind_body(self, at: int) -> tuple[int, Outcome]:
        window, close, partial = self._window, self._call.close, self._call.close_partial
        if close is None:
            return self._take(at, at)
        found = close.match(window, at) if at < len(window) else None
        if found:
            return self._take(at, found.end())
        if partial.fullmatch(window, at):
            return self._close_under_way(at)
        if nameless := _NAMELESS.match(window, at):
            return self._take(at, nameless.end(), ("odd_close",))
        extra = _EXTRA.match(window, at)
        if extra:
            found = close.match(window, extra.end())
            if found:
                return self._take(at, found.end(), ("odd_close",))
            if not self._is_final and partial.fullmatch(window, extra.end()):
                self.wake = always
                return at, WAIT
        return self._take(at, at, ("missing_close",))

    def _close_under_way(self, at: int) -> tuple[int, Outcome]:
        """The text ends in the closing marker or before it; a JSON object is whole without one."""
        end = len(self._window)
        if not self._is_final:
            self.wake = after(self._missing(at))
            return at, WAIT
        if self._call.grammar.body == "json_object":
            return self._take(at, end, ("missing_close",))
        self._raw.write(self._window[at:])
        return self._cut(end)

    def _missing(self, at: int) -> int:
        """How many characters the closing marker still needs at least."""
        rest = self._window[at:].lstrip()
        sizes = [len(text) for text in self._call.close_literals if text.startswith(rest)]
        return min(sizes) - len(rest) if sizes else 1

    def _take(self, at: int, end: int, repairs: tuple[str, ...] = ()) -> tuple[int, Outcome]:
        """A call is whole: its body ends at `at`, its markup at `end`."""
        window = self._window
        if self._is_first and self.is_tentative and self._is_unclear and not self._is_final and not window[at:].strip():
            self.wake = at_solid
            return at, WAIT
        raw = self._raw.getvalue()
        draft = self._reader.draft(raw, self._head)
        outcome = self._judge(draft, raw, at)
        if outcome is not None:
            return at, outcome
        self._ledger.see(self._mark)
        span = (self.start, self._offset + end)
        if draft.name in self._call.grammar.no_call and draft.name not in self._tools.names:
            self._ledger.failure(FailureCode.LEAKED_TOKEN, span, draft.name or "", state=_STATE)
            return self._go_behind(end)
        text = self._head_text + raw + window[at:end]
        self._ledger.call(text, span, draft, repairs)
        if repairs:
            code = FailureCode.MISSING_CLOSE if "missing_close" in repairs else FailureCode.STRAY_CLOSE
            self._ledger.failure(code, span, text[-ENDING_CHARS:], state=_STATE)
        self.calls += 1
        return self._go_behind(end)

    def _go_behind(self, end: int) -> tuple[int, Outcome]:
        if not self._call.grammar.section_open:
            return end, DONE
        self._place = CallReader._in_section
        return end, GO_ON

    def _judge(self, draft: CallDraft, raw: str, at: int) -> Outcome | None:
        """What is to be done before the draft is a call of the stream, if anything."""
        if draft.value is None and draft.params is None and self._rereads < _REREADS_MAX:
            stop = self._call.stop.search(raw)
            if stop:  # a lost quotation mark made one string of several calls
                return self._reread(at, stop.start())[1]
        if not self._is_first:
            return None
        is_wanted = draft.name is not None
        if self._mark.is_tentative:
            is_wanted = is_call(raw, draft, self._call.grammar, self._tools) and self._is_followed(at)
        if not is_wanted:
            self.rejected = self._head_text + raw
            return REJECTED
        self._accept()
        return None

    def _accept(self) -> None:
        """It is a call: what came before it ends there."""
        if self._is_first:
            self._is_first = False
            self._run.end(self._kind, self.start, by_mark=True)
            self._ledger.settle()

    def _is_followed(self, at: int) -> bool:
        """Whether what follows a call without a marker may follow one."""
        grammar = self._call.grammar
        if grammar.body == "python_call":
            return self._window[at:].lstrip()[:1] in {",", "]", ""}
        is_named_first = grammar.body == "json_object" and self._head.name is not None
        return not is_named_first or bool(self._tools.names) or _NEXT.match(self._window, at) is not None

    @property
    def _is_unclear(self) -> bool:
        """Whether what follows tells if a call without a marker is one."""
        return not self._tools.names or self._call.grammar.body == "python_call"

    def _in_section(self, at: int) -> tuple[int, Outcome]:
        window, table = self._window, self._automaton.section(self._call.grammar)
        between = _BETWEEN.match(window, at)
        here = between.end() if between else at
        missing = 1 if here == len(window) else table.missing_at(window, here)
        self.wake = table.idle
        if missing and not self._is_final:
            return at, WAIT
        may_go_on = missing > 0 and here < len(window)
        for group in table.groups_at(window, here):
            found = group.whole.match(window, here)
            if found:
                return self._go_on(at, group.entries[found.lastgroup or ""], found)
            if group.partial.fullmatch(window, here):
                may_go_on = True
                self.wake = group.hold
        if may_go_on and not self._is_final:
            return at, WAIT
        if may_go_on and here < len(window):
            self._head_text, self.start, self._raw = window[at:], self._offset + at, io.StringIO()
            self._head = Head(None, None, self._head.dialect, self._tools, self._limits.nesting_max)
            self._cut_end = len(window)
            return self._emit_cut(at)
        return at, DONE

    def _go_on(self, at: int, entry: Entry, found: re.Match[str]) -> tuple[int, Outcome]:
        """The next call of the section, or its end."""
        if entry.mark.kind is not CALL:
            return found.end(), DONE
        if not self.may_open(self._offset + found.start()):
            return at, DONE
        self._begin(entry, found, self._offset)
        return found.end(), GO_ON

    def _cut(self, end: int) -> tuple[int, Outcome]:
        """The call's text ends inside of it, at this place of the window."""
        if self.is_tentative and not may_be_call(self._raw.getvalue(), self._head.name, self._tools):
            self.rejected = self._head_text + self._raw.getvalue()
            return end, REJECTED
        self._cut_end = end
        self._place = CallReader._emit_cut
        return end, GO_ON

    def _emit_cut(self, _: int) -> tuple[int, Outcome]:
        self._accept()
        raw, head = self._raw.getvalue(), self._head
        draft = CallDraft(dialect=head.dialect, name=head.name, arguments_text=raw, complete=False)
        self._ledger.see(self._mark)
        span = (self.start, self._offset + self._cut_end)
        self._ledger.call(self._head_text + raw, span, draft, ("truncated",))  # the tool stage reports it
        return self._cut_end, DONE
