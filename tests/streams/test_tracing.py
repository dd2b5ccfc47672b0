"""Spans of outputs, as a collector gets them over HTTP."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from schemas.failure import Failure, FailureCode, Stage
from schemas.output import FormatFound, Output, OutputMetadata
from schemas.token import Meta
from schemas.toolcall import CallStatus, Repair, ToolCall
from streams.open_stream import Publish
from streams.settings import Settings
from streams.tracing import Spans

TRACE = "0af7651916cd43dd8448eb211c80319c"
SECRET = "words of the model"


def output(**more: object) -> Output:
    call = ToolCall(
        stream_id="s", id="call_0", name="get_weather", requested_name="get_weather", arguments={"city": SECRET}, raw=SECRET,
        order=0, span=(0, 9), status=CallStatus.REPAIRED, strategy="json", confidence=0.9,
        repairs=(Repair(code="trailing_comma"),),
    )  # fmt: skip
    given = {
        "stream_id": "s", "response": SECRET, "tool_calls": (call,), "pii": {"PHONE": 2}, "ts": 5_000.0,
        "format": FormatFound(id="f", confidence=0.9), "meta": Meta(model="m-1", run_id="r", user=SECRET),
        "metadata": OutputMetadata(duration_ms=1_500.0),
        "extra": {"usage": {"prompt_tokens": 7, "completion_tokens": 9}, "finish_reason": "stop"},
    }  # fmt: skip
    return Output(**(given | more))


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    bodies: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200 if self.path == "/v1/traces" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    server.server_close()


def sent(collector: tuple[str, list[bytes]], *publishes: Publish) -> list:
    endpoint, bodies = collector
    spans = Spans(Settings(otel_endpoint=endpoint))
    spans.saw(publishes)
    spans.close()
    requests = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    return [
        span for request in requests for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans
    ]  # fmt: skip


def test_output_becomes_a_span_under_its_producers(collector) -> None:
    trace = f"00-{TRACE}-b7ad6b7169203331-01".encode()
    (span,) = sent(
        collector, Publish("llm.outputs", "s", output(), 0, trace), Publish("llm.steps", "s", output(), 1, trace)
    )
    assert (span.name, span.trace_id.hex(), span.parent_span_id.hex()) == ("chat m-1", TRACE, "b7ad6b7169203331")
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (3_500_000_000, 5_000_000_000)
    values = {one.key: one.value for one in span.attributes}
    assert values["gen_ai.operation.name"].string_value == "chat"
    assert values["gen_ai.usage.output_tokens"].int_value == 9
    assert values["gen_ai.response.finish_reasons"].array_value.values[0].string_value == "stop"
    assert [event.name for event in span.events] == ["llm.tool_call", "llm.pii"]


def test_span_holds_no_content(collector) -> None:
    failure = Failure(stream_id="s", code=FailureCode.NO_FORMAT, stage=Stage.SEGMENT, found=SECRET)
    (span,) = sent(collector, Publish("llm.outputs", "s", output(failures=(failure,)), 0))
    assert (span.status.code, span.status.message) == (2, "no_format")
    assert not any(SECRET.encode() in body for body in collector[1])


def test_replay_sends_the_same_span(collector) -> None:
    first, second = sent(collector, *[Publish("llm.outputs", "s", output(), 0)] * 2)
    other, *_ = sent(collector, Publish("llm.outputs", "t", output(stream_id="t"), 0))[2:]
    assert (first.trace_id, first.span_id) == (second.trace_id, second.span_id)
    assert first.trace_id == other.trace_id
    assert first.span_id != other.span_id


@pytest.mark.parametrize("ts", [None, float("nan"), -1.0])
def test_times_that_are_none_do_no_harm(collector, ts) -> None:
    assert len(sent(collector, Publish("llm.outputs", "s", output(ts=ts), 0, b"no trace"))) == 1


def test_collector_that_is_away_costs_spans_only() -> None:
    spans = Spans(Settings(otel_endpoint="http://127.0.0.1:1"))
    spans.saw([Publish("llm.outputs", "s", output(), 0)])
    spans.close()
