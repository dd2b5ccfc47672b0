"""The one loop: poll → decode → process → produce → commit, for one chain of stages.

Nothing is committed before what follows from it is acknowledged. What is committed for a partition is the offset of its
oldest stream still open, with the names of streams that ended above it (streams/partition.py, streams/progress.py).

One way back from every fault: forget the state of the partitions concerned and read them again from the committed
offset. So it is after a rebalance, when the broker does not acknowledge, and when a processor raises; a stream that
makes one raise twice is given up, with a dead letter. While a server is away the worker waits in place, longer each
time, up to a bound, and then ends with ServerAwayError.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import (
    AuthenticationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
)

from streams.delivery import AtLeastOnce, Delivery, ExactlyOnce
from streams.emitted import Ends
from streams.held import Held
from streams.kafka_clients import Clients, opened
from streams.open_stream import Poisoned, Record
from streams.outbox import Outbox
from streams.partition import Partition
from streams.pulse import Pulse, SessionLostError
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.stage import Chain
from streams.telemetry import Kinds, Progress
from streams.topics import Topology
from streams.tracing import Spans

COMMIT_S = 0.5
"""Time between commits: what a crash makes read again."""
POLL_MS = 100
"""Longest wait for records: how soon a stop is seen."""
SWEEP_S = 1.0
"""Time between looks for idle streams."""
WATCH_S = 10.0
"""Time between looks at the lag."""
REFUSALS = (AuthenticationFailedError, GroupAuthorizationFailedError, TopicAuthorizationFailedError)
"""What no waiting mends."""
BACK_OFF_S = 0.2
BACK_OFF_S_MAX = 10.0


@dataclass(slots=True)
class Counts:
    """What a worker has done since its start."""

    records: int = 0
    published: int = 0
    dead_letters: int = 0
    commits: int = 0
    crashes: int = 0
    resets: int = 0
    rebalances: int = 0
    open_streams: int = 0
    lag: int = 0


T = TypeVar("T")


class Worker:
    """One member of a consumer group that runs one chain."""

    def __init__(
        self, settings: Settings, topology: Topology, chain: Chain, now: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._topology = topology
        self.chain = chain
        self._now = now
        self._poisoned = Poisoned()
        self.group = chain.group
        self.counts = Counts()
        self.kinds = Kinds()
        self.spans: Spans | None = None
        self.is_ready = asyncio.Event()
        """Set once partitions have been assigned."""

    def figures(self) -> dict[str, float]:
        """Figures for Prometheus."""
        counts = self.counts
        return {
            "messaging_client_consumed_messages_total": counts.records,
            "llm_streams_open": counts.open_streams,
            "llm_processor_lag": counts.lag,
            "llm_processor_crashes_total": counts.crashes,
            "llm_processor_resets_total": counts.resets,
            "llm_processor_commits_total": counts.commits,
            "llm_processor_rebalances_total": counts.rebalances,
        }

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; raises ServerAwayError or ConfigError."""
        away = Away(f"Kafka at {self._settings.kafka_bootstrap}", self._settings.server_away_s_max)
        while not stop.is_set():
            try:
                await self._run_clients(stop, away)
            except REFUSALS as error:
                raise ConfigError(f"{self.chain.group}: Kafka refuses: {error!r}") from error
            except (KafkaError, SessionLostError) as error:
                self.counts.resets += 1
                await away.wait(error, stop)

    async def _run_clients(self, stop: asyncio.Event, away: "Away") -> None:
        async with opened(self._settings, self.chain) as clients:
            topics = {*self.chain.reads, *self._out_topics()}
            for name in sorted(topics - set(await clients.admin.list_topics())):
                raise ConfigError(f"topic {name} does not exist: run `hermes-streams topics apply`")
            counts = await clients.partitions(topics)
            held = Held(self.chain, clients, self._delivery(clients, counts), self._poisoned, self._now)
            clients.consumer.subscribe(self.chain.reads, listener=_Rebalance(held, self._assigned))
            try:
                pulse = Pulse(self._settings.session_timeout_ms / 1000, held.delivery.cut_off)
                looping = self._loop(clients.consumer, held, Turn(stop, away, pulse))
                await together(looping, self._watch(held, stop), pulse.beat(stop))
            finally:
                await held.delivery.close()

    async def _watch(self, held: Held, stop: asyncio.Event) -> None:
        """Know the lag, and end the worker when records wait and none is taken: a supervisor starts it anew."""
        progress = Progress()
        while not stop.is_set():
            await pause(stop, WATCH_S)
            with suppress(KafkaError):  # the loop waits for the broker in its own way
                self.counts.lag = await held.lag()
            if progress.is_stuck(self.counts.records, self.counts.lag):
                raise ServerAwayError(f"{self.group}: {self.counts.lag} records wait and none was taken for a minute")

    def _delivery(self, clients: Clients, counts: Mapping[str, int]) -> Delivery:
        topic = self.chain.writes[-1].get("output/1")
        ends = Ends(topic, counts[topic] if topic else 1)
        outbox = partial(Outbox, partitions=counts, topology=self._topology, group=self.chain.group)
        kind = ExactlyOnce if self.chain.is_transactional else AtLeastOnce
        return kind(clients, outbox, ends, self._settings)

    def _assigned(self) -> None:
        self.counts.rebalances += 1
        self.is_ready.set()

    def _out_topics(self) -> set[str]:
        return {self._topology.dead_letters(), *(topic for writes in self.chain.writes for topic in writes.values())}

    async def _loop(self, consumer: AIOKafkaConsumer, held: Held, turn: "Turn") -> None:
        committed = swept = self._now()
        while not turn.stop.is_set():
            epoch = held.epoch
            batch = await consumer.getmany(timeout_ms=POLL_MS, max_records=self._settings.batch_records_max)
            async with held.lock:
                held.check()
                if epoch == held.epoch:
                    # In a thread, so that heartbeats go on while a long stream is being cleaned.
                    await asyncio.to_thread(self._process, batch, held)
                else:  # partitions came or went while the records did: they may be from before that
                    await held.fetch_again(batch)
                if self._now() - swept > SWEEP_S:
                    swept = self._now()
                    await asyncio.to_thread(self._sweep, held)
                held.go_back()
                turn.pulse.check()
                is_due = await held.delivery.send()
                if is_due or self._now() - committed > COMMIT_S:
                    committed = self._now()
                    self.counts.commits += await held.commit()
                    turn.away.is_over()
        async with held.lock:
            self.counts.commits += await held.commit()

    def _process(self, batch: Mapping[TopicPartition, Sequence[Record]], held: Held) -> None:
        for place, records in batch.items():
            if place in held.partitions:
                held.see(place)
                self._work(held, place, Partition.take, records)
                self.counts.records += len(records)

    def _sweep(self, held: Held) -> None:
        """Cut streams that are idle for too long in partitions read to their end, and those above the limit."""
        self.counts.open_streams = sum(map(len, held.partitions.values()))
        surplus = self.counts.open_streams - self._settings.streams_open_max
        for place, partition in list(held.partitions.items()):
            if held.is_read(place):
                self._work(held, place, Partition.cut_idle, self._settings.stream_idle_s_max)
            if (cut := min(surplus, len(partition))) > 0:
                self._work(held, place, Partition.cut_oldest, cut)
                surplus -= cut

    def _work(self, held: Held, place: TopicPartition, work: Callable[[Partition, T], None], given: T) -> None:
        partition = held.partitions[place]
        try:
            work(partition, given)
        except Exception as error:  # noqa: BLE001 - the only one: a processor's bug must not stop the other streams
            self.counts.crashes += 1
            held.read_again(place, error)
            return
        self.counts.published += len(partition.out)
        self.kinds.saw(partition.out)
        if self.spans:
            self.spans.saw(partition.out)
        held.post(place)


