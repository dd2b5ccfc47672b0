"""A stage: one step of the flow with its topics, and several stages in a row as one chain for each stream.

Stages that run in one worker hand events on in memory. A chain publishes what its last stage gives, and, where wanted,
what passes between its stages, each to the topic that topics.yaml names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from processors.processor import Processor
from schemas.failure import Failure, FailureCode, Stage
from schemas.segment import Closed
from schemas.wire import Event
from streams.settings import ConfigError
from streams.topics import Topology

Build = Callable[[], Processor]
"""Makes the processor of one stream, from the registry snapshot in force at that moment."""


@runtime_checkable
class Cuttable(Protocol):
    """A processor that can end a stream by itself: the one that reads tokens."""

    def cut(self, code: FailureCode, ts: float | None = None) -> Iterable[Event]:
        """End the stream as truncated."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBuild:
    """A stage as the code has it: its name in topics.yaml and how its processor is made."""

    name: str
    build: Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Consecutive stages of one worker: topics in, processors in a row, topics out."""

    names: tuple[str, ...]
    reads: tuple[str, ...]
    builds: tuple[Build, ...]
    writes: tuple[Mapping[str, str], ...]
    """For each stage: event schema (or `*`) → topic; empty where nothing is published between stages."""
    reads_tokens: bool
    is_transactional: bool
    """A stream's events go out together, with its end and the offsets, in one transaction."""
    group: str

    def open(self) -> "Line":
        """The processors of one new stream."""
        return Line(tuple(build() for build in self.builds), self.writes)


class Line:
    """One stream's processors in a row; gives `(topic, event)` for whatever is to be published."""

    __slots__ = ("_processors", "_writes", "is_closed")

    def __init__(self, processors: tuple[Processor, ...], writes: tuple[Mapping[str, str], ...]) -> None:
        self._processors = processors
        self._writes = writes
        self.is_closed = False

    def feed(self, event: Event) -> Iterator[tuple[str, Event]]:
        """Take one event; after the stream's end, also what the processors held back."""
        return self._through(0, self._processors[0].feed(event))

    def cut(self, stream_id: str, code: FailureCode, ts: float) -> Iterator[tuple[str, Event]]:
        """End a stream that did not end itself; `ts` is the time of its last record in ms."""
        first = self._processors[0]
        if isinstance(first, Cuttable):
            yield from self._through(0, first.cut(code, ts))
            return
        yield from self.feed(Failure(stream_id=stream_id, code=code, stage=Stage.DECODE))
        yield from self.feed(Closed(stream_id=stream_id, chars=0, tokens=0, truncated=True, ts=ts))

    def _through(self, place: int, events: Iterable[Event]) -> Iterator[tuple[str, Event]]:
        """Events that the processor at a place gave → through all later ones."""
        last = len(self._processors) - 1
        writes = self._writes[place]
        for event in events:
            if writes and (topic := writes.get(event.schema) or writes.get("*")):
                yield topic, event
            if place < last:
                yield from self._through(place + 1, self._processors[place + 1].feed(event))
            elif type(event) is Closed:
                self.is_closed = True


def chains(
    topology: Topology, builds: Sequence[StageBuild], names: Sequence[str], *, group_prefix: str, publish_between: bool
) -> tuple[Chain, ...]:
    """Names of stages → chains of those that follow each other; raises ConfigError for a name that is none."""
    known = {stage.name: stage for stage in builds}
    for name in names:
        if name not in known:
            raise ConfigError(f"no stage {name!r}; there are {', '.join(known)}")
    runs: list[list[StageBuild]] = []
    for stage in builds:
        if stage.name not in names:
            continue
        follows = runs and _feeds(topology, runs[-1][-1].name, stage.name)
        runs[-1].append(stage) if follows else runs.append([stage])
    return tuple(_chain(topology, run, group_prefix, publish_between) for run in runs)


def _feeds(topology: Topology, one: str, other: str) -> bool:
    return set(topology.stages[other].reads) <= set(topology.stages[one].writes.values())


def _chain(topology: Topology, run: Sequence[StageBuild], group_prefix: str, publish_between: bool) -> Chain:
    entries = [topology.stages[stage.name] for stage in run]
    between = [entry.writes if publish_between else {} for entry in entries[:-1]]
    reads = entries[0].reads
    return Chain(
        names=tuple(stage.name for stage in run),
        reads=reads,
        builds=tuple(stage.build for stage in run),
        writes=(*between, entries[-1].writes),
        reads_tokens=all(topology.topics[topic].schemas == ("token/1",) for topic in reads),
        is_transactional=topology.delivery == "exactly_once",
        group=".".join([group_prefix, *(entry.group for entry in entries)]),
    )
