"""The topic of patterns as a second copy of the registry: read back, compared, and the registry made from it anew."""

from collections.abc import Iterator
from types import MappingProxyType

from processors.knowledge import knowledge_of
from processors.snapshot import Snapshot, key_of, snapshot_of, to_json
from schemas.pattern import Pattern
from schemas.wire import UndecodableError, decode, encode
from streams.registry_changes import Registry
from streams.settings import Settings
from streams.topic_reader import records
from streams.topics import load_topology


async def logged(settings: Settings) -> tuple[Pattern, ...]:
    """The newest record of each entry on the topic, oldest first; raises ServerAwayError."""
    (name,) = (name for name, topic in load_topology(settings).topics.items() if topic.schemas == ("pattern/1",))
    newest: dict[str, Pattern] = {}
    async for record in records(settings, name):
        if record.value is None:
            continue
        try:
            pattern = decode(record.value)
        except UndecodableError:
            continue
        if isinstance(pattern, Pattern):
            known = newest.get(key_of(pattern))
            if known is None or pattern.registry_version >= known.registry_version:
                newest[key_of(pattern)] = pattern
    return tuple(sorted(newest.values(), key=lambda pattern: (pattern.registry_version, key_of(pattern))))


async def faults(registry: Registry, log: tuple[Pattern, ...] | None) -> list[tuple[str, str]]:
    """Entry → what is wrong with it; nothing when the registry is sound. log: records of the topic, if it was read."""
    snapshot = await registry.snapshot()
    found = list(_malformed(snapshot))
    history = await registry.records()
    if history and to_json(snapshot_of(history, snapshot.version)) != to_json(snapshot):
        found.append(("registry", "its entries are not what its own records make: rebuild it"))
    if log is not None:
        found += _differences(snapshot, {key_of(pattern): pattern for pattern in log})
    return found


def _malformed(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for key, entry in snapshot.entries.items():
        try:
            knowledge_of(Snapshot(snapshot.version, MappingProxyType({key: entry})))
        except ValueError as error:
            yield key, f"processors can't be built from it: {str(error).splitlines()[0][:200]}"


def _differences(snapshot: Snapshot, log: dict[str, Pattern]) -> Iterator[tuple[str, str]]:
    for key in sorted(snapshot.entries.keys() | log.keys()):
        entry, record = snapshot.entries.get(key), log.get(key)
        if entry is None:
            yield key, "is on the topic of patterns and not in the registry"
        elif record is None:
            yield key, "is not on the topic of patterns: no learner has run since it was written"
        elif encode(entry) != encode(record):
            yield key, f"differs from the topic of patterns, which has version {record.version}"
