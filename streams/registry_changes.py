"""Entries as they are + a wish → the change that makes it so; what every registry offers, in Redis or in a file."""

from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from processors.learning.lifecycle import IN_TRIAL, displaced
from processors.pii.custom import CustomRuleError, custom_rule
from processors.snapshot import Snapshot, key_of, snapshot_of
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from schemas.wire import encode
from streams.settings import ConfigError

ENTRIES_MAX = 100_000
RECORD_BYTES_MAX = 256_000
"""Longest record: a tool schema of 10,000 words."""
RETRIES_MAX = 20
"""How often a change is decided anew because another writer came first; each loss means that the other one won."""
OUT_OF_USE = frozenset({PatternState.RETIRED, PatternState.REJECTED})
"""States in which an entry is kept for the record."""


class StaleChangeError(RuntimeError):
    """Another writer changed an entry first: read the snapshot again and decide anew. Names the entry."""


class Registry(Protocol):
    """Where patterns are kept: in Redis for a running system, in a file for batch commands."""

    async def snapshot(self) -> Snapshot:
        """All entries as they are now."""
        ...

    async def publish(self, changes: Sequence[Pattern]) -> tuple[Pattern, ...]:
        """Make one change; each record's `version` is the one its writer saw, plus 1. Gives the records as stored."""
        ...

    async def records(self) -> tuple[Pattern, ...]:
        """Each record ever written, oldest first."""
        ...


async def edit(registry: Registry, decide: Callable[[Snapshot], Sequence[Pattern]]) -> tuple[Pattern, ...]:
    """Make the change that `decide` wants of the entries as they are; decided anew if another writer came first."""
    for _ in range(RETRIES_MAX):
        changes = decide(await registry.snapshot())
        if not changes:
            return ()
        with suppress(StaleChangeError):
            return await registry.publish(changes)
    raise StaleChangeError("every try")


def following(snapshot: Snapshot, pattern: Pattern) -> Pattern:
    """The pattern as the next version of its entry."""
    known = snapshot.entries.get(key_of(pattern))
    return replace(pattern, version=known.version + 1 if known else 1)


def with_moves(
    snapshot: Snapshot,
    moves: Iterable[Pattern],
    changes: dict[str, Pattern],
    movable: Container[PatternState] = IN_TRIAL,
) -> None:
    """Add to a change the moves of entries that the registry, as it is now, allows; who they displace retires."""
    for pattern in moves:
        known = changes.get(key_of(pattern)) or snapshot.entries.get(key_of(pattern))
        if known is None or known.state not in movable or known.pinned:
            continue
        retired = displaced(snapshot.entries.values(), known) if pattern.state is PatternState.ACTIVE else ()
        if retired is None:
            continue
        counters = pattern.counters or known.counters
        fresh = replace(known, state=pattern.state, evidence=(*known.evidence, pattern.evidence[-1]), counters=counters)
        for entry in (fresh, *retired):
            changes[key_of(entry)] = following(snapshot, entry)


def decided(snapshot: Snapshot, found: Pattern, state: PatternState, step: Evidence) -> tuple[Pattern, ...]:
    """What a person decided of an entry, as a change; active entries of its group that it displaces retire.

    Raises ConfigError where a pinned entry of its group keeps it out.
    """
    if found.state is state:
        return ()
    retired = displaced(snapshot.entries.values(), found) if state is PatternState.ACTIVE else ()
    if retired is None:
        raise ConfigError(
            f"{key_of(found)}: a pinned entry of group {found.exclusive_group!r} is active; unpin it first"
        )
    fresh = replace(found, state=state, evidence=(*found.evidence, step))
    return tuple(following(snapshot, entry) for entry in (fresh, *retired))


def state_at(version: int, records: Iterable[Pattern]) -> Snapshot:
    """The entries as they were at a registry version."""
    return snapshot_of((record for record in records if record.registry_version <= version), version)


def back_to(version: int, records: Sequence[Pattern], now: Snapshot) -> tuple[Pattern, ...]:
    """The change that makes the entries what they were at a registry version; what came later is retired."""
    then = state_at(version, records)
    changes = []
    for key, entry in now.entries.items():
        if entry.registry_version > version:
            target = then.entries.get(key) or replace(entry, state=PatternState.RETIRED)
            step = Evidence(step="rollback", data={"to": version, "from": now.version})
            changes.append(replace(target, version=entry.version + 1, evidence=(*target.evidence, step)))
    return tuple(changes)


def merged(given: Snapshot, now: Snapshot) -> tuple[Pattern, ...]:
    """The change that makes the entries of another registry those of this one; what only this one has stays."""
    changes = []
    for key, entry in given.entries.items():
        known = now.entries.get(key)
        if known is None or _content(known) != _content(entry):
            changes.append(following(now, entry))
    return tuple(changes)


def _content(entry: Pattern) -> Pattern:
    return replace(entry, version=0, registry_version=0, ts=None)


def must_be_proved(records: Iterable[Pattern]) -> None:
    """Refuse a rule for personal data that its own examples disprove; raises ConfigError, which names the example.

    By its number, not by its text: it may hold what the rule is to hide. A worker leaves such a rule out, and whoever
    wrote it would take it for one that is in force.
    """
    for record in records:
        if record.kind is PatternKind.PII and record.state not in OUT_OF_USE:
            try:
                custom_rule(record.definition | {"id": record.id}, record.positives, record.negatives)
            except CustomRuleError as error:
                raise ConfigError(f"registry: {record.kind}/{error}") from None


def stamped(changes: Sequence[Pattern], version: int) -> tuple[Pattern, ...]:
    must_be_proved(changes)
    if len({key_of(record) for record in changes}) < len(changes):
        raise ConfigError("registry: one change holds an entry twice")
    return tuple(replace(record, registry_version=version) for record in changes)


def as_bytes(record: Pattern) -> bytes:
    data = encode(record)
    if len(data) > RECORD_BYTES_MAX:
        raise ConfigError(f"registry: {key_of(record)} has {len(data)} bytes, more than {RECORD_BYTES_MAX}")
    return data
