"""Events of one stream with tool-call segments → the same events with checked ToolCalls in their place.

Each call leaves with a status that says whether it may be executed, the repairs it needed, and its links to the other
calls. Next to a call that needed something stands a Failure: what the learner lives on.

A call is passed on as soon as it is read. If something later changes how it is linked (it is superseded, or a node
that arrives after it shows a self-correction in between), it is passed on again with the same `id` and `order`: the
later event replaces the earlier one. What everything else needs of a call is kept until the stream's end: ids and
hashes.
"""

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from processors.limits import LIMITS, Limits
from processors.repair import RuleBook, ToolSchema
from processors.tools.arguments import Reading, Said, accepted, read_arguments, said_in, settled
from processors.tools.definition import accept_min
from processors.tools.lessons import lesson_of
from processors.tools.links import Links, Marks, issued
from processors.tools.names import NAMESPACE
from processors.tools.toolbox import Toolbox
from schemas.failure import Failure, FailureCode, Stage
from schemas.reasoning import Label, Node
from schemas.segment import CallDraft, Closed, Opened, Segment, SegmentKind
from schemas.token import Meta
from schemas.toolcall import EXECUTABLE, CallStatus, CallWarning, Refusal, Repair, ToolCall
from schemas.wire import Event

MARKUP_RATE = 0.97
"""How far a call is trusted whose markup needed one repair; a starting value, as for closers added."""
CALL_ID_CHARS_MAX = 128
CORRECTION_CHARS_MAX = 2_000
"""What is read of a block that holds a correction."""
ALIAS_RATE = 0.95
"""How far a learned name is trusted; below a name as registered, above a mistyped one."""

