"""`registry list|show|diff|approve|reject|pin|unpin|export|import|rollback|verify|rebuild`."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, TypeVar

import orjson
import typer

from processors.snapshot import RegistryFormatError, Snapshot, from_json, key_of, to_json
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from streams.cli.show import say, show
from streams.pattern_registry import RedisRegistry, opened
from streams.registry_changes import (
    Registry,
    StaleChangeError,
    back_to,
    decided,
    edit,
    following,
    merged,
    must_be_proved,
    state_at,
)
from streams.registry_history import difference, timeline_of
from streams.registry_log import faults, logged
from streams.settings import ConfigError, load

Done = TypeVar("Done")
group = typer.Typer(help="The entries that processors are built from.", no_args_is_help=True)
REGISTRY = typer.Option("--registry", help="A file or a redis:// address; the configured Redis if none is given.")


@group.command("list")
def list_entries(
    registry: Annotated[str | None, REGISTRY] = None,
    kind: Annotated[PatternKind | None, typer.Option(help="Only entries of this kind.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")] = False,
) -> None:
    """One line for each entry."""
    snapshot = run_with(registry, lambda one: one.snapshot())
    rows = [
        {"entry": key, "state": str(entry.state), "version": entry.version, "since": entry.registry_version}
        for key, entry in snapshot.entries.items()
        if kind in {None, entry.kind}
    ]
    show(rows, ("entry", "state", "version", "since"), as_json=as_json)
    print(f"registry version {snapshot.version}", file=sys.stderr)


@group.command("show")
def show_entry(
    entry: Annotated[str, typer.Argument(help="`kind/id`, as `registry list` prints it.")],
    registry: Annotated[str | None, REGISTRY] = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="Its records in order, to be read by a person.")] = False,
) -> None:
    """One entry with its evidence, as JSON or as a timeline."""
    if timeline:
        records = [one for one in run_with(registry, lambda one: one.records()) if key_of(one) == entry]
        if not records:
            raise ConfigError(f"no entry {entry!r}; `registry list` has them")
        for line in timeline_of(records):
            say({"entry": entry, "happened": line}, line)
        return
    found = run_with(registry, lambda one: one.snapshot()).entries.get(entry)
    if found is None:
        raise ConfigError(f"no entry {entry!r}; `registry list` has them")
    say(asdict(found), orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2).decode())


@group.command("diff")
def diff(
    version: Annotated[int, typer.Argument(min=0, help="A registry version.")],
    other: Annotated[int, typer.Argument(metavar="VERSION", min=0, help="Another one.")],
    registry: Annotated[str | None, REGISTRY] = None,
) -> None:
    """What changed between two registry versions: + came, - was not there yet, ~ differs."""
    records = run_with(registry, _history)
    lines = difference(state_at(version, records), state_at(other, records))
    for line in lines:
        say({"change": line[:1], "entry": line[1:].strip()}, line)
    if not lines:
        say({"change": None}, "nothing changed")


@group.command("pin")
def pin(
    entry: Annotated[str, typer.Argument(help="`kind/id`, as `registry list` prints it.")],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
) -> None:
    """Keep an entry as it is: nothing that is learned moves, replaces or retires it."""
    _change(registry, entry, lambda now, found: _pinned(now, found, is_pinned=True), dry_run=dry_run)


@group.command("unpin")
def unpin(
    entry: Annotated[str, typer.Argument(help="`kind/id`, as `registry list` prints it.")],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
) -> None:
    """Let what is learned move an entry again."""
    _change(registry, entry, lambda now, found: _pinned(now, found, is_pinned=False), dry_run=dry_run)


@group.command("export")
def export(
    target: Annotated[Path, typer.Argument(metavar="FILE")],
    registry: Annotated[str | None, REGISTRY] = None,
) -> None:
    """Write all entries to a file; `parse --registry FILE` uses it."""
    snapshot = run_with(registry, lambda one: one.snapshot())
    try:
        target.write_bytes(to_json(snapshot))
    except OSError as error:
        raise ConfigError(f"{target}: {error.strerror}") from error
    count = len(snapshot.entries)
    row = {"file": str(target), "entries": count, "version": snapshot.version}
    say(row, f"{count} entries of version {snapshot.version} in {target}")


@group.command("import")
def import_entries(
    source: Annotated[Path, typer.Argument(metavar="FILE")],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
) -> None:
    """Put the entries of a file into the registry; an empty Redis becomes exactly what was exported."""
    try:
        given = from_json(source.read_bytes())
    except OSError as error:
        raise ConfigError(f"{source}: {error.strerror}") from error
    except RegistryFormatError as error:
        raise ConfigError(f"{source}: {error}") from error
    if dry_run:
        must_be_proved(given.entries.values())
        changes = merged(given, run_with(registry, lambda one: one.snapshot()))
    else:
        changes = run_with(registry, lambda one: _imported(one, given))
    _say(changes, dry_run=dry_run)


@group.command("rollback")
def rollback(
    version: Annotated[int, typer.Argument(min=0, help="A registry version.")],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
) -> None:
    """Make the entries what they were at a version, as one new change."""
    _say(run_with(registry, lambda one: _rolled_back(one, version, dry_run=dry_run)), dry_run=dry_run)


@group.command("verify")
def verify(
    registry: Annotated[str | None, REGISTRY] = None,
    with_log: Annotated[bool, typer.Option("--log/--no-log", help="Compare with the topic of patterns too.")] = True,
) -> int | None:
    """Whether each entry can be used and is what its records say; exit code 1 when something is wrong."""
    log = asyncio.run(logged(load())) if with_log and registry is None else None
    found = run_with(registry, lambda one: faults(one, log))
    for entry, what in found:
        say({"entry": entry, "fault": what}, f"{entry}: {what}")
    if not found:
        say({"entry": None, "fault": None}, "the registry is sound")
    return 1 if found else None


@group.command("rebuild")
def rebuild(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be written.")] = False,
) -> None:
    """Fill an empty Redis with the entries on the topic of patterns, byte for byte what they were."""
    records = asyncio.run(logged(load()))
    if not dry_run:
        run_with(None, lambda one: _restored(one, records))
    _say(records, dry_run=dry_run)


@group.command("approve")
def approve(
    entry: Annotated[str, typer.Argument(help="`kind/id`, as `registry list` prints it.")],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
) -> None:
    """Let a candidate in: from now on it is used."""
    _decide(registry, entry, PatternState.ACTIVE, dry_run=dry_run)


@group.command("reject")
def reject(
    entry: Annotated[str, typer.Argument(help="`kind/id`, as `registry list` prints it.")],
    registry: Annotated[str | None, REGISTRY] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
) -> None:
    """Take an entry out of use, or keep a candidate from coming in."""
    _decide(registry, entry, PatternState.REJECTED, dry_run=dry_run)


def _decide(registry: str | None, entry: str, state: PatternState, *, dry_run: bool) -> None:
    def decide(snapshot: Snapshot, found: Pattern) -> tuple[Pattern, ...]:
        return decided(snapshot, found, state, Evidence(step="decided", data={"from": found.state, "to": state}))

    _change(registry, entry, decide, dry_run=dry_run)


async def _restored(registry: Registry, records: tuple[Pattern, ...]) -> None:
    if not isinstance(registry, RedisRegistry):
        raise ConfigError("only a registry in Redis is rebuilt from the topic; a file is written by `registry export`")
    try:
        await registry.restore(records)
    except StaleChangeError:
        raise ConfigError("the registry is not empty; `registry verify` says how it differs from the topic") from None


def _pinned(snapshot: Snapshot, found: Pattern, *, is_pinned: bool) -> tuple[Pattern, ...]:
    if found.pinned is is_pinned:
        return ()
    step = Evidence(step="decided", data={"pinned": is_pinned})
    return (following(snapshot, replace(found, pinned=is_pinned, evidence=(*found.evidence, step))),)


def _change(
    registry: str | None, entry: str, make: Callable[[Snapshot, Pattern], tuple[Pattern, ...]], *, dry_run: bool
) -> None:
    """Change one entry, decided on what it is when the change is made."""

    def change(snapshot: Snapshot) -> tuple[Pattern, ...]:
        found = snapshot.entries.get(entry)
        if found is None:
            raise ConfigError(f"no entry {entry!r}; `registry list` has them")
        return make(snapshot, found)

    if dry_run:
        _say(change(run_with(registry, lambda one: one.snapshot())), dry_run=True)
    else:
        _say(run_with(registry, lambda one: edit(one, change)), dry_run=False)


async def _history(registry: Registry) -> tuple[Pattern, ...]:
    if not isinstance(registry, RedisRegistry):
        raise ConfigError("a registry file keeps no history; ask the registry in Redis")
    return await registry.records()


async def _imported(registry: Registry, given: Snapshot) -> tuple[Pattern, ...]:
    must_be_proved(given.entries.values())
    if isinstance(registry, RedisRegistry) and not (await registry.snapshot()).version:
        return tuple((await registry.restore(tuple(given.entries.values()))).entries.values())
    return await edit(registry, lambda now: merged(given, now))


async def _rolled_back(registry: Registry, version: int, *, dry_run: bool) -> tuple[Pattern, ...]:
    if not isinstance(registry, RedisRegistry):
        raise ConfigError("a registry file keeps no history; roll back the registry in Redis, or use an older export")
    now = await registry.snapshot()
    if version > now.version:
        raise ConfigError(f"registry version {version} is still to come; it is {now.version} now")
    changes = back_to(version, await registry.records(), now)
    return changes if dry_run or not changes else await registry.publish(changes)


def _say(changes: tuple[Pattern, ...], *, dry_run: bool) -> None:
    for entry in changes:
        pinned = ", pinned" if entry.pinned else ""
        would = "would be " if dry_run else ""
        row = {"entry": key_of(entry), "state": entry.state, "version": entry.version, "pinned": entry.pinned}
        words = f"{entry.kind}/{entry.id}: {would}{entry.state}{pinned}, version {entry.version}"
        say(row | {"is_dry_run": dry_run}, words)
    if not changes:
        say({"entry": None, "is_dry_run": dry_run}, "nothing to do")


def run_with(where: str | None, use: Callable[[Registry], Awaitable[Done]]) -> Done:
    """Use a registry, given or configured, from a command."""
    settings = load()

    async def used() -> Done:
        async with opened(where or settings.redis_url, settings.topic_prefix) as registry:
            return await use(registry)

    return asyncio.run(used())


def register(app: typer.Typer) -> None:
    """Add `registry` to the program."""
    app.add_typer(group, name="registry")
