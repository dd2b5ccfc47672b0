"""A worker that is killed again and again, in its replays too: each output comes once, without a broker."""

import random

import pytest
from aiokafka import TopicPartition

from schemas.failure import Failure
from schemas.output import Output
from streams.emitted import TRAIL_MAX, Ends
from streams.open_stream import Poisoned, Publish
from streams.partition import Partition
from streams.progress import NAMES_MAX
from tests.streams.flow import Read, chain_of, interleaved, reads, stream

PLACE = TopicPartition("llm.tokens", 0)


class Log:
    """What a broker keeps: the records, the outputs' keys, the last commit."""

    def __init__(self, records: list[Read], *, is_transactional: bool) -> None:
        self.records = records
        self.outputs: list[str] = []
        self.committed: tuple[int, str] = (0, "")
        self.chain = chain_of(is_transactional=is_transactional)
        self.read_back = 0
        self.reach = 0
        """How far any worker has read; the real one is not lower."""


class Life:
    """One worker from its start to its death, on one partition, as streams/held.py and streams/delivery.py drive it."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.ends = Ends("llm.outputs", 1)
        offset, metadata = log.committed
        names = self.ends.stands(metadata, PLACE)
        mark = self.ends.marks.setdefault(PLACE, 0)
        self.ends.begin(PLACE)
        self.part = Partition(log.chain, offset, names, Poisoned(), lambda: 1_000.0)
        self.part.sent = frozenset(key.encode() for key in log.outputs[mark:])
        self.part.reach = log.reach
        log.read_back = max(log.read_back, len(log.outputs) - mark)
        self.waiting: list[str] = []

    def take(self, count: int) -> None:
        start = self.part.position
        self.part.take(self.log.records[start : start + count])
        self.log.reach = max(self.log.reach, self.part.position)
        failures = [item.event for item in self.part.out if isinstance(getattr(item, "event", None), Failure)]
        assert failures == [], "no stream is read from its middle"
        self.waiting += [
            item.stream_id for item in self.part.out if isinstance(item, Publish) and isinstance(item.event, Output)
        ]
        self.part.out.clear()

    def send(self) -> None:
        self.log.outputs += self.waiting
        self.waiting.clear()
        self.ends.saw("llm.outputs", 0, len(self.log.outputs))

    def commit(self) -> None:
        self.send()
        point = self.part.commit_point()
        metadata = self.ends.marked(point, PLACE)
        assert len(metadata) <= 4_096
        self.log.committed = point.offset, metadata
        self.ends.stands(metadata, PLACE)


def live(log: Log, source: random.Random, deaths: int) -> None:
    for _ in range(deaths):
        life = Life(log)
        for _ in range(source.randint(0, 6)):
            life.take(source.randint(1, len(log.records) // 8))
            chance = source.random()
            if chance < 0.4:
                life.commit()
            elif chance < 0.7 and not log.chain.is_transactional:
                life.send()
    life = Life(log)
    life.take(len(log.records))
    life.commit()


@pytest.mark.parametrize("is_transactional", [False, True], ids=["at least once", "exactly once"])
@pytest.mark.parametrize("seed", range(40))
def test_no_output_is_lost_or_doubled_when_replays_are_cut_short(seed, is_transactional) -> None:
    source = random.Random(seed)
    streams = [stream(f"s{i}", *("x" for _ in range(source.randint(1, 30)))) for i in range(60)]
    log = Log(reads(*interleaved(*streams)), is_transactional=is_transactional)
    live(log, source, deaths=12)
    assert sorted(log.outputs) == sorted(f"s{i}" for i in range(60))


@pytest.mark.parametrize("is_transactional", [False, True], ids=["at least once", "exactly once"])
@pytest.mark.parametrize("seed", range(6))
def test_more_streams_than_have_room_in_metadata_end_above_one_that_is_open(seed, is_transactional) -> None:
    source, count = random.Random(seed), NAMES_MAX * 4
    slow = stream("slow", *("x" for _ in range(count + 1)))
    tokens = [slow[0]]
    for i in range(count):
        tokens += [*stream(f"s{i}", "a", "b"), slow[i + 1]]
    log = Log(reads(*tokens), is_transactional=is_transactional)
    live(log, source, deaths=10)
    assert sorted(log.outputs) == sorted(["slow", *(f"s{i}" for i in range(count))])
    assert log.read_back > 0


@pytest.mark.parametrize("is_transactional", [False, True], ids=["at least once", "exactly once"])
@pytest.mark.parametrize("seed", range(12))
def test_streams_that_began_before_the_commit_are_not_read_from_their_middle(seed, is_transactional) -> None:
    source, count = random.Random(seed), NAMES_MAX * 3
    streams = [stream(f"s{i}", *("x" for _ in range(source.randint(2, 12)))) for i in range(count)]
    tokens = [token for at in range(0, count, 15) for token in interleaved(*streams[at : at + 15])]
    place = [(i + source.random() * 60, token) for i, token in enumerate(tokens)]
    order: dict[str, list[float]] = {}
    for at, token in place:
        order.setdefault(token.stream_id, []).append(at)
    waiting = {name: iter(sorted(times)) for name, times in order.items()}
    mixed = sorted(((next(waiting[token.stream_id]), token) for _, token in place), key=lambda pair: pair[0])
    log = Log(reads(*(token for _, token in mixed)), is_transactional=is_transactional)
    live(log, source, deaths=14)
    assert sorted(log.outputs) == sorted(f"s{i}" for i in range(count))


def test_what_is_remembered_and_read_back_is_bounded() -> None:
    count = 4_000
    tokens = [stream("slow", "x", "y")[0], *(token for i in range(count) for token in stream(f"s{i}", "a"))]
    log = Log(reads(*tokens), is_transactional=False)
    life = Life(log)
    for _ in range(count):
        life.take(1)
        life.commit()
        assert len(life.ends._trails[PLACE]) <= TRAIL_MAX
    assert Life(log).part.sent >= {f"s{i}".encode() for i in range(count - 1 - NAMES_MAX)}
