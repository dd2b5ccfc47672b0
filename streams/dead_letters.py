"""The topic of dead letters → what is on it, and back to where it came from."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from streams.kafka_clients import start_producer
from streams.open_stream import Record
from streams.settings import ConfigError, Settings
from streams.topic_reader import record_at, records
from streams.topics import Topology

NUMBER_CHARS_MAX = 30
"""Longest `partition:offset`: both fit 64 bits."""

REPLAY_HEADER = "x-replay-of"
PREFIX = "dlq."


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter: the record as received, and why it is here."""

    at: str
    """`partition:offset` on the topic of dead letters."""
    record: Record
    reasons: dict[str, str]

    def row(self) -> dict[str, object]:
        """For a list: no content."""
        origin = "/".join(self.reasons.get(f"{PREFIX}origin.{part}", "?") for part in ("topic", "partition", "offset"))
        return {
            "at": self.at,
            "code": self.reasons.get(f"{PREFIX}error.class"),
            "message": self.reasons.get(f"{PREFIX}error.message"),
            "origin": origin,
            "processor": self.reasons.get(f"{PREFIX}processor"),
            "bytes": len(self.record.value or b""),
            "ts": self.record.timestamp,
        }


async def letters(settings: Settings, topology: Topology, since_ms: int | None) -> AsyncIterator[Letter]:
    """All dead letters from a time on."""
    async for record in records(settings, topology.dead_letters(), since_ms):
        yield _letter(record)


def place_of(at: str) -> tuple[int, int]:
    """Partition and offset of `partition:offset`; raises ConfigError."""
    partition, _, offset = at.partition(":")
    if not (partition.isdecimal() and offset.isdecimal() and len(at) < NUMBER_CHARS_MAX):
        raise ConfigError(f"{at!r} is no partition:offset; `dead-letters list` has them")
    return int(partition), int(offset)


async def letter_at(settings: Settings, topology: Topology, place: tuple[int, int]) -> Letter:
    """One dead letter; raises ConfigError if there is none."""
    return _letter(await record_at(settings, topology.dead_letters(), *place))


async def send_back(settings: Settings, found: list[Letter]) -> int:
    """Put records back on the topics and partitions that they came from; gives how many."""
    producer = await start_producer(settings)
    try:
        for letter in found:
            record, reasons = letter.record, letter.reasons
            headers = [(key, value) for key, value in record.headers if not key.startswith(PREFIX)]
            await producer.send_and_wait(
                reasons[f"{PREFIX}origin.topic"],
                record.value,
                key=record.key,
                partition=int(reasons[f"{PREFIX}origin.partition"]),
                headers=[*headers, (REPLAY_HEADER, letter.at.encode())],
            )
    finally:
        await producer.stop()
    return len(found)


def _letter(record: Record) -> Letter:
    reasons = {key: value.decode("utf-8", "replace") for key, value in record.headers if key.startswith(PREFIX)}
    return Letter(f"{record.partition}:{record.offset}", record, reasons)
