"""Stored tokens → outputs as this version and registry make them, beside the outputs that were published.

Nothing of the running pipeline changes: no group, no commit. With a side topic the new outputs are written there. A
stream whose first tokens are before the given time is left out, because its start is missing.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import orjson

from schemas.jsonvalue import JsonObject
from schemas.output import Output
from schemas.wire import encode
from streams.kafka_clients import start_producer
from streams.open_stream import Poisoned, Publish, Record
from streams.partition import Partition
from streams.settings import Settings
from streams.stage import Chain
from streams.topic_reader import records

VOLATILE = frozenset({"ts", "latency_ms", "rev", "extra"})
BATCH = 5_000


@dataclass(slots=True)
class Difference:
    """What a replay found."""

    streams: int = 0
    same: int = 0
    new: int = 0
    """Streams without a published output."""
    changed: list[JsonObject] = field(default_factory=list)
    """For each stream that differs: its id and the paths that do, with how many steps each side has."""


async def replay(settings: Settings, chain: Chain, since_ms: int | None, side_topic: str | None) -> Difference:
    """Run the chain over stored tokens and compare; raises ServerAwayError."""
    outputs = await _outputs(settings, chain, since_ms)
    published: dict[str, JsonObject] = {}
    async for record in records(settings, chain.writes[-1]["output/1"]):
        value = orjson.loads(record.value or b"{}")
        published[value.get("stream_id", "")] = value
    difference = Difference(streams=len(outputs))
    for output in outputs:
        _compare(output, published.get(output.stream_id), difference)
    if side_topic is not None:
        await _write(settings, side_topic, outputs)
    return difference


async def _outputs(settings: Settings, chain: Chain, since_ms: int | None) -> list[Output]:
    parts: dict[int, tuple[Partition, list[Record]]] = {}
    alone = replace(chain, is_transactional=False)
    outputs: list[Output] = []
    async for record in records(settings, chain.reads[0], since_ms):
        if record.partition not in parts:
            parts[record.partition] = Partition(alone, record.offset, "", Poisoned(), time.time), []
        part, batch = parts[record.partition]
        batch.append(record)
        if len(batch) >= BATCH:
            outputs += _taken(part, batch)
    for part, batch in parts.values():
        outputs += _taken(part, batch)
    return outputs


def _taken(part: Partition, batch: list[Record]) -> Iterable[Output]:
    part.take(batch)
    batch.clear()
    found = [item.event for item in part.out if isinstance(item, Publish) and isinstance(item.event, Output)]
    part.out.clear()
    return [output for output in found if not any(failure.code == "missing_seq" for failure in output.failures)]


def _compare(output: Output, published: JsonObject | None, difference: Difference) -> None:
    if published is None:
        difference.new += 1
        return
    now = orjson.loads(encode(output))
    keys = (now.keys() | published.keys()) - VOLATILE
    paths = sorted(key for key in keys if now.get(key) != published.get(key))
    if not paths:
        difference.same += 1
        return
    lists = ("tool_calls", "failures")
    steps = [f"{key}[{place}]" for key in lists for place in _places(now.get(key), published.get(key))]
    difference.changed.append({"stream_id": output.stream_id, "fields": paths, "steps": steps})


def _places(one: list[object] | None, other: list[object] | None) -> list[int]:
    """Indexes at which two lists differ."""
    left, right = one or [], other or []
    longest = max(len(left), len(right))
    return [place for place in range(longest) if left[place : place + 1] != right[place : place + 1]]


async def _write(settings: Settings, topic: str, outputs: Iterable[Output]) -> None:
    producer = await start_producer(settings)
    try:
        for output in outputs:
            await producer.send(topic, encode(output), key=output.stream_id.encode("utf-8", "replace"))
        await producer.flush()
    finally:
        await producer.stop()
