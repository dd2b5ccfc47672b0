"""The pattern registry in Redis: snapshot, publish, follow, roll back; and the same in one file.

One change is one Lua script, so one atomic step: it checks that nobody changed the entries in between, bumps the
registry version, writes each record to the table of entries and to the log, and announces the version on a channel.
Records are stored as the bytes of `schemas.wire`, so a registry rebuilt from its log is the same to the byte.

Nothing is deleted: an entry that is no longer wanted is `retired`, and the log keeps each record, which is what makes
rolling back to any version possible. Followers hear of a change by the announcement, and look at the version each
second in case one was lost; while Redis is away they keep the last snapshot.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import redis.asyncio as redis
from redis.exceptions import ResponseError

from processors.snapshot import Snapshot, key_of, snapshot_of
from schemas.pattern import Pattern
from schemas.wire import UndecodableError, decode
from streams.redis_client import AWAY, redis_client
from streams.registry_changes import ENTRIES_MAX, RETRIES_MAX, Registry, StaleChangeError, as_bytes, stamped
from streams.registry_file import FileRegistry
from streams.settings import ConfigError

LOOK_S = 1.0
"""How often a follower looks at the version without an announcement: half of the 2 s in which a change must be used."""

_LOG = logging.getLogger(__name__)
_PUBLISH = """
if tonumber(redis.call('GET', KEYS[1]) or '0') ~= tonumber(ARGV[1]) then return 'version' end
for place = 2, #ARGV, 3 do
  if (redis.call('HGET', KEYS[3], ARGV[place]) or '0') ~= ARGV[place + 1] then return ARGV[place] end
end
local version = redis.call('INCR', KEYS[1])
for place = 2, #ARGV, 3 do
  redis.call('HSET', KEYS[2], ARGV[place], ARGV[place + 2])
  redis.call('HINCRBY', KEYS[3], ARGV[place], 1)
  redis.call('XADD', KEYS[4], version .. '-' .. (place + 1) / 3, 'record', ARGV[place + 2])
end
redis.call('PUBLISH', KEYS[5], version)
return 'done'
"""


@asynccontextmanager
async def opened(where: str, prefix: str = "") -> AsyncIterator[Registry]:
    """The registry at a Redis URL, or in a file; a server that is away is a ServerAwayError."""
    if not where.startswith(("redis://", "rediss://", "unix://")):
        yield FileRegistry(Path(where))
        return
    async with connected(where, prefix) as registry:
        yield registry


async def snapshot_at(where: str, prefix: str = "") -> Snapshot:
    """What the registry at a Redis URL or in a file says, for who only reads: a file that isn't there is a mistake."""
    _must_be_there(where)
    async with opened(where, prefix) as registry:
        return await registry.snapshot()


def _must_be_there(where: str) -> None:
    if "://" not in where and not Path(where).exists():
        raise ConfigError(f"--registry: {where}: no such file")


@asynccontextmanager
async def connected(url: str, prefix: str = "") -> AsyncIterator["RedisRegistry"]:
    """The registry at a Redis URL, which can be followed; a server that is away is a ServerAwayError."""
    async with redis_client(url, "registry") as client:
        yield RedisRegistry(client, prefix)


