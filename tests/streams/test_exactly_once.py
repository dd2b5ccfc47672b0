"""Exactly-once delivery on Apache Kafka: a reader of committed records sees each output once, whoever dies."""

import asyncio
from dataclasses import replace

import pytest

from streams.settings import ConfigError
from streams.worker import Worker
from tests.streams.flow import chain_of, consumed, interleaved, outputs, prepared, produce_tokens, stream

COUNT, LENGTH = 80, 20


def tokens():
    return interleaved(*(stream(f"s{i}", *(f"{i}.{j} " for j in range(LENGTH))) for i in range(COUNT)))


@pytest.mark.servers
def test_workers_that_are_cut_off_leave_nothing_lost_or_doubled(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "exact.")
        topology = topology.model_copy(update={"delivery": "exactly_once"})
        chain, all_tokens = chain_of("exact.", is_transactional=True), tokens()
        for part in range(4):
            worker = Worker(settings, topology, chain)
            task = asyncio.create_task(worker.run(asyncio.Event()))
            await asyncio.wait_for(worker.is_ready.wait(), 30)
            size = len(all_tokens) // 4
            await produce_tokens(settings, all_tokens[part * size : (part + 1) * size])
            await asyncio.sleep(0.7 if part < 3 else 0)
            if part < 3:
                task.cancel()  # nothing is committed on the way out, as after a kill
                await asyncio.gather(task, return_exceptions=True)
        found = await consumed(settings, "llm.outputs", COUNT, extra_s=2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return found

    found = outputs(asyncio.run(flow()))
    assert len(found) == COUNT
    assert {o["stream_id"]: o["response"] for o in found} == {
        f"s{i}": "".join(f"{i}.{j} " for j in range(LENGTH)) for i in range(COUNT)
    }


@pytest.mark.servers
def test_what_was_not_sent_when_a_record_raised_is_sent_once(running) -> None:
    async def flow():
        settings, topology = await prepared(running.settings, "raise.")
        topology = topology.model_copy(update={"delivery": "exactly_once"})
        early = [token for i in range(20) for token in stream(f"s{i}", *"abc")]
        await produce_tokens(settings, [*early, *stream("bad", "x", "BOOM", "y")])
        stop = asyncio.Event()
        task = asyncio.create_task(Worker(settings, topology, chain_of("raise.", is_transactional=True)).run(stop))
        found = await consumed(settings, "llm.outputs", 21, extra_s=2)
        stop.set()
        await task
        return found

    found = outputs(asyncio.run(flow()))
    assert sorted(output["stream_id"] for output in found) == sorted(["bad", *(f"s{i}" for i in range(20))])


@pytest.mark.engines
def test_broker_without_transactions_is_refused_with_a_reason(tmp_path) -> None:
    from streams.embedded import engines
    from streams.settings import Settings

    async def flow(settings):
        settings, topology = await prepared(settings, "exact.")
        topology = topology.model_copy(update={"delivery": "exactly_once"})
        chain = chain_of("exact.", is_transactional=True)
        await Worker(replace(settings, server_away_s_max=5), topology, chain).run(asyncio.Event())

    with engines(Settings(data_dir=str(tmp_path))) as started, pytest.raises(ConfigError, match="no transactions"):
        asyncio.run(flow(started.settings))
