"""Names of stages → their workers, side by side in this process, until a signal or a fault ends them all in order."""

import asyncio
import faulthandler
import gc
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

from processors.learning.lifecycle import Approval
from streams.audit import load_masters
from streams.dispatch_stage import DispatchStage, dispatch_stage
from streams.failures_to_patterns import LearnWorker
from streams.format_learner import FormatLearner
from streams.health import serve
from streams.retrospect_stage import retrospect_stage
from streams.retrospect_worker import RetrospectWorker
from streams.settings import ConfigError, Settings
from streams.sink_worker import SinkWorker
from streams.snapshots import Snapshots
from streams.stage import chains
from streams.telemetry import Kinds, Watched
from streams.tokens_to_outputs import Compiled, hot_path
from streams.topics import Topology, check_stages, load_topology
from streams.tracing import Spans
from streams.trajectories_to_clickhouse import Sink
from streams.worker import Worker

BESIDE_HOT_PATH = ("learn", "sink", "dispatch", "retrospect")
"""Stages with a loop of their own."""

BEAT_S = 5.0
BLOCKED_S_MAX = 120.0
"""A loop that does nothing else for this long is stuck in one record: it is better ended and started again."""
GC_THRESHOLDS = (50_000, 20, 50)
"""A poll makes 20,000 short-lived objects that are in no cycle: looking for cycles in them cost a fifth of the time."""


@dataclass(slots=True)
class Running:
    """The workers of this process."""

    topology: Topology
    snapshots: Snapshots
    workers: list[Worker] = field(default_factory=list)
    kinds: Kinds = field(default_factory=Kinds)
    spans: Spans | None = None
    sink: SinkWorker | None = None
    learner: LearnWorker | None = None
    dispatcher: DispatchStage | None = None
    retrospector: RetrospectWorker | None = None

    def watched(self) -> list[Watched]:
        """All of them, for whoever asks for figures."""
        return list(self._all())

    async def run_all(self, stop: asyncio.Event) -> list[BaseException | None]:
        """Run them side by side until `stop` is set or one fails; what each ended with."""
        tasks = [asyncio.create_task(_until_fault(worker.run, stop)) for worker in self._all()]
        return await asyncio.gather(*tasks, return_exceptions=True)

    def _all(self) -> Iterator[Worker | SinkWorker | LearnWorker | DispatchStage | RetrospectWorker]:
        yield from self.workers
        if self.sink:
            yield self.sink
        if self.learner:
            yield self.learner
        if self.dispatcher:
            yield self.dispatcher
        if self.retrospector:
            yield self.retrospector

    def not_ready(self) -> str | None:
        """What this process still waits for; None when it works."""
        if not self.snapshots.is_known.is_set():
            return "the registry was not read yet"
        told: list[Worker | DispatchStage | RetrospectWorker] = [*self.workers]
        told += [one for one in (self.dispatcher, self.retrospector) if one]
        waiting = [worker.group for worker in told if not worker.is_ready.is_set()]
        return f"no partitions yet: {', '.join(waiting)}" if waiting else None


def prepare(settings: Settings, names: Sequence[str], *, publish_between: bool = False) -> Running:
    """Make the workers of the named stages; raises ConfigError for a name that is none, or a topology that differs."""
    topology, compiled = load_topology(settings), Compiled(settings.learn_canary_share, settings.pii_placeholders)
    snapshots = Snapshots(compiled.of)
    builds = hot_path(snapshots.current, load_masters(settings.audit_keys), compiled)
    known = [*(build.name for build in builds), *BESIDE_HOT_PATH]
    check_stages(topology, known)
    for name in names:
        if name not in known:
            raise ConfigError(f"no stage {name!r}; there are {', '.join(known)}")
    running = Running(topology, snapshots, spans=Spans(settings) if settings.otel_endpoint else None)
    hot = [name for name in names if name not in BESIDE_HOT_PATH]
    for chain in chains(topology, builds, hot, group_prefix=settings.group_prefix, publish_between=publish_between):
        worker = Worker(settings, topology, chain)
        worker.kinds, worker.spans = running.kinds, running.spans
        running.workers.append(worker)
    if "sink" in names:
        sink = partial(Sink, settings.clickhouse_dsn)
        running.sink = SinkWorker(settings, topology, sink, lambda: compiled.of(snapshots.current()).clean_options)
    if "learn" in names:
        approval = _approval(settings)
        learner = FormatLearner(
            lambda: compiled.of(snapshots.current()), snapshots.current, approval, settings.learn_unused_days
        )
        running.learner = LearnWorker(settings, topology, learner)
    if "dispatch" in names:
        running.dispatcher = dispatch_stage(settings, topology, snapshots.current)
    if "retrospect" in names:
        running.retrospector = retrospect_stage(settings, topology, snapshots.current, _approval(settings))
    return running


def _approval(settings: Settings) -> Approval:
    try:
        return Approval(settings.learn_approval)
    except ValueError:
        known = ", ".join(Approval)
        raise ConfigError(f"learn_approval: {settings.learn_approval!r} is none of {known}") from None


async def run(settings: Settings, running: Running, stop: asyncio.Event) -> None:
    """Run the workers until `stop` is set; when one fails, the others end in order, then its fault is raised."""
    async with AsyncExitStack() as stack:
        if settings.metrics_address:
            runner = await serve(settings.metrics_address, running.watched(), running.kinds, running.not_ready)
            stack.push_async_callback(runner.cleanup)
        if running.spans:
            stack.callback(running.spans.close)
        beating = asyncio.create_task(_beat())
        try:
            await _run_all(settings, running, stop)
        finally:
            beating.cancel()
        # After a fault it stays armed: a thread that is stuck in one record must not keep the process from ending.
        faulthandler.cancel_dump_traceback_later()


async def _beat() -> None:
    """While this runs the process lives on; when it can't for too long, the process says where it stands and ends."""
    while True:
        faulthandler.dump_traceback_later(BLOCKED_S_MAX, exit=True)
        await asyncio.sleep(BEAT_S)


async def _run_all(settings: Settings, running: Running, stop: asyncio.Event) -> None:
    following = asyncio.create_task(running.snapshots.follow(settings, stop))
    if running.workers or running.dispatcher:
        await running.snapshots.wait_for_first()
    if running.workers:
        await asyncio.to_thread(warm, running.workers)
    outcomes = await running.run_all(stop)
    stop.set()
    await following
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


def warm(workers: Sequence[Worker]) -> None:
    """Load and compile catalogues before the first record waits for them, then keep them out of garbage collection."""
    for worker in workers:
        worker.chain.open()
    keep_out_of_collection()
    gc.set_threshold(*GC_THRESHOLDS)


def keep_out_of_collection() -> None:
    """What is loaded by now stays: a search for cycles through its 130,000 objects would stop the process for 0.2 s."""
    gc.collect()
    gc.freeze()


async def _until_fault(run_one: Callable[[asyncio.Event], Awaitable[None]], stop: asyncio.Event) -> None:
    try:
        await run_one(stop)
    finally:
        stop.set()


def stop_on_signals(stop: asyncio.Event) -> None:
    """SIGTERM and SIGINT ask for an orderly end; a second SIGINT ends at once."""
    loop = asyncio.get_running_loop()

    def asked() -> None:
        if stop.is_set():
            loop.remove_signal_handler(signal.SIGINT)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked)
