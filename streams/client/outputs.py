"""`llm.outputs` → outputs, each once; `llm.steps` → steps of streams that are still under way; answers of tools back.

A later revision of a stream's output is given, a repeated one is not. Outputs of one stream come in order.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Literal, Self, TypedDict, Unpack

from aiokafka import AIOKafkaProducer

from schemas.jsonvalue import Json
from schemas.output import Output
from schemas.toolcall import ToolCall, ToolResult, is_executable
from schemas.trajectory import Step
from schemas.wire import Event, encode
from streams.client.following import E, Following, options_of
from streams.kafka_clients import start_producer
from streams.settings import Settings, load


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which outputs or steps are given; what is empty does not narrow."""

    tools: frozenset[str] = frozenset()
    """Outputs with a call of one of these."""
    statuses: frozenset[str] = frozenset()
    """Outputs with a call of one of these statuses, and steps of one of them."""
    tenants: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    """Steps of these kinds."""

    def has_output(self, output: Output) -> bool:
        """Whether an output is one of them."""
        tenant = output.meta.tenant if output.meta else None
        is_call = any(
            (not self.tools or call.name in self.tools) and (not self.statuses or call.status in self.statuses)
            for call in output.tool_calls
        )
        return (not self.tenants or tenant in self.tenants) and (is_call or not (self.tools or self.statuses))

    def has_step(self, step: Step) -> bool:
        """Whether a step is one of them."""
        return (
            (not self.tools or step.detail.get("name") in self.tools)
            and (not self.statuses or step.status in self.statuses)
            and (not self.tenants or step.tenant in self.tenants)
            and (not self.kinds or step.kind in self.kinds)
        )


ALL = Wanted()


def executable(output: Output) -> Sequence[ToolCall]:
    """The calls of an output that may be run: checked, said once, not taken back."""
    return [call for call in output.tool_calls if is_executable(call)]


class Costs(TypedDict, total=False):
    """What else an answer may say of a call."""

    duration_ms: float
    cost_usd: float
    error: str


class Reading(Generic[E]):
    """What reading any topic has: it begins with the context, ends with it, and is iterated in between."""

    def __init__(self, settings: Settings | None, following: Callable[[Settings], Following[E]]) -> None:
        """following: makes what reads; called when the context is entered, as a client belongs to a running loop."""
        self._settings = settings or load()
        self._make = following
        self._following: Following[E] | None = None

    async def __aenter__(self) -> Self:
        following = self._make(self._settings)
        await following.start(self._settings.kafka_bootstrap)
        self._following = following
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._following is not None:
            await self._following.stop()

    def __aiter__(self) -> AsyncIterator[E]:
        assert self._following is not None, f"use `async with {type(self).__name__}(...)`"
        return self._following.events()


class OutputConsumer(Reading[Output]):
    """Reads `llm.outputs`; use it as an async context and iterate."""

    def __init__(self, settings: Settings | None = None, group: str | None = None, wanted: Wanted = ALL) -> None:
        """group: the consumer group whose offsets are committed; None: all there is, from the start, nothing committed.

        settings: from the environment if none.
        """
        super().__init__(settings, lambda known: _outputs(known, group, wanted))
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        if self._producer is not None:
            await self._producer.stop()

    async def answer(
        self,
        call: ToolCall,
        content: Json = None,
        status: Literal["ok", "param_error", "business_failure", "system_error"] = "ok",
        **more: Unpack[Costs],
    ) -> None:
        """Say on `llm.tool-results` what came of a call; returns when the broker has it."""
        result = ToolResult(stream_id=call.stream_id, call_id=call.id, status=status, content=content, **more)
        async with self._starting:  # calls of one output are often answered side by side
            if self._producer is None:
                self._producer = await start_producer(self._settings)
        topic, key = f"{self._settings.topic_prefix}llm.tool-results", call.stream_id.encode("utf-8", "replace")
        await self._producer.send_and_wait(topic, encode(result), key=key)


class StepConsumer(Reading[Step]):
    """Reads `llm.steps`: clean segments, calls and state of streams before they end. No group, nothing committed."""

    def __init__(
        self, settings: Settings | None = None, wanted: Wanted = ALL, *, start: Literal["latest", "earliest"] = "latest"
    ) -> None:
        super().__init__(settings, lambda known: _steps(known, start, wanted))


def _outputs(settings: Settings, group: str | None, wanted: Wanted) -> Following[Output]:
    def one_of(event: Event) -> Output | None:
        return event if isinstance(event, Output) and wanted.has_output(event) else None

    topic, options = f"{settings.topic_prefix}llm.outputs", options_of(settings, group, "earliest")
    return Following(topic, one_of, lambda output: (output.stream_id, output.rev), options)


def _steps(settings: Settings, start: str, wanted: Wanted) -> Following[Step]:
    def one_of(event: Event) -> Step | None:
        return event if isinstance(event, Step) and wanted.has_step(event) else None

    topic, options = f"{settings.topic_prefix}llm.steps", options_of(settings, None, start)
    return Following(topic, one_of, lambda step: ((step.stream_id, step.order, step.part), step.rev), options)
