"""The sink's loop: poll the clean topics → store a batch → commit.

Unlike the loop of the processors there is no state to rebuild: a batch is stored, then its offsets are committed, and a
batch that is stored twice collapses in the tables. While the database is away the same batch is given again, with the
partitions paused by not polling; the group membership lives on, because storing runs in a thread.

Everything read is clean but for results of tools, which applications write: they are cleaned here before they are kept.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from processors.clean import CleanOptions, CleanStage
from schemas.failure import FailureCode
from schemas.toolcall import ToolResult
from schemas.wire import UndecodableError, decode
from streams.kafka_clients import Clients, opened
from streams.open_stream import DeadLetter, Record
from streams.outbox import Outbox
from streams.settings import ServerAwayError, Settings
from streams.stage import Chain
from streams.topics import Topology
from streams.trajectories_to_clickhouse import BATCH_AGE_MS, BATCH_ROWS_MAX, Sink, SinkEvent
from streams.worker import Away, pause

POLL_MS = 100


class SinkWorker:
    """One member of the sink's consumer group, with the one writer of its process."""

    def __init__(
        self,
        settings: Settings,
        topology: Topology,
        sink: Callable[[], Sink],
        options: Callable[[], CleanOptions] = CleanOptions,
    ) -> None:
        """options: how results of tools are cleaned now; nothing that applications report was cleaned before."""
        entry = topology.stages["sink"]
        self._settings = settings
        self._topology = topology
        self._sink = sink
        self._options = options
        self._chain = Chain(
            names=("sink",), reads=entry.reads, builds=(), writes=({},), reads_tokens=False,
            is_transactional=topology.delivery == "exactly_once", group=f"{settings.group_prefix}.{entry.group}",
        )  # fmt: skip
        self.group = self._chain.group
        self.stored = 0

    def figures(self) -> dict[str, float]:
        """Figures for Prometheus."""
        return {"llm_sink_rows_total": self.stored}

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; raises ServerAwayError."""
        sink = await self._opened_sink(stop)
        if sink is None:
            return
        try:
            await self._run_clients(sink, stop)
        finally:
            await asyncio.to_thread(sink.close)

    async def _run_clients(self, sink: Sink, stop: asyncio.Event) -> None:
        away = Away(f"Kafka at {self._settings.kafka_bootstrap}", self._settings.server_away_s_max)
        while not stop.is_set():
            try:
                async with opened(self._settings, self._chain) as clients:
                    await self._loop(clients, sink, stop, away)
            except KafkaError as error:
                await away.wait(error, stop)

    async def _opened_sink(self, stop: asyncio.Event) -> Sink | None:
        away = Away("the database", self._settings.server_away_s_max)
        while not stop.is_set():
            try:
                sink = await asyncio.to_thread(self._sink)
                await asyncio.to_thread(sink.migrate)
            except ServerAwayError as error:
                await away.wait(error, stop)
            else:
                return sink
        return None

    async def _loop(self, clients: Clients, sink: Sink, stop: asyncio.Event, away: Away) -> None:
        counts = await clients.partitions([self._topology.dead_letters()])
        outbox = Outbox(clients.producer, counts, self._topology, self._chain.group)
        clients.consumer.subscribe(self._chain.reads)
        while not stop.is_set():
            batch = await clients.consumer.getmany(timeout_ms=POLL_MS, max_records=BATCH_ROWS_MAX)
            if not batch:
                continue
            if not await self._store(sink, _decoded(batch, outbox, self._options()), stop):
                return
            await outbox.send()
            await outbox.settle()
            await _commit(clients.consumer, batch)
            away.is_over()
            if sum(map(len, batch.values())) < BATCH_ROWS_MAX // 2:
                await pause(stop, BATCH_AGE_MS / 1000)

    async def _store(self, sink: Sink, events: Sequence[SinkEvent], stop: asyncio.Event) -> bool:
        """Give the batch until it is stored; False if the worker is to stop before that."""
        away = Away("the database", self._settings.server_away_s_max)
        while True:
            try:
                await asyncio.to_thread(sink.write, events)
            except ServerAwayError as error:
                if stop.is_set():
                    return False
                await away.wait(error, stop)
            else:
                self.stored += len(events)
                return True


def _decoded(
    batch: Mapping[TopicPartition, Sequence[Record]], outbox: Outbox, options: CleanOptions
) -> list[SinkEvent]:
    events: list[SinkEvent] = []
    for place, records in batch.items():
        for record in records:
            try:
                event = decode(record.value)
            except UndecodableError as error:
                outbox.add(DeadLetter(record, FailureCode.UNDECODABLE, str(error)), place.partition)
                continue
            clean = CleanStage(options).feed(event) if isinstance(event, ToolResult) else (event,)
            events += (one for one in clean if isinstance(one, SinkEvent))
    return events


async def _commit(consumer: AIOKafkaConsumer, batch: Mapping[TopicPartition, Sequence[Record]]) -> None:
    try:
        await consumer.commit({place: records[-1].offset + 1 for place, records in batch.items() if records})
    except (CommitFailedError, IllegalStateError):  # the group is forming anew; the batch will be stored again
        return
