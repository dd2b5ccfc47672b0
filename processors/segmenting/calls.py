"""A call's opening marker and what follows → calls, one after the other, until their section ends.

The reader is in one of three places: in a body, behind a body (where its closing marker may stand), in a section
(where the next call or the section's end may stand).
"""

import io
import re
from dataclasses import dataclass
from enum import Enum

from processors.dialects.json_object import Keys, is_call
from processors.dialects.reading import Head
from processors.dialects.table import Reader
from processors.limits import Limits
from processors.segmenting.automaton import Automaton, Call
from processors.segmenting.evidence import Evidence
from processors.segmenting.ledger import Ledger
from processors.segmenting.marks import Mark, MarkKind
from schemas.failure import FailureCode
from schemas.jsonvalue import JsonObject
from schemas.segment import CallDraft

_STATE = "call"
_CUT_NAME_CHARS_MIN = 5
"""Shortest text that is taken for the beginning of a tool's name: a short word may be an answer."""
_EXTRA = re.compile(r"[\s}\])]*[}\])]")
_ANY = re.compile("")
_NEXT = re.compile(r"\s*(?:>>>|<|\Z)")


class Outcome(Enum):
    """What a step led to."""

    WAIT = "more text is needed"
    GO_ON = "the next step can be taken"
    ACCEPTED = "a call without a marker is one: what came before it ends there"
    DONE = "the calls are over"
    REJECTED = "it was no call; its text is text"


@dataclass(frozen=True, slots=True)
class Tools:
    """The registered tools of one stream."""

    names: frozenset[str]
    schemas: dict[str, JsonObject]

    def may_be(self, name: str | None) -> bool:
        """Whether a call without a marker of its own may have this name."""
        return bool(name) and (not self.names or name in self.names)

    def one_begins_with(self, text: str) -> bool:
        """Whether a registered name may be under way."""
        return len(text) >= _CUT_NAME_CHARS_MIN and any(name.startswith(text) for name in self.names)


def tools_of(tools: tuple[JsonObject, ...]) -> Tools:
    """Tool schemas in OpenAI form, or bare functions → what the segmenter needs of them."""
    schemas = {}
    for tool in tools:
        function = tool.get("function", tool)
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            parameters = function.get("parameters")
            schemas[function["name"]] = parameters if isinstance(parameters, dict) else {}
    return Tools(frozenset(schemas), schemas)