class RedisRegistry:
    """The registry of a running system."""

    def __init__(self, client: "redis.Redis", prefix: str = "") -> None:
        self._client = client
        # Braces keep all keys in one slot of a Redis Cluster, which the script needs.
        self._version, self._entries, self._versions, self._log, self._channel = (
            f"{{{prefix}registry}}:{part}" for part in ("version", "entries", "versions", "log", "changes")
        )

    async def snapshot(self) -> Snapshot:
        """All entries as they are now, of one moment."""
        async with self._client.pipeline(transaction=True) as pipe:
            pipe.get(self._version)
            pipe.hvals(self._entries)
            version, entries = await pipe.execute()
        return snapshot_of(_patterns(entries), _number(version))

    async def publish(self, changes: Sequence[Pattern]) -> tuple[Pattern, ...]:
        """Make one change, all of it or nothing; raises StaleChangeError."""
        for _ in range(RETRIES_MAX):
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.get(self._version)
                pipe.hlen(self._entries)
                found, size = await pipe.execute()
            if size + len(changes) > ENTRIES_MAX:
                raise ConfigError(f"registry: more than {ENTRIES_MAX} entries")
            version = _number(found)
            records = stamped(changes, version + 1)
            arguments: list[str | bytes | int] = [version]
            for record in records:
                arguments += [key_of(record), record.version - 1, as_bytes(record)]
            done = await self._run(arguments)
            if done == "done":
                return records
            if done != "version":
                raise StaleChangeError(done)
        raise StaleChangeError("version")

    async def records(self) -> tuple[Pattern, ...]:
        """Each record ever written, oldest first."""
        return await self._since(0)

    async def restore(self, records: Sequence[Pattern]) -> Snapshot:
        """Fill an empty registry with records as they were, oldest first: versions and bytes stay what they were.

        What is read back from the compacted topic of patterns, or from a file. Raises StaleChangeError if the registry
        is not empty.
        """
        ordered = sorted(records, key=lambda record: record.registry_version)
        version = max((record.registry_version for record in ordered), default=0)
        async with self._client.pipeline(transaction=True) as pipe:
            await pipe.watch(self._version)
            if await pipe.get(self._version) is not None:
                raise StaleChangeError("version")
            pipe.multi()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
            for place, record in enumerate(ordered, start=1):
                pipe.hset(self._entries, key_of(record), as_bytes(record))
                pipe.hset(self._versions, key_of(record), str(record.version))
                pipe.xadd(self._log, {"record": as_bytes(record)}, id=f"{record.registry_version}-{place}")
            pipe.set(self._version, version)
            pipe.publish(self._channel, version)
            await pipe.execute()
        return snapshot_of(ordered, version)

    async def follow(self, last: Snapshot | None = None) -> AsyncIterator[Snapshot]:
        """The snapshot now, and each later one; never ends by itself.

        While Redis is away nothing comes, and whoever follows goes on with what it has.
        """
        seen = last or Snapshot(-1)
        while True:
            try:
                async for fresh in self._heard(seen):
                    seen = fresh
                    yield fresh
            except AWAY:
                await asyncio.sleep(LOOK_S)

    async def _heard(self, last: Snapshot) -> AsyncIterator[Snapshot]:
        async with self._client.pubsub() as channel:
            await channel.subscribe(self._channel)
            while True:
                if fresh := await self._newer(last):
                    last = fresh
                    yield fresh
                await channel.get_message(ignore_subscribe_messages=True, timeout=LOOK_S)

    async def _newer(self, last: Snapshot) -> Snapshot | None:
        version = _number(await self._client.get(self._version))
        if version == last.version:
            return None
        if version < last.version or last.version < 0:  # another server, or a restored one: read everything
            return await self.snapshot()
        records = await self._since(last.version)
        if not records:  # another server with a longer history but not the records between: read everything
            return await self.snapshot()
        return last.with_records(records, max(record.registry_version for record in records))

    async def _since(self, version: int) -> tuple[Pattern, ...]:
        found: list[tuple[bytes, dict[bytes, bytes]]] = await self._client.xrange(self._log, min=f"{version + 1}-0")  # type: ignore[assignment]  # typed for clients that decode
        return tuple(_patterns(fields[b"record"] for _, fields in found))

    async def _run(self, arguments: list[str | bytes | int]) -> str:
        keys = (self._version, self._entries, self._versions, self._log, self._channel)
        answer: bytes = await self._client.eval(
            _PUBLISH, len(keys), *keys, *arguments
        )  # redis-py types eval for both kinds of client
        return answer.decode()


def _number(version: bytes | str | None) -> int:
    """The registry version as stored; what is none is a server that can't be used, as one that is away."""
    try:
        return int(version or 0)
    except ValueError:
        raise ResponseError("the version is not a number") from None


def _patterns(records: Iterable[bytes]) -> Iterator[Pattern]:
    """Records as written; what this version of the program can't read is reported and left out."""
    for data in records:
        try:
            pattern = decode(data)
        except UndecodableError as error:
            _LOG.warning("registry: an entry was left out: %s", error)
            continue
        if isinstance(pattern, Pattern):
            yield pattern
