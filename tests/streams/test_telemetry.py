"""Metrics, health and logs: what is counted, and that no content is among it."""

import asyncio
import json
import logging
import time

import aiohttp
import pytest

from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output
from streams.health import serve
from streams.open_stream import DeadLetter, Publish
from streams.settings import ConfigError
from streams.telemetry import JsonLines, Kinds, Progress, page
from tests.servers.kafka_cluster import free_ports
from tests.streams.flow import reads


class Watched:
    group = "hermes.segment"

    def figures(self) -> dict[str, float]:
        return {"messaging_client_consumed_messages_total": 7, "llm_streams_open": 2}


def kinds() -> Kinds:
    failure = Failure(stream_id="secret-stream", code=FailureCode.NO_FORMAT, stage=Stage.SEGMENT, found="secret text")
    output = Output(stream_id="secret-stream", response="secret text", failures=(failure,), pii={"PHONE": 3})
    counted = Kinds()
    counted.saw(
        [Publish("llm.outputs", "secret-stream", output, 0), DeadLetter(reads(b"x")[0], FailureCode.UNDECODABLE, "m")]
    )
    return counted


def test_page_counts_by_kind_and_holds_no_content() -> None:
    text = page([Watched()], kinds()).decode()
    assert 'messaging_client_consumed_messages_total{group="hermes.segment"} 7.0' in text
    assert 'llm_streams_open{group="hermes.segment"} 2.0' in text
    assert 'llm_failures_total{code="no_format"} 1.0' in text
    assert 'llm_pii_masked_total{entity="PHONE"} 3.0' in text
    assert 'llm_dlq_messages_total{code="undecodable"} 1.0' in text
    assert "secret" not in text


def test_endpoints_answer_and_readiness_says_what_is_missing() -> None:
    (port,) = free_ports(1)
    lacks = ["no partitions yet"]

    async def flow():
        runner = await serve(f"127.0.0.1:{port}", [Watched()], kinds(), lambda: lacks[0] if lacks else None)
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            async with session.get("/readyz") as answer:
                first = answer.status, await answer.text()
            lacks.clear()
            async with session.get("/readyz") as answer:
                second = answer.status
            async with session.get("/healthz") as answer:
                health = answer.status
            async with session.get("/metrics") as answer:
                metrics = await answer.text()
        with pytest.raises(ConfigError, match="in use"):
            await serve(f"127.0.0.1:{port}", [], kinds(), lambda: None)
        await runner.cleanup()
        return first, second, health, metrics

    first, second, health, metrics = asyncio.run(flow())
    assert (first, second, health) == ((503, "no partitions yet\n"), 200, 200)
    assert "llm_streams_open" in metrics


def test_standstill_is_lag_without_progress() -> None:
    progress = Progress(s_max=0.05)
    assert not progress.is_stuck(1, 5)
    time.sleep(0.1)
    assert progress.is_stuck(1, 5)
    assert not progress.is_stuck(2, 5)
    time.sleep(0.1)
    assert not progress.is_stuck(2, 0)


def test_log_line_is_json_with_its_fields() -> None:
    record = logging.makeLogRecord({"name": "a", "levelname": "ERROR", "msg": "broken %d", "args": (3,), "group": "g"})
    assert json.loads(JsonLines().format(record)) | {"ts": 0} == {
        "ts": 0, "level": "error", "logger": "a", "message": "broken 3", "group": "g",
    }  # fmt: skip