class CallReader:
    """Reads the calls of one stream; `open` begins with each first marker."""

    __slots__ = (
        "_automaton", "_call", "_evidence", "_head", "_head_text", "_is_final", "_is_first", "_ledger", "_limits",
        "_mark", "_offset", "_place", "_raw", "_reader", "_tools", "_window", "calls", "rejected", "start", "wake",
    )  # fmt: skip

    def __init__(self, automaton: Automaton, ledger: Ledger, evidence: Evidence, tools: Tools, limits: Limits) -> None:
        self._automaton = automaton
        self._ledger = ledger
        self._evidence = evidence
        self._tools = tools
        self._limits = limits
        self.calls = 0
        self.rejected = ""
        self.start = 0
        self.wake: re.Pattern[str] = _ANY

    @property
    def is_tentative(self) -> bool:
        """Whether the open call may still turn out to be text."""
        return self._is_first and self._mark.is_tentative

    def open(self, mark: Mark, tag: str, found: re.Match[str], offset: int) -> None:
        """A call's opening marker was found; `offset`: place of the window in the stream."""
        self._begin(mark, tag, found, offset)
        self._is_first = True

    def _begin(self, mark: Mark, tag: str, found: re.Match[str], offset: int) -> None:
        assert mark.grammar is not None
        groups = found.groupdict()
        self._mark = mark
        self._call: Call = self._automaton.call(mark.grammar)
        self._head = Head(
            name=groups.get(f"name_{tag}"),
            call_id=groups.get(f"id_{tag}") or groups.get(f"index_{tag}"),
            dialect=mark.grammar.body,
            schemas=self._tools.schemas,
            nesting_max=self._limits.nesting_max,
        )
        self._head_text = found[0]
        self.start = offset + found.start()
        self._raw = io.StringIO()
        self._reader: Reader = self._call.body.reader()
        self._is_first = False
        self._place = self._in_body

    def step(self, window: str, at: int, offset: int, *, is_final: bool) -> tuple[int, Outcome]:
        """Read on from here."""
        self._window, self._offset, self._is_final = window, offset, is_final
        return self._place(at)

    def _in_body(self, at: int) -> tuple[int, Outcome]:
        window = self._window
        end, is_over = self._reader.scan(window, at, is_final=self._is_final)
        self._raw.write(window[at:end])
        if is_over:
            self._place = self._behind_body
            return end, Outcome.GO_ON
        self.wake = self._call.body.wake if end == len(window) else _ANY
        if not self._is_final:
            return end, Outcome.WAIT
        self._raw.write(window[end:])
        return len(window), self._cut()

    def _behind_body(self, at: int) -> tuple[int, Outcome]:
        window, close, partial = self._window, self._call.close, self._call.close_partial
        self.wake = _ANY
        if close is None:
            return self._take(at, at)
        found = close.match(window, at)
        if found:
            return self._take(at, found.end())
        if not self._is_final and partial.fullmatch(window, at):
            return at, Outcome.WAIT
        extra = _EXTRA.match(window, at)
        if extra:
            found = close.match(window, extra.end())
            if found:
                return self._take(at, found.end(), ("odd_close",))
            if not self._is_final and partial.fullmatch(window, extra.end()):
                return at, Outcome.WAIT
        if self._is_final and self._call.grammar.body != "json_object":
            self._raw.write(window[at:])
            return len(window), self._cut()
        return self._take(at, at, ("missing_close",))

    def _take(self, at: int, end: int, repairs: tuple[str, ...] = ()) -> tuple[int, Outcome]:
        """A call is whole: its body ends at `at`, its markup at `end`."""
        window = self._window
        if self.is_tentative and not self._tools.names and not self._is_final and not window[at:].strip():
            return at, Outcome.WAIT
        raw = self._raw.getvalue()
        draft = self._reader.draft(raw, self._head)
        if self.is_tentative:
            if not self._is_wanted(raw, draft, at):
                self.rejected = self._head_text + raw
                return at, Outcome.REJECTED
            self._is_first = False
            return at, Outcome.ACCEPTED
        self._evidence.add(self._mark)
        span = (self.start, self._offset + end)
        self._ledger.call(self._head_text + raw + window[at:end], span, draft, repairs)
        if repairs:
            code = FailureCode.MISSING_CLOSE if "missing_close" in repairs else FailureCode.STRAY_CLOSE
            self._ledger.failure(code, span, window[at : at + 40], state=_STATE)
        self.calls += 1
        self._is_first = False
        if not self._call.grammar.section_open:
            return end, Outcome.DONE
        self._place = self._in_section
        return end, Outcome.GO_ON

    def _is_wanted(self, raw: str, draft: CallDraft, at: int) -> bool:
        """Whether a text without a marker of its own is a call."""
        if not self._tools.may_be(draft.name) or not isinstance(draft.value, dict):
            return False
        grammar = self._call.grammar
        if grammar.body == "python_call":
            return self._window[at:].lstrip()[:1] in {",", "]", ""}
        if self._head.name is None:
            return is_call(raw, Keys(grammar.name_keys, grammar.argument_keys))
        return bool(self._tools.names) or _NEXT.match(self._window, at) is not None

    def _in_section(self, at: int) -> tuple[int, Outcome]:
        window = self._window
        self.wake = _ANY
        table = self._automaton.section(self._call)
        found = table.whole.match(window, at)
        if found and found.lastgroup:
            mark = table.marks[found.lastgroup]
            if mark.kind is MarkKind.CALL and self.calls < self._limits.calls_max:
                self._begin(mark, found.lastgroup, found, self._offset)
                return found.end(), Outcome.GO_ON
            return found.end(), Outcome.DONE
        may_go_on = table.partial.fullmatch(window, at) is not None
        if may_go_on and not self._is_final:
            return at, Outcome.WAIT
        rest = window[at:]
        if may_go_on and rest.strip():
            self._head_text, self.start, self._raw = rest, self._offset + at, io.StringIO()
            self._head = Head(None, None, self._head.dialect, {}, self._limits.nesting_max)
            return len(window), self._cut()
        return at, Outcome.DONE

    def _cut(self) -> Outcome:
        """The stream ended inside a call."""
        raw = self._raw.getvalue()
        if self.is_tentative and not self._may_become_one(raw):
            self.rejected = self._head_text + raw
            return Outcome.REJECTED
        draft = CallDraft(dialect=self._head.dialect, name=self._head.name, arguments_text=raw, complete=False)
        self._evidence.add(self._mark)
        span = (self.start, self._offset + len(self._window))
        self._ledger.call(self._head_text + raw, span, draft, ("truncated",))
        self._ledger.failure(FailureCode.TRUNCATED_CALL, span, self._head_text + raw, state=_STATE)
        return Outcome.DONE

    def _may_become_one(self, raw: str) -> bool:
        """Whether the beginning of a body without a marker is that of a call of a registered tool."""
        if self._head.name is not None:
            return self._head.name in self._tools.names
        written = re.search(r'"(?:tool_)?name"\s*:\s*"([^"]*)("?)', raw)
        if written is None:
            return bool(self._tools.names) and len(raw) < 40
        names = self._tools.names
        return written[1] in names if written[2] else any(name.startswith(written[1]) for name in names)
