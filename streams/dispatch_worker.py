"""`llm.outputs` → `llm.tool-results` and `llm.executions`: one member of the group that executes calls.

Streams of a batch run beside each other, outputs of one stream in order. Offsets are committed after the results are
acknowledged; what is read again after a crash is not executed again, its kept results are published again.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from aiokafka import AIOKafkaProducer
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from schemas.execution import Execution, Handover
from schemas.output import Output
from schemas.toolcall import ToolResult
from schemas.wire import UndecodableError, decode, encode
from streams.dispatch import Dispatcher
from streams.kafka_clients import Clients, opened
from streams.settings import Settings
from streams.stage import Chain
from streams.topics import Topology
from streams.worker import Away

POLL_MS = 200
RECORDS_MAX = 32
"""Most outputs between two commits: what a crash makes read again."""


@dataclass(slots=True)
class DispatchWorker:
    """Reads outputs, executes their calls, publishes what came of them."""

    settings: Settings
    topology: Topology
    dispatcher: Dispatcher
    show: Callable[[ToolResult], None] | None = None
    """Told of each result instead of the topic; for dry runs, which have a group of their own."""
    outputs: int = 0
    is_ready: asyncio.Event = field(default_factory=asyncio.Event)
    _sent: list[asyncio.Future[object]] = field(default_factory=list)
    """What the broker has not acknowledged yet."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; raises ServerAwayError."""
        away = Away(f"Kafka at {self.settings.kafka_bootstrap}", self.settings.server_away_s_max)
        while not stop.is_set():
            try:
                async with opened(self.settings, self._chain()) as clients:
                    await self._loop(clients, stop, away)
            except KafkaError as error:
                await away.wait(error, stop)

    def _chain(self) -> Chain:
        entry = self.topology.stages["dispatch"]
        name = entry.group if self.show is None else f"{entry.group}-dry-run"
        return Chain(
            names=("dispatch",), reads=entry.reads, builds=(), writes=({},),
            reads_tokens=False, is_transactional=self.topology.delivery == "exactly_once",
            group=f"{self.settings.group_prefix}.{name}",
        )  # fmt: skip

    async def _loop(self, clients: Clients, stop: asyncio.Event, away: Away) -> None:
        self._sent = []  # of a connection that is gone: the batch is read again
        self.dispatcher.tell = lambda event: self._send(clients.producer, event)
        clients.consumer.subscribe(self._chain().reads)
        while not stop.is_set():
            batch = await clients.consumer.getmany(timeout_ms=POLL_MS, max_records=RECORDS_MAX)
            if clients.consumer.assignment():
                self.is_ready.set()
            if not batch:
                continue
            by_stream: dict[str, list[Output]] = {}
            for output in _outputs(record.value for records in batch.values() for record in records):
                by_stream.setdefault(output.stream_id, []).append(output)
            await asyncio.gather(*(self._stream(outputs, clients.producer) for outputs in by_stream.values()))
            sent, self._sent = self._sent, []
            await asyncio.gather(*sent)
            try:
                await clients.consumer.commit({place: records[-1].offset + 1 for place, records in batch.items()})
            except (CommitFailedError, IllegalStateError):  # the group is forming anew; the batch will be read again
                continue
            away.is_over()

    async def _stream(self, outputs: Iterable[Output], producer: AIOKafkaProducer) -> None:
        for output in outputs:
            for result in await self.dispatcher.dispatch(output):
                if self.show is not None:
                    self.show(result)
                    continue
                await self._send(producer, result)
            self.outputs += 1

    async def _send(self, producer: AIOKafkaProducer, event: ToolResult | Execution | Handover) -> None:
        """Hand an event to the client, which sends it while the next call runs."""
        topic = self.topology.topic_of("dispatch", event.schema)
        assert topic, "topics.yaml names a topic for each"
        key = event.stream_id.encode("utf-8", "replace")
        self._sent.append(await producer.send(topic, encode(event), key=key))


def _outputs(values: Iterable[bytes | None]) -> Iterable[Output]:
    for value in values:
        try:
            event = decode(value)
        except UndecodableError:  # another program's record on a public topic: nothing to execute in it
            continue
        if isinstance(event, Output):
            yield event