class _Rebalance(ConsumerRebalanceListener):  # type: ignore[misc]  # the client's class is untyped
    """Partitions come and go between two turns of the loop, never in one."""

    def __init__(self, held: Held, assigned: Callable[[], None]) -> None:
        self._held = held
        self._assigned = assigned

    async def on_partitions_revoked(self, _: object) -> None:
        async with self._held.lock:
            await self._held.park()

    async def on_partitions_assigned(self, assigned: Sequence[TopicPartition]) -> None:
        async with self._held.lock:
            await self._held.restore(sorted(assigned))
        self._assigned()


@dataclass(frozen=True, slots=True)
class Turn:
    """What ends or holds up the loop."""

    stop: asyncio.Event
    away: "Away"
    pulse: Pulse


class Away:
    """How long a server has been away, and the wait until the next try."""

    def __init__(self, server: str, s_max: float) -> None:
        self._server = server
        self._s_max = s_max
        self._since: float | None = None
        self._delay_s = BACK_OFF_S

    def is_over(self) -> None:
        """It answers again."""
        self._since, self._delay_s = None, BACK_OFF_S

    async def wait(self, error: Exception, stop: asyncio.Event) -> None:
        """Wait, twice as long as the last time; raises ServerAwayError when the bound is reached."""
        self._since = self._since or time.monotonic()
        if time.monotonic() - self._since > self._s_max:
            raise ServerAwayError(f"{self._server} has been away for {self._s_max:g} s: {error!r}") from error
        await pause(stop, self._delay_s)
        self._delay_s = min(self._delay_s * 2, BACK_OFF_S_MAX)


async def together(*works: Coroutine[object, object, None]) -> None:
    """Run them side by side; the first that raises ends the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def pause(stop: asyncio.Event, wait_s: float) -> None:
    """Wait, or until `stop` is set."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), wait_s)
