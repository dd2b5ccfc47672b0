"""Streams produced while workers, sink, registry and broker are killed, paused and started again; then all is counted.

    python -m tests.end_to_end.chaos --streams 5000 --faults 200 [--engines servers] [--brokers 3] [--exactly-once]

Faults come one after the other at random, from a seed: SIGKILL of a worker, the sink or the learner and a new one in its
place, SIGTERM (a rolling restart), SIGSTOP for longer than the session timeout and SIGCONT (a member that the group gave
up and that comes back), a further worker that joins and leaves (the group forms anew twice), SIGKILL and restart of
redis-server and of a broker (real servers only).
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from processors.snapshot import Snapshot
from schemas.trajectory import Step
from schemas.wire import encode
from streams.embedded import engines
from streams.lag import lags
from streams.open_stream import Poisoned
from streams.partition import Partition
from streams.settings import Settings
from streams.stage import chains
from streams.store import Reader
from streams.tokens_to_outputs import hot_path
from streams.topics import apply, load_topology
from tests.end_to_end.faults import CHAIN, Faults, Processes
from tests.end_to_end.test_workers_killed import TEXTS, expected, tokens_of, without_volatile
from tests.servers.kafka_cluster import Broker, cluster
from tests.servers.redis_server import RedisServer
from tests.streams.flow import consumed, interleaved, outputs, reads

OPEN = 100
EXAMPLES_MAX = 8
POISON = (b"\xff\xfe", b'{"seq": 1}', b'{"schema":"token/9","stream_id":"x","seq":0,"text":""}')


@dataclass
class Plan:
    """Size of a run."""

    streams: int
    faults: int
    pause_s: float = 1.0
    workers: int = 2
    seed: int = 1
    has_learner: bool = False


@dataclass
class Report:
    """What came out."""

    faults: Counter = field(default_factory=Counter)
    ended_by_themselves: int = 0
    """Workers that gave up, with a code that is not 0, and were started again."""
    streams: int = 0
    lost: int = 0
    changed: int = 0
    resent: int = 0
    """Times the producer had to send deltas again: those that came before them on the topic may then lack some."""
    repeated: int = 0
    """Outputs that stand on their topic more than once, with the same id; readers collapse them."""
    examples: list[str] = field(default_factory=list)
    """Streams that came out otherwise than from the batch command: their fields that differ and their failures."""
    reordered: int = 0
    """Streams whose steps do not stand on their topic in their order, repeats left out."""
    letters: int = 0
    """Dead letters, each record once."""
    rows: int = 0
    """Streams that the tables have."""
    steps: int = 0
    """Steps on their topic, each once."""
    step_rows: int = 0
    seconds: float = 0.0


async def run(settings: Settings, plan: Plan, folder: Path, servers: dict[str, Callable[[], None]]) -> Report:
    """One run; `servers` has a kill-and-restart for each server that may be killed."""
    report, started = Report(streams=plan.streams), time.monotonic()
    processes = Processes(settings, folder)
    for number in range(plan.workers):
        processes.start(f"chain{number}", *CHAIN)
    processes.start("sink", "sink")
    if plan.has_learner:
        processes.start("learner", "learn")
    faults = Faults(processes, servers, plan.seed)
    try:
        producing = asyncio.create_task(produce(settings, plan, report))
        await faults.inject(plan.faults, plan.pause_s, producing)
        await producing
        found = await consumed(settings, "llm.outputs", plan.streams, wait_s=180, extra_s=5)
        letters = await consumed(settings, "llm.dead-letters", len(POISON), extra_s=1)
        steps = await consumed(settings, "llm.steps", 1, extra_s=2)
        await stored(settings)
    finally:
        processes.end_all()
    report.faults, report.ended_by_themselves = faults.counts, faults.ended_by_themselves
    count(found, report)
    count_steps(steps, report)
    report.letters = len({(record.value, dict(record.headers)["dlq.origin.offset"]) for record in letters})
    report.rows, report.step_rows = rows(settings)
    report.seconds = round(time.monotonic() - started, 1)
    return report


async def stored(settings: Settings) -> None:
    """Wait until the sink has stored what there is, for a minute at most."""
    topology = load_topology(settings)
    for _ in range(60):
        group = f"{settings.group_prefix}.{topology.stages['sink'].group}"
        if not sum(row["lag"] for row in await lags(settings, topology) if row["group"] == group):
            return
        await asyncio.sleep(1)


async def produce(settings: Settings, plan: Plan, report: Report) -> None:
    """All streams, some open at a time, for as long as the faults take; poison in between."""
    span_s = plan.faults * plan.pause_s
    records = [(token.stream_id.encode(), encode(token)) for token in tokens(plan)]
    for place, poison in enumerate(POISON):
        records.insert(len(records) * (place + 1) // (len(POISON) + 1), (b"poison", poison))
    size = max(1, len(records) // max(1, int(span_s * 5)))
    topic = settings.topic_prefix + "llm.tokens"
    producer = None
    for at in range(0, len(records), size):
        sent: list = []
        while not sent:
            try:
                if producer is None:
                    idempotent = bool(os.environ.get("HERMES_CHAOS_SERVERS"))
                    producer = AIOKafkaProducer(
                        bootstrap_servers=settings.kafka_bootstrap, enable_idempotence=idempotent, linger_ms=2
                    )
                    await producer.start()
                sent = [await producer.send(topic, value, key=key) for key, value in records[at : at + size]]
                await asyncio.gather(*sent)
            except KafkaError:  # the broker was killed: deltas that are sent again are dropped by their seq
                sent = []
                report.resent += 1
                with contextlib.suppress(KafkaError):
                    await producer.stop()
                producer = None
                await asyncio.sleep(0.3)
        await asyncio.sleep(0.2)
    await producer.stop()


def tokens(plan: Plan) -> Iterator:
    for start in range(0, plan.streams, OPEN):
        yield from interleaved(*(tokens_of(f"s{i}", i) for i in range(start, min(start + OPEN, plan.streams))))


def count(found: list, report: Report) -> None:
    """Outputs against what the batch command gives for the same text."""
    by_stream = {output["stream_id"]: without_volatile(output) for output in outputs(found)}
    wanted = {f"s{i}": i for i in range(report.streams)}
    report.lost = len(wanted.keys() - by_stream.keys())
    for name, i in wanted.items():
        if name in by_stream and by_stream[name] != (right := expected(name, i)):
            report.changed += 1
            fields = sorted(key for key in right if by_stream[name].get(key) != right[key])
            codes = [failure["code"] for failure in by_stream[name]["failures"]]
            if len(report.examples) < EXAMPLES_MAX:
                report.examples.append(f"{name}: {', '.join(fields)} {codes}")
    report.repeated = len(found) - len(by_stream)


def count_steps(records: list, report: Report) -> None:
    """Steps of each stream in the order in which they first came, against that of a worker that nothing happens to."""
    orders: dict[str, dict[tuple[int, int], None]] = {}
    for step in outputs(records):
        orders.setdefault(step["stream_id"], {})[step["order"], step["part"]] = None
    right = [undisturbed(i) for i in range(len(TEXTS))]
    report.steps = sum(map(len, orders.values()))
    for name, found in orders.items():
        if list(found) != right[int(name[1:]) % len(TEXTS)]:
            report.reordered += 1
            report.examples.append(f"{name}: steps {list(found)}")
    report.examples = report.examples[:EXAMPLES_MAX]


def undisturbed(text: int) -> list[tuple[int, int]]:
    """Order and part of the steps that one worker gives for a text, as it gives them."""
    topology, snapshot = load_topology(Settings()), Snapshot()
    (chain,) = chains(topology, hot_path(lambda: snapshot), CHAIN, group_prefix="", publish_between=False)
    part = Partition(chain, 0, "", Poisoned(), time.time)
    part.take(reads(*tokens_of(f"s{text}", text)))
    return [(item.event.order, item.event.part) for item in part.out if isinstance(getattr(item, "event", None), Step)]


def rows(settings: Settings) -> tuple[int, int]:
    reader = Reader(settings.clickhouse_dsn)
    try:
        streams = reader.query("SELECT count() AS n FROM streams FINAL WHERE rev >= 0").records()[0]["n"]
        return streams, reader.query("SELECT count() AS n FROM steps FINAL").records()[0]["n"]
    finally:
        reader.close()


def restarted(broker: Broker) -> None:
    broker.kill()
    broker.start()
    broker.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=5_000)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", choices=("embedded", "servers"), default="embedded")
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--exactly-once", action="store_true")
    given = parser.parse_args()
    plan = Plan(
        given.streams, given.faults, pause_s=given.pause, workers=given.workers, seed=given.seed, has_learner=True
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        settings, servers = environment(stack, folder, given)
        asyncio.run(apply(settings, load_topology(settings)))
        report = asyncio.run(run(settings, plan, folder, servers))
    said = {**vars(report), "engines": given.engines, "exactly_once": given.exactly_once}
    sys.stdout.write(json.dumps(said, default=dict) + "\n")
    sys.exit(not is_well(report))


def is_well(report: Report) -> bool:
    """Nothing lost, changed, doubled or reordered; the tables have as much as the topics; no dead letter but the poison."""
    faultless = not (report.lost or report.changed or report.repeated or report.reordered)
    is_stored = (report.rows, report.step_rows) == (report.streams, report.steps)
    return faultless and is_stored and report.letters == len(POISON)


def environment(stack: ExitStack, folder: Path, given: argparse.Namespace) -> tuple[Settings, dict]:
    settings = Settings(
        data_dir=str(folder / "data"), session_timeout_ms=3_000, clickhouse_dsn=f"chdb://{folder / 'clickhouse'}"
    )
    servers: dict[str, Callable[[], None]] = {}
    if given.engines == "embedded":
        return replace(stack.enter_context(engines(settings)).settings, clickhouse_dsn=settings.clickhouse_dsn), servers
    os.environ["HERMES_CHAOS_SERVERS"] = "1"
    kafka = stack.enter_context(cluster(folder / "kafka", given.brokers))
    redis = RedisServer(folder)
    stack.callback(redis.kill)
    redis.start()
    source = random.Random(given.seed)
    servers["kill broker"] = lambda: restarted(source.choice(kafka.brokers))
    servers["kill registry"] = redis.restart
    settings = replace(settings, kafka_bootstrap=kafka.bootstrap, redis_url=redis.url)
    if given.exactly_once:
        text = (Path(__file__).parents[2] / "topics.yaml").read_text(encoding="utf-8")
        (folder / "topics.yaml").write_text(
            text.replace("delivery: at_least_once", "delivery: exactly_once"), encoding="utf-8"
        )
        settings = replace(settings, topics_file=str(folder / "topics.yaml"))
    return settings, servers


if __name__ == "__main__":
    main()
