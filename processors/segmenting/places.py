"""One stream's text, window by window → marks acted upon, text collected.

The reader is always in one place (fresh, text, fence, comment, call). `read` goes from place to place until more text
is needed, and leaves in `wake` what tells whether a piece of text matters where it stopped.
"""

import re
from collections.abc import Callable

from processors.limits import Limits
from processors.segmenting import members
from processors.segmenting.automaton import Automaton
from processors.segmenting.calls import DONE, REJECTED, REREAD, WAIT, CallReader
from processors.segmenting.ledger import Ledger
from processors.segmenting.marks import Mark
from processors.segmenting.mention import LOOK_BACK, is_bracketed, is_mention, is_mentioned_close, line_before
from processors.segmenting.quoted import COMMENT_CLOSE, COMMENT_OPEN, Opening, Quoted
from processors.segmenting.run import Run
from processors.segmenting.table import Entry, Table
from processors.segmenting.tools import Tools
from processors.segmenting.wake import Wake, always
from schemas.failure import FailureCode

_SOLID = re.compile(r"\S").search
_READ_CHARS_MAX = 256
"""Characters that were read and are kept, at most: shortening the window more often costs more than they do."""


class Places:
    """Reads one stream."""

    __slots__ = (
        "_at", "_automaton", "_base", "_calls", "_has_tokens", "_is_closed", "_is_final", "_is_wrapped", "_kind",
        "_ledger", "_line_table", "_opened_by", "_place", "_quoted", "_run", "_table", "_tools", "_window", "wake",
    )  # fmt: skip

    def __init__(self, automaton: Automaton, ledger: Ledger, tools: Tools, limits: Limits) -> None:
        self._automaton = automaton
        self._ledger = ledger
        self._tools = tools
        self._run = Run(ledger, tools, limits.held_chars_max)
        self._calls = CallReader(automaton, self._run, tools, limits)
        self._quoted = Quoted()
        self._has_tokens = self._is_closed = self._is_final = self._is_wrapped = False
        self._opened_by: frozenset[str] = frozenset()  # whose marker opened a reasoning block before
        self._kind = members.RESPONSE
        self._window = ""
        self._at = self._base = 0
        self._table, self._line_table = automaton.text, automaton.line
        self._place: Callable[[Places], bool] = Places._at_fresh
        self.wake: Wake = automaton.start.idle

    def read(self, text: str) -> None:
        """Read on, with this text."""
        self._window += text
        while self._place(self):
            pass
        if self._at > _READ_CHARS_MAX:
            seen = self._at - LOOK_BACK
            self._base, self._at, self._window = self._base + seen, LOOK_BACK, self._window[seen:]

    def send(self) -> None:
        """Give live readers what is sure."""
        if self._place in {Places._in_text, Places._in_fence}:
            self._run.send(self._kind)

    def _take(self, end: int) -> None:
        if end > self._at:
            self._run.write(self._window[self._at : end], self._kind)
            self._at = end

    def _at_fresh(self) -> bool:
        """Only markup and white space came before."""
        window, at, start = self._window, self._at, self._automaton.start
        solid = _SOLID(window, at)
        here = solid.start() if solid else len(window)
        if here > at:
            self._run.put_aside(window[at:here])
            self._at = here
        if solid is None:
            self.wake = start.idle
            return False
        outcome = self._mark_at(start, here)
        if outcome is None:
            self._leave_fresh(here)
        return outcome is not False

    def _leave_fresh(self, here: int) -> None:
        self._run.resume(self._base + here, has_tokens=self._has_tokens)
        self._has_tokens = False
        self._place = Places._in_text

    def _in_text(self) -> bool:
        """In a response or in reasoning."""
        window, table, look = self._window, self._table, self._at
        trigger = table.trigger.search
        while True:
            hit = trigger(window, look)
            if hit is None:
                self._take(len(window))
                self.wake = table.idle
                return False
            here = hit.start()
            if hit.end() > here + 1:  # inline code
                look = hit.end()
                continue
            outcome = self._at_trigger(here)
            if outcome is not None:
                return outcome
            look = max(here + 1, self._at)

    def _at_trigger(self, here: int) -> bool | None:
        """A character with which something may begin; None when nothing does."""
        window, character = self._window, self._window[here]
        self._take(here)
        if character != "\n":
            after = window[here + 1 : here + 2]
            if character == "`" or (character == "<" and after == "!") or (character == "~" and after in {"", "~"}):
                return self._at_quoted(here)
            return self._mark_at(self._table, here)
        if here + 1 < len(window) or self._is_final:
            return self._mark_at(self._line_table, here + 1)
        self.wake = self._table.idle
        return False

    def _at_quoted(self, here: int) -> bool:
        window = self._window
        begins_line = self._run.is_empty or not line_before(window, here).strip(" \t")
        may_be_fence = begins_line and self._kind is members.RESPONSE  # in reasoning, fences are often not closed
        end, opening = self._quoted.open(window, here, is_line_start=may_be_fence, is_final=self._is_final)
        if opening is Opening.WAIT:
            self.wake = self._table.idle
            return False
        if opening is Opening.COMMENT:
            self._at, self._place = end, Places._in_comment
            return True
        self._take(end)
        if opening is Opening.FENCE:
            self._place = Places._in_fence
        return True

    def _in_fence(self) -> bool:
        end, is_closed = self._quoted.through_fence(self._window, self._at, is_final=self._is_final)
        self._take(end)
        self.wake = self._quoted.wake
        if is_closed:
            self._place = Places._in_text
        return is_closed

    def _in_comment(self) -> bool:
        self._at, is_closed = self._quoted.through_comment(self._window, self._at, is_final=self._is_final)
        self.wake = self._quoted.wake
        if not is_closed:
            return False
        text, after = self._quoted.comment, self._base + self._at
        before = after - len(COMMENT_OPEN) - len(text) - len(COMMENT_CLOSE)
        self._run.end(members.RESPONSE, before, by_mark=False)
        self._ledger.segment(members.STATE, text, (before, after))
        self._run.restart(after)
        self._place = Places._in_text
        return True

    def _in_call(self) -> bool:
        self._at, outcome = self._calls.step(self._window, self._at, self._base, is_final=self._is_final)
        if outcome is REREAD:
            rest = self._calls.rest + self._window[self._at :]
            self._base += len(self._window) - len(rest)
            self._window, self._at = rest, 0
        elif outcome is DONE:
            self._run.has_calls = True
            self._fresh_after(self._at)
        elif outcome is REJECTED:
            self._put_back(self._calls.rejected)
        self.wake = self._calls.wake
        return outcome is not WAIT

    def _put_back(self, text: str) -> None:
        """What looked like a call without a marker is text."""
        self._leave_fresh(self._at - len(text))
        self._run.write(text)
        if text.startswith("```"):
            self._quoted.open_fence(text[: len(text) - len(text.lstrip("`"))])
            self._place = Places._in_fence

    def _mark_at(self, table: Table, here: int) -> bool | None:
        """Act on the mark that stands here; None when there is none, False when there may be one."""
        window = self._window
        rest = window[here:] if len(window) - here < table.longest else ""
        if rest in table.waits and not self._is_final:
            self.wake = table.waits[rest]
            return False
        if rest in table.missing:
            return self._cut_off(table, here)
        for group in table.groups_at(window, here):
            found = group.whole.match(window, here)
            if found is None or group.may_extend:
                may_begin = group.partial.fullmatch(window, here)
                if may_begin and not self._is_final:
                    self.wake = group.hold
                    return False
                if may_begin and found is None:
                    return self._cut_off(table, here)
            if found is not None:
                return self._found(group.entries[found.lastgroup or ""], found)
        return None

    def _found(self, entry: Entry, found: re.Match[str]) -> bool | None:
        window, kind, (here, end) = self._window, entry.mark.kind, found.span()
        is_bare = kind is members.REASONING_CLOSE and self._kind is members.RESPONSE
        if end == len(window) and not self._is_final and (is_bare or entry.needs_next or is_bracketed(window, here)):
            self.wake = always
            return False
        if here and (is_mentioned_close if is_bare else is_mention)(window, here, end):
            return None
        if is_bare and self._run.holds(self._automaton.opener_line(entry.mark)):
            return None
        if kind is members.CALL and not self._calls.may_open(self._base + here):
            return None
        self._take(here)
        if kind is members.CALL:
            self._calls.open(entry, found, self._base, self._kind)
            self._at, self._place = end, Places._in_call
        else:
            self._act(entry.mark, found, is_bare)
        return True

    def _cut_off(self, table: Table, here: int) -> bool | None:
        """The stream ends inside a marker: a fragment of a call where nothing but markup came before, else text."""
        window = self._window
        is_cut = table.is_cut_call(window, here, is_fresh=self._run.is_empty)
        if not is_cut and not (self._run.is_empty and self._tools.one_begins_with(window[here:])):
            return None
        self._take(here)
        span = (self._base + here, self._base + len(window))
        self._run.end(self._kind, span[0], by_mark=True)
        self._ledger.failure(FailureCode.TRUNCATED_CALL, span, window[here:], state="marker")
        self._fresh_after(len(window))
        return True

    def _act(self, mark: Mark, found: re.Match[str], is_bare: bool) -> None:
        here, end = self._base + found.start(), found.end()
        self._ledger.see(mark)
        is_stray = mark.kind is members.CALL_CLOSE and self._run.is_empty and not self._window[end : end + 1].strip()
        if is_stray or mark.kind is members.LEAK:
            code = FailureCode.STRAY_CLOSE if is_stray else FailureCode.LEAKED_TOKEN
            self._ledger.failure(code, (here, self._base + end), found[0], state="text")
            self._at = end
            if is_stray:
                self._fresh_after(end)
            return
        is_result = mark.kind is members.RESULT and self._ledger.has_call_of(mark.formats)
        is_unopened = mark.kind is members.CONTENT_CLOSE and not self._is_wrapped
        is_last = mark.kind in members.LAST and not is_result
        if is_unopened or is_last or (is_bare and self._is_closed):  # markup if no more text follows
            self._run.put_aside(found[0], is_leak=mark.kind is not members.CONTENT_CLOSE or found[0][:2] != "</")
            self._has_tokens = True
            self._at, self._place = end, Places._at_fresh
            return
        if is_bare:
            self._run.end_implied(here)
        else:
            self._run.end(self._kind, here, by_mark=True)
            self._ledger.settle()
        self._is_closed |= mark.kind is members.REASONING_CLOSE
        self._is_wrapped = mark.kind is members.CONTENT_OPEN
        self._fresh_after(end)
        if mark.kind is members.REASONING_OPEN or is_result:
            self.enter_reasoning(mark.formats)

    def _fresh_after(self, end: int) -> None:
        self._at, self._place = end, Places._at_fresh
        self._run.restart(self._base + end)
        self._has_tokens = False
        if self._kind is members.REASONING:
            self._kind = members.RESPONSE
            known, opened_by = self._automaton, self._opened_by
            self._table, self._line_table = known.again(opened_by) if opened_by else (known.text, known.line)

    def enter_reasoning(self, formats: frozenset[str]) -> None:
        """A block was opened by a marker of these formats, or by the prompt, if there are none."""
        self._kind = members.REASONING
        self._opened_by = formats
        self._table = self._line_table = self._automaton.reasoning(formats)
        self._place = Places._in_text

    def finish(self, text: str) -> int:
        """The stream is over, with this text: it ends whatever is open → the stream's length."""
        self._is_final = True
        self.read(text)
        end = self._base + len(self._window)
        self._take(len(self._window))
        if self._place is Places._in_comment:
            comment = COMMENT_OPEN + self._quoted.comment
            self._run.write(comment)
            self._ledger.failure(FailureCode.MISSING_CLOSE, (end - len(comment), end), comment, state="comment")
        if self._kind is members.REASONING and not (self._run.is_empty and self._run.has_calls):
            self._ledger.failure(FailureCode.MISSING_CLOSE, (self._run.start, end), "", state="reasoning")
        self._run.end(self._kind, end, by_mark=self._kind is members.REASONING)
        self._ledger.settle()
        return end
