"""The loop on a broker: everything once, whoever dies; bad records end as dead letters."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiokafka import AIOKafkaProducer

from schemas.token import Token
from schemas.wire import encode
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.topics import load_topology
from streams.worker import Worker
from tests.streams.flow import chain_of, consumed, interleaved, outputs, prepared, produce, produce_tokens, stream

pytestmark = pytest.mark.engines


@asynccontextmanager
async def working(settings, topology, chain):
    worker, stop = Worker(settings, topology, chain), asyncio.Event()
    task = asyncio.create_task(worker.run(stop))
    try:
        yield worker
    finally:
        stop.set()
        await task


def many(count: int, length: int) -> list[Token]:
    return interleaved(*(stream(f"s{i}", *(f"{i}.{j} " for j in range(length))) for i in range(count)))


def test_each_stream_has_one_output_and_bad_records_one_dead_letter_each(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "once.")
        async with working(settings, topology, chain_of("once.")) as worker:
            await produce_tokens(settings, many(50, 20))
            await produce(settings, "once.llm.tokens", [("x", b"\xff"), ("y", b'{"seq":1}')])
            found = await consumed(settings, "llm.outputs", 50)
            letters = await consumed(settings, "llm.dead-letters", 2)
        return found, letters, worker.counts

    found, letters, counts = asyncio.run(flow())
    assert {o["stream_id"]: o["response"] for o in outputs(found)} == {
        f"s{i}": "".join(f"{i}.{j} " for j in range(20)) for i in range(50)
    }
    assert len(found) == 50
    assert sorted(record.value for record in letters) == [b'{"seq":1}', b"\xff"]
    headers = dict(letters[0].headers)
    assert headers["dlq.error.class"] == b"undecodable"
    assert headers["dlq.origin.topic"] == b"once.llm.tokens"
    assert counts.crashes == counts.resets == 0


def test_record_that_raises_is_given_up_and_the_others_go_on(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "boom.")
        await produce_tokens(
            settings, interleaved(stream("bad", "x", "BOOM", "y"), *(stream(f"s{i}", *"abc") for i in range(20)))
        )
        async with working(settings, topology, chain_of("boom.")) as worker:
            found = await consumed(settings, "llm.outputs", 21)
            letters = await consumed(settings, "llm.dead-letters", 1)
        return found, letters, worker.counts

    found, letters, counts = asyncio.run(flow())
    by_stream = {output["stream_id"]: output for output in outputs(found)}
    assert len(by_stream) == len(found) == 21
    assert by_stream["bad"]["failures"][0]["code"] == "crashed"
    assert {by_stream[f"s{i}"]["response"] for i in range(20)} == {"abc"}
    assert dict(letters[0].headers)["dlq.error.message"].startswith(b"RuntimeError at flow.py:")
    assert counts.crashes == 2


def test_second_worker_takes_over_half_and_nothing_is_lost_or_doubled(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "two.")
        chain, tokens = chain_of("two."), many(60, 30)
        half = len(tokens) // 2
        async with working(settings, topology, chain) as first:
            await first.is_ready.wait()
            await produce_tokens(settings, tokens[:half])
            async with working(settings, topology, chain) as second:
                await second.is_ready.wait()
                await produce_tokens(settings, tokens[half:])
                found = await consumed(settings, "llm.outputs", 60)
            again = await consumed(settings, "llm.outputs", 60)
        return found, again, first.counts.records, second.counts.records

    found, again, first, second = asyncio.run(flow())
    assert sorted(o["stream_id"] for o in outputs(found)) == sorted(f"s{i}" for i in range(60))
    assert all(o["response"].endswith(".29 ") and o["response"].count(".") == 30 for o in outputs(found))
    assert len(again) == 60
    assert first > 0
    assert second > 0


def test_stream_that_never_ends_is_cut(running) -> None:
    async def flow():
        settings, topology = await prepared(replace(running.settings, stream_idle_s_max=1.0), "idle.")
        async with working(settings, topology, chain_of("idle.")):
            await produce_tokens(settings, stream("endless", "x", "y")[:1])
            return await consumed(settings, "llm.outputs", 1)

    (output,) = outputs(asyncio.run(flow()))
    assert (output["stream_id"], output["response"]) == ("endless", "x")


def test_record_that_is_too_long_is_cut_down_and_says_so(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "long.")
        async with working(settings, topology, chain_of("long.")):
            await produce_tokens(settings, stream("long", *["x" * 1_000_000] * 12))
            return await consumed(settings, "llm.outputs", 1)

    (output,) = outputs(asyncio.run(flow()))
    assert output["failures"][0]["code"] == "stream_too_long"
    assert output["metadata"]["truncated"]
    assert len(output["response"]) == 1_000_000


def test_trace_of_the_first_record_goes_on_with_this_hop_as_parent(running) -> None:
    trace = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    async def flow():
        settings, topology = await prepared(running.settings, "trace.")
        async with AIOKafkaProducer(bootstrap_servers=settings.kafka_bootstrap) as producer:
            for token in stream("a", "x", "y"):
                await producer.send("trace.llm.tokens", encode(token), key=b"a", headers=[("traceparent", trace)])
        async with working(settings, topology, chain_of("trace.")):
            return await consumed(settings, "llm.outputs", 1)

    (record,) = asyncio.run(flow())
    found = dict(record.headers)["traceparent"].split(b"-")
    assert (found[0], found[1], found[3]) == tuple(trace.split(b"-")[place] for place in (0, 1, 3))
    assert found[2] != trace.split(b"-")[2]
    assert len(found[2]) == 16


def test_topic_that_does_not_exist_is_named(running) -> None:
    settings = replace(running.settings, topic_prefix="none.")
    worker = Worker(settings, load_topology(settings), chain_of("none."))
    with pytest.raises(ConfigError, match=r"none\.llm\.\S+ does not exist: run"):
        asyncio.run(worker.run(asyncio.Event()))


def test_absent_broker_is_waited_for_up_to_a_bound() -> None:
    settings = Settings(kafka_bootstrap="127.0.0.1:1", server_away_s_max=1.0)
    with pytest.raises(ServerAwayError, match=r"127\.0\.0\.1:1 has been away for 1 s"):
        asyncio.run(Worker(settings, load_topology(settings), chain_of()).run(asyncio.Event()))