FAILURES = {
    CallStatus.UNPARSEABLE: FailureCode.UNPARSEABLE_CALL,
    CallStatus.REFUSED: FailureCode.REFUSED_CALL,
    CallStatus.UNKNOWN_TOOL: FailureCode.UNKNOWN_TOOL,
    CallStatus.TRUNCATED: FailureCode.TRUNCATED_CALL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What a registry snapshot says about reading calls."""

    rules: RuleBook = field(default_factory=RuleBook)
    """Learned repair rules, tool aliases among them."""
    learned_formats: frozenset[str] = frozenset()
    """Formats that did not ship: their calls are only executable if the tool is registered."""
    limits: Limits = LIMITS


@dataclass(frozen=True, slots=True)
class _Named:
    """The tool that a name means, and how sure that is."""

    tool: str | None
    certainty: float = 1.0
    repairs: tuple[Repair, ...] = ()
    warnings: tuple[CallWarning, ...] = ()


class ToolStage:
    """One stream's calls, checked; everything else passes."""

    def __init__(self, toolbox: Toolbox, options: ToolOptions | None = None) -> None:
        self._toolbox = toolbox
        self._options = options or ToolOptions()
        self._rules = self._options.rules.of()
        self._meta = Meta()
        self._said: Said | None = None
        self._calls: dict[str, ToolCall] = {}
        self._marks = Marks()
        self._links = Links(self._marks)
        self._is_stale = False

    def feed(self, event: Event) -> Iterator[Event]:
        """One event in; a tool-call segment comes out as a ToolCall, after the failures that belong to it."""
        if isinstance(event, Segment) and event.kind is SegmentKind.TOOL_CALL:
            yield from self._called(event)
            return
        if isinstance(event, Opened):
            self._rules = self._options.rules.of(event.meta.tenant or "")
            self._meta, self._said = event.meta, said_in(event.meta)
            self._toolbox = Toolbox(event.meta.tools, self._toolbox) if event.meta.tools else self._toolbox
        elif isinstance(event, Node):
            self._mark(event)
        elif isinstance(event, Segment) and event.kind is SegmentKind.RESPONSE and event.text.strip():
            insort(self._marks.breaks, event.span[0])
        elif isinstance(event, Closed):
            yield from self.close()
        yield event

    def close(self) -> Iterator[Event]:
        """Calls whose links changed through nodes that came after them."""
        if self._is_stale:
            self._is_stale = False
            yield from map(self._linked, self._links.again())

    def _mark(self, node: Node) -> None:
        start = node.span[0]
        insort(self._marks.breaks, start)
        steps = [step.span[0] for step in node.steps if step.type is Label.SELF_CORRECTION]
        said = node.text[:CORRECTION_CHARS_MAX].lower()
        for place in steps or ([start] if node.type is Label.SELF_CORRECTION else []):
            insort(self._marks.corrections, (place, said))
        self._is_stale |= not self._links.is_after_all(start)

    def _called(self, segment: Segment) -> Iterator[Event]:
        if len(self._calls) >= self._options.limits.calls_max:
            yield self._failure(segment, FailureCode.TOO_MANY_CALLS)
            yield replace(segment, kind=SegmentKind.RESPONSE, call=None)
            return
        call = self._read(segment)
        self._calls[call.id] = call
        code = FAILURES.get(call.status) or (FailureCode.REPAIRED if call.repairs else None)
        if code:
            yield self._failure(segment, code, call)
        if call.status in EXECUTABLE:
            superseded = self._links.add(issued(call.id, call.name or "", call.arguments or {}, segment.span[0]))
            if superseded:
                yield self._linked(superseded)
            call = self._linked(call.id)
        yield call

    def _linked(self, call_id: str) -> ToolCall:
        link = self._links.of(call_id)
        call = replace(self._calls[call_id], duplicate_of=link.duplicate_of, superseded_by=link.superseded_by)
        if link.superseded_by:
            message = f"Superseded by {link.superseded_by} after a self-correction; not to be executed."
            call = replace(call, status=CallStatus.REFUSED, refusal=Refusal(code="superseded", message=message))
        return call

    def _read(self, segment: Segment) -> ToolCall:
        draft = segment.call
        requested = draft.name if draft else None
        blank = ToolCall(
            stream_id=segment.stream_id,
            id=self._id(draft),
            name=requested,
            requested_name=requested,
            arguments=None,
            raw=segment.text,
            order=segment.order,
            span=segment.span,
            status=CallStatus.UNPARSEABLE,
            strategy="none",
            confidence=0.0,
        )
        if draft and not draft.complete:
            return replace(blank, status=CallStatus.TRUNCATED)
        if not draft or not draft.name or not _has_arguments(draft):
            return blank
        return self._resolved(segment, draft, blank)

    def _resolved(self, segment: Segment, draft: CallDraft, blank: ToolCall) -> ToolCall:
        """The call with its tool found and its arguments read."""
        named = self._named(draft.name or "", draft)
        name, warnings = named.tool, named.warnings
        if name and segment.format in self._options.learned_formats and not self._toolbox.get(name):
            name = None
            warnings = (CallWarning(code="unregistered", message="A learned format can only call registered tools."),)
        if name is None:
            arguments = read_arguments(draft, None).arguments  # for whoever maps the call to a tool of its own
            return replace(blank, status=CallStatus.UNKNOWN_TOOL, arguments=arguments, warnings=warnings)
        schema = self._toolbox.schema(name)
        if isinstance(schema, str):
            warnings = (*warnings, CallWarning(code="malformed_schema", message=schema))
        compiled = schema if isinstance(schema, ToolSchema) else None
        reading = read_arguments(draft, compiled, self._rules, segment.text)
        if compiled and self._said:
            reading = settled(reading, draft, compiled, self._said, self._rules)
        reading = accepted(reading, accept_min(self._toolbox.get(name)))
        markup = tuple(Repair(code=code) for code in segment.repairs)
        return replace(
            blank,
            name=name,
            arguments=reading.arguments,
            status=_status(reading, named, is_mended=bool(markup)),
            strategy=reading.strategy,
            confidence=round(reading.confidence * named.certainty * MARKUP_RATE ** len(markup), 4),
            repairs=(*markup, *named.repairs, *reading.repairs),
            refusal=reading.refusal,
            warnings=warnings,
        )

    def _named(self, requested: str, draft: CallDraft) -> "_Named":
        """The tool that a name means; without tools any name is right."""
        plain = NAMESPACE.sub("", requested)
        if not self._toolbox:
            return _Named(plain)
        for exact in (requested, plain):
            if self._toolbox.get(exact):
                return _Named(exact)
        rule = self._rules.tool_called(requested)
        if rule and self._toolbox.get(rule.action):
            warning = CallWarning(code="renamed", message=f"Read as {rule.action}, as learned.")
            return _Named(rule.action, ALIAS_RATE, (Repair(code="tool_renamed", rule=rule.id),), (warning,))
        arguments = draft.value if isinstance(draft.value, dict) else None
        match = self._toolbox.match(requested, arguments)
        candidates = tuple({"name": found.name, "score": found.score} for found in match.candidates)
        if match.tool is None:
            message = "No registered tool has this name; call one of the candidates if it is meant."
            return _Named(None, warnings=(CallWarning(code="unknown_tool", message=message, candidates=candidates),))
        warning = CallWarning(code="renamed", message=f"Read as {match.tool}.", candidates=candidates)
        return _Named(match.tool, match.confidence, (Repair(code="tool_renamed"),), (warning,))

    def _id(self, draft: CallDraft | None) -> str:
        written = draft.call_id if draft else None
        if written and len(written) <= CALL_ID_CHARS_MAX and written not in self._calls:
            return written
        own = f"call_{len(self._calls)}"
        while own in self._calls:
            own += "_"
        return own

    def _failure(self, segment: Segment, code: FailureCode, call: ToolCall | None = None) -> Failure:
        return Failure(
            stream_id=segment.stream_id,
            code=code,
            stage=Stage.TOOL,
            span=segment.span,
            state=_state(call),
            found=segment.text[: self._options.limits.excerpt_chars_max],
            expected=call.refusal.message if call and call.refusal else "",
            context=lesson_of(segment, call, self._toolbox, self._meta),
        )


def _has_arguments(draft: CallDraft) -> bool:
    return draft.value is not None or draft.params is not None or draft.arguments_text is not None


def _status(reading: Reading, named: _Named, *, is_mended: bool) -> CallStatus:
    if reading.arguments is None:
        return CallStatus.REFUSED
    if named.repairs:
        return CallStatus.RENAMED
    return CallStatus.REPAIRED if reading.repairs or is_mended else CallStatus.OK


def _state(call: ToolCall | None) -> str:
    """What was being read, in words that hold nothing of the content."""
    if call is None:
        return "call"
    if call.refusal:
        return f"arguments:{call.refusal.code}"
    codes = sorted({repair.code for repair in call.repairs})
    return f"arguments:{'+'.join(codes)}" if codes else "name" if call.status is CallStatus.UNKNOWN_TOOL else "call"
