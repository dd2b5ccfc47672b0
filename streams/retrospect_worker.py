"""`llm.steps`, `llm.tool-results`, `llm.signals` → `llm.retrospections`, and strategies in the registry.

One member of the group does it all: why a call failed shows in what other tools do, so its streams can't be shared out.
A second member stands by. At its start it reads the calls of the last day, to know what is usual; up to when they were
spoken about stands in Redis, put down after what was said is acknowledged. Committed offsets only show the lag.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from processors.learning.lifecycle import Approval
from processors.retrospect import Found, Question, retrospect
from processors.retrospection.watch import Watch
from processors.snapshot import Snapshot
from processors.strategies.fares import Fares
from processors.strategies.match import IN_PLAY
from schemas.attribution import Attribution
from schemas.pattern import Pattern, PatternKind
from schemas.retrospection import Retrospection
from schemas.signal import Signal
from schemas.toolcall import ToolResult
from schemas.trajectory import Step
from schemas.wire import Event, UndecodableError, decode, encode
from streams.kafka_clients import Clients, opened
from streams.open_stream import Record
from streams.pattern_registry import RedisRegistry, connected
from streams.redis_client import redis_client
from streams.registry_changes import edit
from streams.settings import Settings
from streams.stage import Chain
from streams.strategy_changes import strategy_changes
from streams.strategy_figures import StrategyFigures
from streams.topics import Topology
from streams.worker import Away

POLL_MS = 200
RECORDS_MAX = 2_000
BACK_MS = 24 * 3_600_000
"""How far back calls are read at the start."""
LATE_MS = 5_000.0
"""What failed so long before an earlier process put down its time may not have been judged: it is, perhaps again."""
FIGURES_S = 2.0
IDLE_S = 3_600.0
_CALLS = (b'"tool_call"',)


@dataclass(slots=True)
class RetrospectWorker:
    """The stage."""

    settings: Settings
    topology: Topology
    watch: Watch
    current: Callable[[], Snapshot]
    approval: Approval
    group: str = field(init=False)
    is_ready: asyncio.Event = field(default_factory=asyncio.Event)
    attributed: int = 0
    looked_back: int = 0
    _fares: Fares = field(default_factory=Fares)
    _version: int | None = None
    _live_ms: float = 0.0
    """What ended before this was spoken about by an earlier process."""
    _places: frozenset[TopicPartition] = frozenset()
    _written_s: float = 0.0
    _idle_s: float = 0.0

    def __post_init__(self) -> None:
        self.group = f"{self.settings.group_prefix}.{self.topology.stages['retrospect'].group}"

    def figures(self) -> dict[str, float]:
        """Figures for Prometheus."""
        return {"llm_attributions_total": self.attributed, "llm_retrospections_total": self.looked_back}

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; raises ServerAwayError."""
        settings = self.settings
        away = Away(f"Kafka at {settings.kafka_bootstrap}", settings.server_away_s_max)
        while not stop.is_set():
            self._places = frozenset()
            try:
                async with (
                    connected(settings.redis_url, settings.topic_prefix) as registry,
                    redis_client(settings.redis_url, "figures of strategies") as client,
                    opened(settings, self._chain()) as clients,
                ):
                    figures = StrategyFigures(client, settings.topic_prefix)
                    await self._loop(clients, _Books(registry, figures), stop, away)
            except KafkaError as error:
                await away.wait(error, stop)

    def _chain(self) -> Chain:
        return Chain(
            names=("retrospect",), reads=self.topology.stages["retrospect"].reads, builds=(), writes=({},),
            reads_tokens=False, is_transactional=self.topology.delivery == "exactly_once", group=self.group,
        )  # fmt: skip

    async def _loop(self, clients: Clients, books: "_Books", stop: asyncio.Event, away: Away) -> None:
        clients.consumer.subscribe(list(self._chain().reads))
        while not stop.is_set():
            batch = await clients.consumer.getmany(timeout_ms=POLL_MS, max_records=RECORDS_MAX)
            await self._follow(books)
            if await self._went_back(clients):
                continue
            records = sorted((one for part in batch.values() for one in part), key=lambda one: one.timestamp)
            now_ms = time.time() * 1000
            said, moves = self._taken(records)
            # While there is more to read, neighbours of a failure may be in it.
            if len(records) < RECORDS_MAX:
                said += self.watch.due(now_ms)
            events, entries = await asyncio.to_thread(self._looked_back, said)
            await self._told(clients, events)
            await self._changed(books, entries, moves)
            await self._kept(books, now_ms)
            await self._commit(clients, batch)
            away.is_over()

    async def _went_back(self, clients: Clients) -> bool:
        """Whether partitions are new: then they are read from a day ago on, and what was fetched of them is dropped."""
        consumer = clients.consumer
        places = frozenset(consumer.assignment())
        fresh = places - self._places
        self._places = places
        if not fresh:
            return False
        # An older call than a day is not needed; a broker that can't find times gives everything.
        found = await consumer.offsets_for_times(dict.fromkeys(fresh, int(time.time() * 1000) - BACK_MS))
        await consumer.seek_to_beginning(*fresh)
        for place, offset in found.items():
            if offset is not None:
                consumer.seek(place, offset.offset)
        self.is_ready.set()
        return True

    async def _follow(self, books: "_Books") -> None:
        snapshot = self.current()
        if snapshot.version == self._version:
            return
        if self._version is None:
            self._live_ms = max(0.0, await books.figures.spoken_ms() - LATE_MS)
            books.used_ms = {name: one.get("used_ms", 0.0) for name, one in (await books.figures.read()).items()}
        self._version = snapshot.version
        self._fares.use(snapshot.of(PatternKind.STRATEGY, *IN_PLAY), time.time() * 1000)
        for name, one in self._fares.figures.items():
            # An earlier process's word counts once; from then on this one knows better.
            one.used_ms = books.used_ms.pop(name, one.used_ms)

    def _taken(self, records: Iterable[Record]) -> tuple[list[Attribution | Question], list[Pattern]]:
        """Take records; gives what is to be said, and strategies that are to move."""
        said: list[Attribution | Question] = []
        moves: list[Pattern] = []
        for record in records:
            at_ms = float(record.timestamp)
            event = _event(record)
            if isinstance(event, Step):
                said += self.watch.step(event)
            elif isinstance(event, ToolResult):
                said += self.watch.result(event, at_ms)
                moves += self._fares.feed(event, at_ms) if at_ms >= self._live_ms else []
            elif isinstance(event, Signal) and event.kind == "review":
                moves += self._fares.verdict(event.about, is_right=event.is_right) if at_ms >= self._live_ms else []
            elif isinstance(event, Signal):
                asked = list(self.watch.signal(event, at_ms))
                said += asked if at_ms >= self._live_ms else []
        return said, moves

    def _looked_back(self, said: Sequence[Attribution | Question]) -> tuple[list[Event], list[Pattern]]:
        events: list[Event] = []
        entries: list[Pattern] = []
        for one in said:
            if isinstance(one, Attribution):
                events += [one] if (one.ts or 0.0) >= self._live_ms else []
                continue
            found = self._answer(one)
            if found is not None:
                events.append(found.retrospection)
                entries += [found.entry] if found.entry is not None else []
        return events, entries

    def _answer(self, question: Question) -> Found | None:
        memory = self.watch.memory(question)
        found = retrospect(question, memory, self.approval) if memory is not None else None
        is_said = found is None or (question.trigger == "implicit" and (found.retrospection.ts or 0.0) < self._live_ms)
        return None if is_said else found

    async def _told(self, clients: Clients, events: Sequence[Event]) -> None:
        sent = []
        for event in events:
            assert isinstance(event, Attribution | Retrospection), "nothing else is said"
            self.attributed += isinstance(event, Attribution)
            self.looked_back += isinstance(event, Retrospection)
            topic = self.topology.topic_of("retrospect", event.schema)
            assert topic, "topics.yaml publishes both"
            key = event.stream_id.encode("utf-8", "replace")
            sent.append(await clients.producer.send(topic, encode(event), key=key))
        await asyncio.gather(*sent)

    async def _changed(self, books: "_Books", entries: Sequence[Pattern], moves: Sequence[Pattern]) -> None:
        now_s = time.monotonic()
        if now_s - self._idle_s >= IDLE_S:
            self._idle_s = now_s
            moves = [*moves, *self._fares.idle(time.time() * 1000)]
        if entries or moves:
            await edit(books.registry, lambda snapshot: strategy_changes(snapshot, entries, moves))

    async def _kept(self, books: "_Books", now_ms: float) -> None:
        if time.monotonic() - self._written_s >= FIGURES_S:
            self._written_s = time.monotonic()
            await books.figures.write(self._fares.figures.values(), now_ms)

    async def _commit(self, clients: Clients, batch: dict[TopicPartition, list[Record]]) -> None:
        offsets = {place: records[-1].offset + 1 for place, records in batch.items() if records}
        if offsets:
            with suppress(CommitFailedError, IllegalStateError):  # the group is forming anew; it will be read again
                await clients.consumer.commit(offsets)


@dataclass(slots=True)
class _Books:
    """Where strategies and their figures are kept."""

    registry: RedisRegistry
    figures: StrategyFigures
    used_ms: dict[str, float] = field(default_factory=dict)
    """When each strategy was last used, as an earlier process put it down."""


def _event(record: Record) -> Event | None:
    value = record.value
    # Most steps are no calls; they are told by their bytes, at a tenth of the cost.
    if value is None or (b'"step/1"' in value and not any(word in value for word in _CALLS)):
        return None
    try:
        return decode(value)
    except UndecodableError:  # another program's record on a public topic
        return None
