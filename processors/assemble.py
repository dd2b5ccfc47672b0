"""Clean events of one stream → its steps, as they come, and one Output at its end."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from processors.discover import sample_of
from processors.reasoning.link import Known, Linked, link
from processors.reasoning.record import Facts, Reuse, record_of
from schemas.failure import Failure
from schemas.jsonvalue import JsonObject
from schemas.output import FormatFound, Output, OutputMetadata, Reasoning
from schemas.reasoning import Node, StateEntry
from schemas.segment import Closed, Opened, Relabel, Segment, SegmentKind
from schemas.token import Meta
from schemas.toolcall import ToolCall, is_executable
from schemas.trajectory import Step
from schemas.wire import Event

MARKUP_REPAIR_COST = 0.03
"""What each odd or missing marker takes off the parse confidence; a guess of ours, not measured."""


class Assembler:
    """One stream's clean events → Step for each, Output after the last; everything else passes."""

    __slots__ = (
        "_calls",
        "_failures",
        "_meta",
        "_nodes",
        "_opened",
        "_parts",
        "_pii",
        "_places",
        "_responses",
        "_reuse",
        "_segments",
        "_state",
    )

    def __init__(self, pii: Mapping[str, int], reuse: Reuse | None = None) -> None:
        """pii: values that cleaning took out so far, by type; the cleaner goes on counting in it."""
        self._opened: Opened | None = None
        self._meta = Meta()
        self._nodes: list[Node] = []
        self._calls: dict[str, ToolCall] = {}
        self._state: dict[str, StateEntry] = {}
        self._responses: dict[int, Segment] = {}
        self._failures: list[Failure] = []
        self._segments = 0
        self._parts: Counter[int] = Counter()
        self._places: dict[str, tuple[int, int]] = {}
        self._pii = pii
        self._reuse = reuse

    def feed(self, event: Event) -> Iterator[Event]:
        """Take one clean event, give its step; the stream's Closed gives the Output."""
        match event:
            case Opened():
                self._opened, self._meta = event, event.meta
                return
            case Closed():
                yield event
                output = self._output(event)
                yield output
                if (taught := sample_of(output)) is not None:
                    yield taught
                return
            case Segment() | Node() | ToolCall() | StateEntry() | Failure():
                self._keep(event)
                yield event
                yield self._step(event)
            case Relabel():
                self._responses.pop(event.order, None)
            case _:
                yield event

    def close(self) -> Iterator[Event]:
        """Nothing is held back: the Output follows Closed."""
        return iter(())

    def _keep(self, event: Segment | Node | ToolCall | StateEntry | Failure) -> None:
        match event:
            case Segment():
                self._responses[event.order] = event
                self._segments += 1
            case Node():
                self._responses.pop(event.order, None)  # a Relabel made it reasoning
                self._nodes.append(event)
                self._segments += 1
            case ToolCall():
                self._segments += event.id not in self._calls
                self._calls[event.id] = event
            case StateEntry():
                earlier = self._state.get(event.key)
                history = (*earlier.history, earlier.content) if earlier else event.history
                self._state[event.key] = replace(event, history=history)
            case Failure():
                self._failures.append(event)

    def _step(self, event: Segment | Node | ToolCall | StateEntry | Failure) -> Step:
        kind, status, text, order, confidence, detail = _row(event)
        part, rev = self._place(event, order)
        meta = self._meta
        return Step(
            stream_id=event.stream_id,
            order=order,
            part=part,
            rev=rev,
            kind=kind,
            status=status,
            text=text,
            span=event.span,
            confidence=confidence,
            detail=detail,
            run_id=meta.run_id or event.stream_id,
            session_id=meta.session_id,
            goal_id=meta.goal_id,
            tenant=meta.tenant,
            model=meta.model,
            ts=self._opened.ts if self._opened else None,
        )

    def _place(self, event: Event, order: int) -> tuple[int, int]:
        """Part and revision of a step: a call that is passed on again replaces its earlier step."""
        if isinstance(event, ToolCall) and event.id in self._places:
            part, rev = self._places[event.id]
            self._places[event.id] = (part, rev + 1)
            return part, rev + 1
        part = self._parts[order]
        self._parts[order] += 1
        if isinstance(event, ToolCall):
            self._places[event.id] = (part, 0)
        return part, 0

    def _output(self, closed: Closed) -> Output:
        calls = tuple(self._calls.values())
        known = Known(user=self._meta.user or "", results=self._meta.results)
        linked = link(self._nodes, calls, tuple(self._state.values()), self._failures, known)
        repairs = sum(len(call.repairs) for call in calls)
        markup = sum(len(segment.repairs) for segment in self._responses.values())
        return Output(
            stream_id=closed.stream_id,
            format=FormatFound(id=closed.format, confidence=round(closed.format_confidence, 4)),
            reasoning=Reasoning(
                text="\n".join(node.text for node in self._nodes) if self._nodes else None,
                nodes=linked.nodes,
                edges=linked.edges,
                gaps=linked.gaps,
                links=linked.links,
            ),
            tool_calls=linked.calls,
            state=self._state,
            response=self._response(),
            pii=dict(sorted(self._pii.items())),
            failures=tuple(self._failures),
            metadata=OutputMetadata(
                parse_confidence=self._confidence(markup),
                repairs_applied=repairs + markup,
                segments=self._segments,
                truncated=closed.truncated,
                registry_version=self._opened.registry_version if self._opened else 0,
                duration_ms=_between(self._opened.ts if self._opened else None, closed.ts),
            ),
            reasoning_record=self._record(closed, linked),
            meta=replace(self._meta, results=()),
            ts=closed.ts,
            extra=_given_by_server(closed),
        )

    def _record(self, closed: Closed, linked: Linked) -> JsonObject | None:
        facts = Facts(
            stream_id=closed.stream_id,
            goal=self._meta.user or "",
            goal_id=self._meta.goal_id,
            ts=closed.ts if self._opened is None or self._opened.ts is None else self._opened.ts,
            now=self._meta.now,
            nodes=linked.nodes,
            calls=linked.calls,
            gaps=linked.gaps,
            is_truncated=closed.truncated,
        )
        return record_of(facts, self._reuse)

    def _response(self) -> str:
        """The answer as its reader sees it; edges that only framed markup go, a text without markup stays as it is."""
        parts = [self._responses[order].text for order in sorted(self._responses)]
        text = "".join(parts)
        is_plain = not (self._nodes or self._calls or self._state)
        return text if is_plain else text.strip()

    def _confidence(self, markup_repairs: int) -> float:
        """Mean of the calls' confidence, 1 where there are none, less a cost for each repaired marker and each failure.

        How sure the format's id is does not count: formats that write the same text are read the same.
        """
        parts = [call.confidence for call in self._calls.values()] or [1.0]
        return round(max(0.0, sum(parts) / len(parts) - MARKUP_REPAIR_COST * (markup_repairs + len(self._failures))), 4)


