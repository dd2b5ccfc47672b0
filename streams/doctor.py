"""Settings → one finding for each thing that the pipeline needs: whether it is well, and what to do if not."""

import asyncio
import json
import shutil
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from streams.migrations import MigrationError
from streams.pattern_registry import connected
from streams.running_page import PAGE_FILE
from streams.settings import ConfigError, ServerAwayError, Settings
from streams.topic_reader import records
from streams.topics import Topology, drift
from streams.trajectories_to_clickhouse import Sink

FREE_BYTES_MIN = 1_000_000_000
PAGE_S_MAX = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    is_well: bool
    detail: str
    to_do: str = ""


async def findings(settings: Settings, topology: Topology) -> list[Finding]:
    """Look at everything; nothing is raised, nothing is changed but missing ClickHouse tables."""
    found = []
    looks: tuple[tuple[str, Callable[[], Awaitable[Finding]], str], ...] = (
        ("Kafka", lambda: _kafka(settings, topology), "start the broker, or set KAFKA_BOOTSTRAP"),
        ("dead letters", lambda: _letters(settings, topology), "start the broker, or set KAFKA_BOOTSTRAP"),
        ("Redis", lambda: _redis(settings), "start the server, or set REDIS_URL"),
        ("ClickHouse", lambda: _clickhouse(settings), "start the server, or set CLICKHOUSE_DSN"),
    )
    for what, look, to_do in looks:
        try:
            found.append(await look())
        except (ServerAwayError, ConfigError, MigrationError, OSError) as error:
            found.append(Finding(what, False, str(error).splitlines()[0], to_do))
    return [*found, _disk(settings)]


async def _kafka(settings: Settings, topology: Topology) -> Finding:
    differences = await drift(settings, topology)
    if not differences:
        return Finding("Kafka", True, f"{settings.kafka_bootstrap}, {len(topology.topics)} topics as declared")
    detail = differences[0] + (f", and {len(differences) - 1} more" if len(differences) > 1 else "")
    return Finding("Kafka", False, detail, "hermes-streams topics apply, then topics check")


async def _letters(settings: Settings, topology: Topology) -> Finding:
    count = 0
    async for _ in records(settings, topology.dead_letters()):
        count += 1
    return Finding(
        "dead letters", count == 0, f"{count} records", "" if count == 0 else "hermes-streams dead-letters list"
    )


async def _redis(settings: Settings) -> Finding:
    async with connected(settings.redis_url, settings.topic_prefix) as registry:
        snapshot = await registry.snapshot()
    return Finding("Redis", True, f"registry version {snapshot.version}, {len(snapshot.entries)} entries")


async def _clickhouse(settings: Settings) -> Finding:
    if page := await asyncio.to_thread(_owner, settings):
        return Finding("ClickHouse", True, f"embedded; its process shows the page {page}")
    sink = Sink(settings.clickhouse_dsn)
    try:
        applied = sink.migrate()
    finally:
        sink.close()
    return Finding("ClickHouse", True, f"tables are there{', made now' if applied else ''}")


def _owner(settings: Settings) -> str | None:
    """The page of the process that holds the embedded store: chDB lets only one process open its path."""
    if not settings.clickhouse_dsn.startswith("chdb:"):
        return None
    try:
        url: str = json.loads((Path(settings.data_dir) / PAGE_FILE).read_text(encoding="utf-8"))["url"]
        urllib.request.urlopen(f"{url}/healthz", timeout=PAGE_S_MAX).close()  # noqa: S310 - our own file's address
    except (OSError, ValueError, KeyError):  # no page, or its process was killed
        return None
    return url


def _disk(settings: Settings) -> Finding:
    directory = Path(settings.data_dir).absolute()
    while not directory.exists():
        directory = directory.parent
    free = shutil.disk_usage(directory).free
    to_do = "" if free >= FREE_BYTES_MIN else "free space, or set HERMES_DATA_DIR"
    return Finding("disk", free >= FREE_BYTES_MIN, f"{free / 1e9:.1f} GB free at {directory}", to_do)
