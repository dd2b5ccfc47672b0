"""The learning loop, a Faust app: failures → counted by signature in a windowed table → entries of the registry.

Failures of one signature are in one partition, so a partition's table holds their whole count; the table is restored
from its changelog topic after a crash. A failure that comes again after a replay is counted once. What a count means is
the learner's to say: `observe` gives the change it wants of the registry, decided on the entries as they then are. A
second task copies each change of the registry, whoever made it, to the compacted log of patterns.

Faust is used here and nowhere else (docs/adr/0003): it gets and gives bytes, the schemas are `schemas.wire`'s.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

import faust

from processors.snapshot import Snapshot, key_of
from schemas.failure import Failure
from schemas.output import Output
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from schemas.wire import UndecodableError, decode, encode
from streams.outbox import signature_of
from streams.pattern_registry import RedisRegistry, connected
from streams.registry_changes import edit
from streams.settings import ServerAwayError, Settings
from streams.topics import Topology
from streams.worker import Away, pause

WINDOW = timedelta(minutes=10)
WINDOWS_KEPT = timedelta(hours=24)
SUPPORT_MIN = 5
"""Failures of one signature in one window that make it a candidate."""
SEEN_MAX = 100_000
"""Failures remembered, to count each once: 20 MB."""
BATCH_BYTES_MAX = 1
"""Each record of the changelog is a batch of its own: the embedded broker says of a partition's end only where its last
batch begins, and a table is recovered up to there."""
CHECK_S = 0.2

Decide = Callable[[Snapshot], Sequence[Pattern]]
"""A change of the registry, decided on its entries as they are."""


class Learner(Protocol):
    """What makes patterns of failures; pure, the same failures give the same wishes."""

    def observe(self, failure: Failure, count: int) -> Decide | None:
        """Take one failure and how often its signature was seen in this window; give the change that is wanted."""
        ...

    def wanted_formats(self) -> frozenset[str]:
        """Formats whose outputs the learner is to see."""
        ...

    def saw(self, output: Output, now_ms: float) -> Decide | None:
        """Take one output that was served with such a format; give the change that is wanted."""
        ...


class Signatures:
    """The least that can be learned: a signature with enough support becomes a candidate for a person to look at."""

    def observe(self, failure: Failure, count: int) -> Decide | None:
        """One candidate for each signature, once."""
        if count < SUPPORT_MIN:
            return None
        signature = signature_of(failure)
        pattern = Pattern(
            id="signature-" + blake2b(signature.encode("utf-8", "replace"), digest_size=6).hexdigest(),
            version=1,
            kind=PatternKind.STRATEGY,
            state=PatternState.CANDIDATE,
            definition={"signature": signature, "stage": failure.stage, "code": failure.code},
            evidence=(Evidence(step="counted", data={"count": count, "window_s": WINDOW.total_seconds()}),),
        )
        return lambda snapshot: () if key_of(pattern) in snapshot.entries else (pattern,)

    def wanted_formats(self) -> frozenset[str]:
        """None: a signature serves nothing."""
        return frozenset()

    def saw(self, output: Output, now_ms: float) -> Decide | None:  # noqa: ARG002 - as the protocol has it
        """Nothing follows from an output."""
        return None


class LearnWorker:
    """Runs the app beside other work in this process."""

    def __init__(self, settings: Settings, topology: Topology, learner: Learner) -> None:
        self._settings = settings
        self._topology = topology
        self._learner = learner
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self.group = f"{settings.group_prefix}.{topology.stages['learn'].group}"
        self.counted = 0

    def figures(self) -> dict[str, float]:
        """Figures for Prometheus."""
        return {"llm_learner_failures_total": self.counted}

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; an app that crashed is started anew, up to a bound."""
        away = Away("Kafka or the registry", self._settings.server_away_s_max)
        while not stop.is_set():
            try:
                async with connected(self._settings.redis_url, self._settings.topic_prefix) as registry:
                    await self._run_app(registry, stop)
            except (ServerAwayError, OSError) as error:
                await away.wait(error, stop)

    async def _run_app(self, registry: RedisRegistry, stop: asyncio.Event) -> None:
        app = self._app(registry)
        copying = asyncio.create_task(self._copy_changes(app, registry))
        try:
            await app.start()
            while not stop.is_set() and not app.should_stop:
                await pause(stop, CHECK_S)
        finally:
            copying.cancel()
            await app.stop()
        if app.crashed:
            raise ServerAwayError(f"the learning app ended: {app.crash_reason!r}")

    def _app(self, registry: RedisRegistry) -> faust.App:
        settings, entry = self._settings, self._topology.stages["learn"]
        reads = self._topic_of("failure/1")
        partitions = self._topology.topics[reads].partitions
        app = faust.App(
            f"{settings.group_prefix}.{entry.group}",
            broker=";".join(f"kafka://{address}" for address in settings.kafka_bootstrap.split(",")),
            broker_session_timeout=settings.session_timeout_ms / 1000,
            broker_heartbeat_interval=settings.session_timeout_ms / 5000,
            broker_commit_interval=1.0,
            consumer_auto_offset_reset="earliest",
            datadir=str(Path(settings.data_dir) / "learn"),
            loop=asyncio.get_running_loop(),
            producer_max_batch_size=BATCH_BYTES_MAX,
            store="memory://",
            topic_allow_declare=False,
            topic_disable_leader=True,
            topic_partitions=partitions,
            web_enabled=False,
        )
        failures = app.topic(reads, key_serializer="raw", value_serializer="raw", value_type=bytes)
        changelog = app.topic(
            self._signatures(), partitions=partitions, key_serializer="json", value_serializer="json",
            acks=False, internal=True, allow_empty=True, maxsize=131_072,
        )  # fmt: skip  # acks=False: the table reads it by itself
        # Given twice: a start recovers from the topic of this moment, and setting a window forgets the topic.
        counts = app.Table("signatures", default=int, partitions=partitions, changelog_topic=changelog)
        windowed = counts.tumbling(WINDOW, expires=WINDOWS_KEPT)
        counts.changelog_topic = changelog

        async def count(stream: faust.StreamT[bytes]) -> None:
            async for data in stream:
                failure = self._fresh(data)
                if failure is None:
                    continue
                signature = signature_of(failure)
                windowed[signature] += 1
                self.counted += 1
                await self._learn(registry, failure, windowed[signature].current())

        async def watch(stream: faust.StreamT[bytes]) -> None:
            async for data in stream:
                await self._watch(registry, data)

        app.agent(failures, name="count")(count)
        outputs = app.topic(self._topic_of("output/1"), key_serializer="raw", value_serializer="raw", value_type=bytes)
        app.agent(outputs, name="watch")(watch)
        return app

    def _topic_of(self, schema: str) -> str:
        reads = self._topology.stages["learn"].reads
        return next(name for name in reads if schema in self._topology.topics[name].schemas)

    def _signatures(self) -> str:
        return next(name for name, topic in self._topology.topics.items() if topic.schemas == ("count/1",))

    def _fresh(self, data: bytes) -> Failure | None:
        """A failure that was not counted yet; what is none is left out: a stage of ours wrote the topic."""
        try:
            failure = decode(data)
        except UndecodableError:
            return None
        name = blake2b(data, digest_size=16).digest()
        if not isinstance(failure, Failure) or name in self._seen:
            return None
        self._seen[name] = None
        if len(self._seen) > SEEN_MAX:
            self._seen.popitem(last=False)
        return failure

    async def _learn(self, registry: RedisRegistry, failure: Failure, count: int) -> None:
        decide = await asyncio.to_thread(self._learner.observe, failure, count)
        if decide is not None:
            await edit(registry, decide)

    async def _watch(self, registry: RedisRegistry, data: bytes) -> None:
        """Only outputs of learned formats are decoded: the rest costs one search for each such format."""
        if not any(b'"%s"' % name.encode() in data for name in self._learner.wanted_formats()):
            return
        with suppress(UndecodableError):
            output = decode(data)
            if isinstance(output, Output) and (decide := self._learner.saw(output, time.time() * 1000)) is not None:
                await edit(registry, decide)

    async def _copy_changes(self, app: faust.App, registry: RedisRegistry) -> None:
        """Each change of the registry → the log of patterns; from the start, because writing one again is harmless."""
        (name,) = self._topology.stages["learn"].writes.values()
        log = app.topic(name, key_serializer="raw", value_serializer="raw")
        version = 0
        async for snapshot in registry.follow():
            for entry in snapshot.entries.values():
                if entry.registry_version > version:
                    await log.send(key=key_of(entry).encode(), value=encode(entry))
            version = snapshot.version
