"""How many chunks a second one core takes through the whole pipeline, and where the time goes.

    python benchmarks/bench_pipeline.py [--broker embedded|kafka] [--streams 800] [--prose 20] [--faust 20000]

Recorded outputs (examples/raw), each with prose behind it so that a stream has about 450 chunks of 4 characters, as
interleaved tokens in a topic. Each arm is a process of its own that reads all of them; CPU is that process's, so the
broker's is apart. Rates are chunks for a second of that CPU time: on a machine that others use too, time by the clock says
little. The last arms host the same processors, or none, in other ways.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import orjson  # noqa: E402
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # noqa: E402

from processors.snapshot import Snapshot  # noqa: E402
from schemas.wire import decode_token, encode, plain_tokens  # noqa: E402
from streams.embedded import engines  # noqa: E402
from streams.running import warm  # noqa: E402
from streams.settings import Settings, environment_of, load  # noqa: E402
from streams.stage import Line, chains  # noqa: E402
from streams.tokens_to_outputs import hot_path  # noqa: E402
from streams.topics import apply, load_topology  # noqa: E402
from streams.worker import Worker  # noqa: E402

STAGES = ("segment", "reason", "tool", "clean")
PROSE = "The harbour lay still under the first light, and nobody had yet come to open the gates. "
OPEN = 200
CHUNK = 4


def texts(count: int, prose: int) -> Iterator[str]:
    raw = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples" / "raw").iterdir())]
    for place in range(count):
        yield raw[place % len(raw)] + PROSE * prose


def values_of(stream_id: str, text: str) -> list[bytes]:
    pieces = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)] or [""]
    records = [
        {"schema": "token/1", "stream_id": stream_id, "seq": seq, "text": piece} for seq, piece in enumerate(pieces)
    ]
    records[-1]["done"] = True
    return [orjson.dumps(record) for record in records]


def interleaved(streams: Iterable[tuple[str, list[bytes]]], at_once: int = OPEN) -> Iterator[tuple[str, bytes]]:
    """At any time so many streams are open; each sends the next of its records in turn."""
    waiting = iter(streams)
    active = [(stream_id, iter(values)) for (stream_id, values), _ in zip(waiting, range(at_once), strict=False)]
    while active:
        going = []
        for stream_id, values in active:
            value = next(values, None)
            if value is not None:
                yield stream_id, value
                going.append((stream_id, values))
            elif fresh := next(waiting, None):
                going.append((fresh[0], iter(fresh[1])))
        active = going


async def produce(settings: Settings, topic: str, records: list[tuple[str, bytes]]) -> None:
    """Records in their order, partitioned by stream, in whole batches."""
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka_bootstrap, max_batch_size=500_000) as producer:
        count = len(await producer.partitions_for(topic))
        batches, sent = {}, []
        for stream_id, value in records:
            part = zlib.crc32(stream_id.encode()) % count
            batch = batches.setdefault(part, producer.create_batch())
            if batch.append(key=stream_id.encode(), value=value, timestamp=None) is None:
                sent.append(await producer.send_batch(batch, topic, partition=part))
                batches[part] = producer.create_batch()
                batches[part].append(key=stream_id.encode(), value=value, timestamp=None)
        sent += [await producer.send_batch(batch, topic, partition=part) for part, batch in batches.items()]
        await asyncio.gather(*sent)


# ---------------------------------------------------------------- arms, each in a process of its own


async def arm_bare(settings: Settings, total: int, *, decode: bool) -> float:
    consumer = AIOKafkaConsumer(
        "llm.tokens", bootstrap_servers=settings.kafka_bootstrap, auto_offset_reset="earliest",
        max_partition_fetch_bytes=4_000_000,
    )  # fmt: skip
    async with consumer:
        seen, start = 0, time.process_time()
        while seen < total:
            for records in (await consumer.getmany(timeout_ms=200, max_records=5_000)).values():
                seen += len(records)
                if decode:
                    for record in records:
                        decode_token(record.value)
        return time.process_time() - start


async def arm_worker(settings: Settings, total: int, stages: tuple[str, ...]) -> float:
    snapshot = Snapshot()
    topology = load_topology(settings)
    (chain,) = chains(
        topology, hot_path(lambda: snapshot), stages, group_prefix=f"bench{os.getpid()}", publish_between=False
    )
    worker, stop = Worker(settings, topology, chain), asyncio.Event()
    warm([worker])
    task = asyncio.create_task(worker.run(stop))
    await worker.is_ready.wait()
    start = time.process_time()
    while worker.counts.records < total:
        await asyncio.sleep(0.02)
    stop.set()
    await task
    return time.process_time() - start


async def arm_faust(settings: Settings, total: int, *, passthrough: bool) -> float:
    import faust

    snapshot, topology = Snapshot(), load_topology(settings)
    builds = hot_path(lambda: snapshot)
    writes = ({}, {}, {}, topology.stages["clean"].writes)
    app = faust.App(
        f"bench{os.getpid()}", broker=f"kafka://{settings.kafka_bootstrap}", store="memory://", web_enabled=False,
        topic_disable_leader=True, consumer_auto_offset_reset="earliest", broker_session_timeout=3.0,
        broker_heartbeat_interval=0.6, loop=asyncio.get_running_loop(), datadir="/nonexistent",
    )  # fmt: skip
    tokens = app.topic("llm.tokens", key_serializer="raw", value_serializer="raw", value_type=bytes)
    out = {name: app.topic(name, key_serializer="raw", value_serializer="raw") for name in set(writes[-1].values())}
    lines: dict[str, Line] = {}
    seen, start = 0, 0.0

    async def through(stream) -> None:
        nonlocal seen, start
        async for data in stream:
            start = start or time.process_time()
            seen += 1
            if passthrough:
                await out["llm.outputs"].send(key=b"k", value=data)
                continue
            token = decode_token(data)
            line = lines.get(token.stream_id) or lines.setdefault(
                token.stream_id, Line(tuple(b.build() for b in builds), writes)
            )
            for topic, event in line.feed(token):
                await out[topic].send(key=token.stream_id.encode(), value=encode(event))

    app.agent(tokens)(through)
    await app.start()
    while seen < total:
        await asyncio.sleep(0.02)
    used = time.process_time() - start
    await app.stop()
    return used


def arm_quix(settings: Settings, total: int) -> float:
    """Passthrough on quixstreams; raises ImportError where it is not installed."""
    from quixstreams import Application

    app = Application(
        broker_address=settings.kafka_bootstrap,
        consumer_group=f"bench{os.getpid()}",
        auto_offset_reset="earliest",
        loglevel="ERROR",
    )
    frame = app.dataframe(app.topic("llm.tokens", value_deserializer="bytes")).to_topic(
        app.topic("llm.outputs", value_serializer="bytes")
    )
    assert frame is not None
    start = time.process_time()
    app.run(count=total)
    return time.process_time() - start


async def arm_latency(settings: Settings, rate: int, seconds: float) -> dict[str, float]:
    """Paced producer and a reader of outputs around a worker in another process: last token → output received."""
    pieces = [
        values_of(f"r{rate}-{place}", text) for place, text in enumerate(texts(int(rate * seconds / 400) + OPEN, 18))
    ]
    streams = ((f"r{rate}-{place}", values) for place, values in enumerate(pieces))
    records = list(islice(interleaved(streams, max(5, rate // 200)), int(rate * seconds)))
    ends, taken = {}, {}

    async def read() -> None:
        consumer = AIOKafkaConsumer(
            settings.topic_prefix + "llm.outputs", bootstrap_servers=settings.kafka_bootstrap, fetch_max_wait_ms=5
        )
        async with consumer:
            async for record in consumer:
                taken.setdefault(record.key.decode(), time.perf_counter())

    reading = asyncio.create_task(read())
    await asyncio.sleep(1)
    topic, sent = settings.topic_prefix + "llm.tokens", []
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka_bootstrap, max_batch_size=500_000) as producer:
        count = len(await producer.partitions_for(topic))
        start, tick = time.perf_counter(), rate // 100
        for at in range(0, len(records), tick):
            batches = {}
            for stream_id, value in records[at : at + tick]:
                part = zlib.crc32(stream_id.encode()) % count
                batch = batches.get(part) or batches.setdefault(part, producer.create_batch())
                batch.append(key=stream_id.encode(), value=value, timestamp=None)
                if value.endswith(b'"done":true}'):
                    ends[stream_id] = time.perf_counter()
            for part, batch in batches.items():
                sent.append(await producer.send_batch(batch, topic, partition=part))
            await asyncio.sleep(max(0.0, start + (at + tick) / rate - time.perf_counter()))
        took = time.perf_counter() - start
        await asyncio.sleep(2)
    reading.cancel()
    found = sorted((taken[stream_id] - end) * 1000 for stream_id, end in ends.items() if stream_id in taken)
    return {
        "rate": len(records) / took, "streams": len(found), "missing": len(ends) - len(found),
        "p50_ms": found[len(found) // 2], "p99_ms": found[int(len(found) * 0.99)],
    }  # fmt: skip


# ---------------------------------------------------------------- the run


def in_process(arm: str, settings: Settings, total: int, **more: str) -> dict:
    command = [sys.executable, __file__, "--arm", arm, "--total", str(total)]
    done = subprocess.run(
        command,
        env={**os.environ, **environment_of(settings), **more},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else f"exit {done.returncode}"}
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_arm(arm: str, settings: Settings, total: int) -> dict:
    if arm.startswith("stages:"):
        used = asyncio.run(arm_worker(settings, total, tuple(arm.partition(":")[2].split(","))))
    elif arm == "quix":
        used = arm_quix(settings, total)
    else:
        arms = {
            "bare": lambda: arm_bare(settings, total, decode=False),
            "decode": lambda: arm_bare(settings, total, decode=True),
            "faust": lambda: arm_faust(settings, total, passthrough=False),
            "faust-pass": lambda: arm_faust(settings, total, passthrough=True),
        }
        used = asyncio.run(arms[arm]())
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return {"cpu_s": used, "rss_mb": int(peak.split()[1]) / 1024}


def in_memory(records: list[tuple[str, bytes]]) -> list[tuple[str, float]]:
    """CPU µs a chunk of each step, one after the other over the same events."""
    snapshot = Snapshot()
    builds = hot_path(lambda: snapshot)
    for build in builds:
        build.build()
    rows, count = [], len(records)
    start = time.process_time()
    for at in range(0, count, 5_000):
        plain_tokens([value for _, value in records[at : at + 5_000]])
    rows.append(("decode", time.process_time() - start))
    events = [(stream_id, decode_token(value)) for stream_id, value in records]
    for build in builds:
        made, after = {}, []
        start = time.process_time()
        for stream_id, event in events:
            processor = made.get(stream_id) or made.setdefault(stream_id, build.build())
            after += [(stream_id, found) for found in processor.feed(event)]
        rows.append(
            (
                f"{build.name}, one chunk at a time" if build.name == "segment" else build.name,
                time.process_time() - start,
            )
        )
        events = after
    start = time.process_time()
    for _, event in events:
        encode(event)
    rows.append(("encode", time.process_time() - start))
    return [(name, used / count * 1e6) for name, used in rows]


def run(options: argparse.Namespace) -> None:
    records = list(
        interleaved((f"s{n}", values_of(f"s{n}", text)) for n, text in enumerate(texts(options.streams, options.prose)))
    )
    total = len(records)
    print(
        f"{total} chunks of {CHUNK} characters in {options.streams} streams, {OPEN} open at a time; {options.broker} broker;"
    )
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}\n")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        started = stack.enter_context(engines(Settings(data_dir=str(folder / "data"))))
        settings = started.settings
        if options.broker == "kafka":
            from tests.servers.kafka_cluster import cluster

            settings = replace(settings, kafka_bootstrap=stack.enter_context(cluster(folder / "kafka")).bootstrap)
        asyncio.run(apply(settings, load_topology(settings)))
        asyncio.run(produce(settings, "llm.tokens", records))
        print("| arm | CPU µs a chunk | chunks a CPU second | most memory MB |\n|---|--:|--:|--:|")
        few = min(total, options.faust)
        arms = [
            ("aiokafka loop that drops all", "bare", total), ("the same with a validated decode", "decode", total),
            ("four stages, chained", f"stages:{','.join(STAGES)}", total),
            ("segment alone", "stages:segment", total),
            ("Faust agents with the same processors", "faust", few), ("Faust, records passed through", "faust-pass", few),
            ("quixstreams, records passed through", "quix", few),
        ]  # fmt: skip
        per_chunk = {}
        for title, arm, count in arms:
            result = in_process(arm, settings, count)
            if "error" in result:
                print(f"| {title} | – | {result['error'][:60]} | |")
                continue
            per_chunk[arm] = result["cpu_s"] / count * 1e6
            print(f"| {title} | {per_chunk[arm]:.2f} | {1e6 / per_chunk[arm]:,.0f} | {result['rss_mb']:.0f} |")
        chained = per_chunk.get(f"stages:{','.join(STAGES)}")
        if chained and "faust" in per_chunk:
            print(f"\nchained against the same processors in Faust agents: {per_chunk['faust'] / chained:.1f} times")
        print("\n| step, in memory | CPU µs a chunk |\n|---|--:|")
        for name, used in in_memory(records[: total // 4]):
            print(f"| {name} | {used:.2f} |")
        latency(settings, options)


def latency(settings: Settings, options: argparse.Namespace) -> None:
    own = replace(settings, topic_prefix="latency.", group_prefix="latency")
    asyncio.run(apply(own, load_topology(own)))
    command = [sys.executable, "-m", "streams", "run", *STAGES]
    worker = subprocess.Popen(command, env={**os.environ, **environment_of(own)}, cwd=ROOT)
    try:
        time.sleep(8)
        asyncio.run(arm_latency(own, 1_000, 4))  # a first run that nobody counts
        for rate in options.rates:
            found = asyncio.run(arm_latency(own, rate, options.seconds))
            print(
                f"\nlast chunk → output received, {found['rate']:,.0f} chunks/s for {options.seconds:g} s:"
                f" p50 {found['p50_ms']:.1f} ms, p99 {found['p99_ms']:.1f} ms, {found['streams']} streams, {found['missing']} missing"
            )
    finally:
        worker.terminate()
        worker.wait(20)


if __name__ == "__main__":
    random.seed(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", choices=("embedded", "kafka"), default="embedded")
    parser.add_argument("--streams", type=int, default=800)
    parser.add_argument("--prose", type=int, default=18)
    parser.add_argument("--faust", type=int, default=20_000)
    parser.add_argument("--rates", type=int, nargs="*", default=[5_000, 20_000])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--arm")
    parser.add_argument("--total", type=int)
    given = parser.parse_args()
    if given.arm:
        print(json.dumps(run_arm(given.arm, load(), given.total)))
    else:
        run(given)
