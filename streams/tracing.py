"""Outputs → OpenTelemetry spans with GenAI attributes, where a collector is named. Names and counts, no content.

One span for each stream, `chat MODEL`, from its first record to its last; a child of the producer's span where its
records carry a `traceparent`. Trace and span ids are made from the run's and the stream's id, so that a replay sends
the same span again and not a second one. Calls, repairs and masked values are events of the span.

Source of the names: OpenTelemetry's GenAI semantic conventions, still in development; they stand in this file alone.
"""

import math
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from schemas.output import Output
from streams.open_stream import DeadLetter, Publish
from streams.settings import ConfigError, Settings

try:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import IdGenerator
    from opentelemetry.trace import Span, SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:  # the extra `otel`
    IdGenerator = object  # type: ignore[assignment,misc]
    IS_THERE = False
else:
    IS_THERE = True

USAGE = {
    "gen_ai.usage.input_tokens": ("prompt_tokens", "input_tokens"),
    "gen_ai.usage.output_tokens": ("completion_tokens", "output_tokens"),
}
CALLS_MAX = 64
"""Events of one span that are about calls; a span may hold 128 events."""


class Spans:
    """Sends a span for each output, in the background; a collector that is away costs spans and nothing else."""

    def __init__(self, settings: Settings) -> None:
        """Raises ConfigError without the extra."""
        if not IS_THERE:
            raise ConfigError("otel_endpoint is set, and OpenTelemetry is missing: pip install 'hermes-streams[otel]'")
        self._topic = f"{settings.topic_prefix}llm.outputs"
        self._ids = _Ids()
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "hermes-streams"}), id_generator=self._ids
        )
        exporter = OTLPSpanExporter(endpoint=f"{settings.otel_endpoint.rstrip('/')}/v1/traces", timeout=5)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("hermes-streams")

    def saw(self, items: Iterable[Publish | DeadLetter]) -> None:
        """Note what is about to be published."""
        for item in items:
            if isinstance(item, Publish) and item.topic == self._topic and type(item.event) is Output:
                self._send(item.event, item.trace)

    def close(self) -> None:
        """Send what waits, for at most 5 s."""
        self._provider.force_flush(5_000)
        self._provider.shutdown()

    def _send(self, output: Output, trace: bytes | None) -> None:
        meta, ended = output.meta, output.ts or 0.0
        run = (meta.run_id if meta else None) or output.stream_id
        self._ids.trace, self._ids.span = _number(run, 16), _number(output.stream_id, 8)
        model = (meta.model if meta else None) or "unknown"
        around = TraceContextTextMapPropagator().extract({"traceparent": trace.decode("latin-1")}) if trace else None
        span = self._tracer.start_span(
            f"chat {model}", around, SpanKind.CLIENT, attributes_of(output),
            start_time=_nanoseconds(ended - (output.metadata.duration_ms or 0.0)),
        )  # fmt: skip
        _add_events(span, output)
        if output.failures:
            span.set_status(StatusCode.ERROR, ", ".join(sorted({failure.code for failure in output.failures})))
        span.end(_nanoseconds(ended))


def attributes_of(output: Output) -> dict[str, Any]:
    """Attributes of an output's span."""
    meta, figures = output.meta, output.metadata
    usage = output.extra.get("usage")
    reason = output.extra.get("finish_reason")
    given = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.stream": True,
        "gen_ai.provider.name": meta.provider if meta else None,
        "gen_ai.request.model": meta.model if meta else None,
        "gen_ai.conversation.id": meta.session_id if meta else None,
        "gen_ai.response.id": output.stream_id,
        "gen_ai.response.finish_reasons": [reason] if isinstance(reason, str) else None,
        "llm.run.id": meta.run_id if meta else None,
        "llm.format": output.format.id,
        "llm.parse.confidence": figures.parse_confidence,
        "llm.repairs": figures.repairs_applied,
        "llm.truncated": figures.truncated,
        "llm.registry.version": figures.registry_version,
    }
    if isinstance(usage, dict):
        for name, keys in USAGE.items():
            given[name] = next((usage[key] for key in keys if isinstance(usage.get(key), int)), None)
    return {name: value for name, value in given.items() if value is not None}


def _add_events(span: "Span", output: Output) -> None:
    at = _nanoseconds(output.ts or 0.0)
    for call in output.tool_calls[:CALLS_MAX]:
        named = {
            "gen_ai.tool.name": call.name or "",
            "gen_ai.tool.call.id": call.id,
            "llm.tool_call.status": call.status,
        }
        codes = [repair.code for repair in call.repairs]
        span.add_event("llm.tool_call", named | ({"llm.repair.codes": codes} if codes else {}), at)
    for entity, count in output.pii.items():
        span.add_event("llm.pii", {"llm.pii.entity": entity, "llm.pii.count": count}, at)


class _Ids(IdGenerator):
    """Ids that were chosen before the span is made; one thread makes spans."""

    trace = span = 1

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span


def _number(text: str, size: int) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()) or 1


def _nanoseconds(ms: float) -> int:
    return max(0, round(ms * 1e6)) if math.isfinite(ms) else 0