def _between(start: float | None, end: float | None) -> float | None:
    if start is None or end is None or not math.isfinite(end - start):
        return None
    return round(max(0.0, end - start), 3)


def _given_by_server(closed: Closed) -> JsonObject:
    """What the model server said at the end: tokens used, why it stopped."""
    given = {"usage": closed.usage, "finish_reason": closed.finish_reason}
    return {name: value for name, value in given.items() if value is not None}


def _row(event: Segment | Node | ToolCall | StateEntry | Failure) -> tuple[str, str, str, int, float, JsonObject]:
    match event:
        case Segment():
            return SegmentKind.RESPONSE, "ok", event.text, event.order, 1.0, {}
        case Node():
            detail = {"id": event.id, "label": event.type, "steps": len(event.steps)}
            status = "superseded" if event.superseded else "ok"
            return SegmentKind.REASONING, status, event.text, event.order, event.confidence, detail
        case ToolCall():
            return SegmentKind.TOOL_CALL, event.status, event.raw, event.order, event.confidence, _call_detail(event)
        case StateEntry():
            detail = {"key": event.key, "source": event.source, "content": event.content}
            return SegmentKind.STATE, "ok", "", event.order, event.confidence, detail
        case Failure():
            detail = {"code": event.code, "stage": event.stage, "signature": event.signature}
            return "failure", event.code, event.found, FAILURE_ORDER, 0.0, detail


FAILURE_ORDER = -1
"""Failures have no place among the segments; as steps they stand under this order, told apart by `part`."""


def _call_detail(call: ToolCall) -> JsonObject:
    return {
        "id": call.id,
        "name": call.name,
        "requested_name": call.requested_name,
        "arguments": call.arguments,
        "strategy": call.strategy,
        "repairs": [repair.code for repair in call.repairs],
        "rules": sorted({repair.rule for repair in call.repairs if repair.rule}),
        "refusal": call.refusal.code if call.refusal else None,
        "duplicate_of": call.duplicate_of,
        "superseded_by": call.superseded_by,
        "executable": is_executable(call),
        "warnings": [warning.code for warning in call.warnings],
    }
