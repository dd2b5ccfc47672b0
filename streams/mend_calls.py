"""`llm.parsed` → the same streams' outputs again, where a language model could mend a call or fill a gap.

A worker beside the hot path, so that an answer that takes seconds holds up no output: what it finds goes out as the
output's next revision, which replaces the first for every reader. Off unless started: it reads what is not yet
cleaned, and asks an endpoint about it (see llm_repair).

Events of a stream are kept until its end; for each partition the offset of the oldest stream still open is committed.
After a crash a stream is asked about again, and what then comes has the same revision.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from processors.knowledge import Knowledge
from processors.mend import filled, gap_questions, output_again, questions
from schemas.failure import FailureCode
from schemas.output import Output
from schemas.reasoning import Gap, Node
from schemas.segment import Closed, Delta
from schemas.trajectory import Step
from schemas.wire import Event, UndecodableError, decode
from streams.kafka_clients import Clients, opened
from streams.llm_repair import LlmClient, LlmError, LlmRepairer
from streams.open_stream import NUMBER_HEADER, DeadLetter, Publish, Record
from streams.outbox import Outbox
from streams.settings import Settings
from streams.stage import Chain
from streams.topics import Topology
from streams.worker import Away

POLL_MS = 200
RECORDS_MAX = 2_000
EVENTS_MAX = 10_000
"""Events of one stream that are kept; a longer one is not asked about."""
STREAMS_MAX = 20_000
"""Streams kept open; beyond it the oldest is not asked about."""
NUMBER_FROM = 1_000_000_000
"""Numbers of what a second reading publishes: above those of the first, which readers may have seen."""


@dataclass(slots=True)
class Kept:
    """One stream that is being read."""

    first_offset: int
    events: list[Event] = field(default_factory=list)
    next_number: int = 0
    """Number of the next event of the stream; lower ones are repeats."""


class MendWorker:
    """One member of the group that asks about calls."""

    def __init__(
        self, settings: Settings, topology: Topology, client: LlmClient, known: Callable[[], Knowledge]
    ) -> None:
        self._settings = settings
        self._topology = topology
        self._client = client
        self._repairer = LlmRepairer(client)
        self._known = known
        self._chain = Chain(
            names=("mend",), reads=topology.stages["clean"].reads, builds=(), writes=({},), reads_tokens=False,
            is_transactional=topology.delivery == "exactly_once", group=f"{settings.group_prefix}.mend",
        )  # fmt: skip
        self._open: dict[tuple[TopicPartition, str], Kept] = {}
        self.mended = 0
        """Outputs published again."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; raises ServerAwayError."""
        away = Away(f"Kafka at {self._settings.kafka_bootstrap}", self._settings.server_away_s_max)
        while not stop.is_set():
            self._open.clear()
            try:
                async with opened(self._settings, self._chain) as clients:
                    await self._loop(clients, stop, away)
            except KafkaError as error:
                await away.wait(error, stop)

    async def _loop(self, clients: Clients, stop: asyncio.Event, away: Away) -> None:
        topics = [self._topology.dead_letters(), *map(self._topic, ("output/1", "step/1"))]
        outbox = Outbox(clients.producer, await clients.partitions(topics), self._topology, self._chain.group)
        clients.consumer.subscribe(self._chain.reads)
        while not stop.is_set():
            batch = await clients.consumer.getmany(timeout_ms=POLL_MS, max_records=RECORDS_MAX)
            if not batch:
                continue
            ended = [one for place, records in batch.items() for one in self._taken(place, records, outbox)]
            again = await asyncio.gather(*(self._again(events) for _, events in ended))
            for (place, _), events in zip(ended, again, strict=True):
                self._publish(outbox, place, events)
            await outbox.send()
            await outbox.settle()
            await self._commit(clients, batch)
            away.is_over()

    def _taken(
        self, place: TopicPartition, records: Sequence[Record], outbox: Outbox
    ) -> list[tuple[TopicPartition, list[Event]]]:
        """Keep a batch's events; gives the streams that ended in it."""
        ended = []
        for record in records:
            try:
                event = decode(record.value)
            except UndecodableError as error:
                outbox.add(DeadLetter(record, FailureCode.UNDECODABLE, str(error)), place.partition)
                continue
            stream_id = getattr(event, "stream_id", "")
            kept = self._open.setdefault((place, stream_id), Kept(record.offset))
            number = _number(record, kept.next_number)
            if number < kept.next_number:
                continue
            kept.next_number = number + 1
            if len(kept.events) <= EVENTS_MAX and not isinstance(event, Delta):
                kept.events.append(event)
            if isinstance(event, Closed):
                del self._open[place, stream_id]
                if len(kept.events) <= EVENTS_MAX:
                    ended.append((place, kept.events))
        while len(self._open) > STREAMS_MAX:
            del self._open[next(iter(self._open))]
        return ended

    async def _again(self, events: list[Event]) -> list[Output | Step]:
        """What comes of a stream after asking; nothing if nothing could be mended."""
        known = self._known()
        asked = questions(events, known)
        if not asked and not any(isinstance(event, Node) for event in events):
            return []
        answers = await asyncio.gather(*(self._repairer.mend(one.call, one.schema, one.conversation) for one in asked))
        mended = {call.id: call for call in answers if call.strategy == "llm"}
        out = list(output_again(events, mended, known))
        again = [await self._filled(event) if isinstance(event, Output) else event for event in out]
        return again if mended or again != out else []

    async def _filled(self, output: Output) -> Output:
        answers: list[tuple[Gap, str]] = []
        for gap, asked in gap_questions(output):
            try:
                answers.append((gap, await self._client.ask([{"role": "user", "content": asked}])))
            except LlmError:  # the gap stays; the client's breaker and budget bound how often that is tried
                break
        return filled(output, answers) if answers else output

    def _publish(self, outbox: Outbox, place: TopicPartition, events: Sequence[Output | Step]) -> None:
        for number, event in enumerate(events, start=NUMBER_FROM):
            outbox.add(Publish(self._topic(event.schema), event.stream_id, event, number), place.partition)
        self.mended += bool(events)

    def _topic(self, schema: str) -> str:
        topic = self._topology.topic_of("clean", schema)
        assert topic, "topics.yaml publishes outputs and steps"
        return topic

    async def _commit(self, clients: Clients, batch: Mapping[TopicPartition, Sequence[Record]]) -> None:
        offsets = {place: records[-1].offset + 1 for place, records in batch.items()}
        for (place, _), kept in self._open.items():
            if place in offsets:
                offsets[place] = min(offsets[place], kept.first_offset)
        try:
            await clients.consumer.commit(offsets)
        except (CommitFailedError, IllegalStateError):  # the group is forming anew; the batch will be read again
            self._open.clear()


def _number(record: Record, default: int) -> int:
    """The number of the event in its stream, which its header says."""
    written = next((value for key, value in record.headers if key == NUMBER_HEADER), b"")
    return int(written) if written.isdigit() else default
