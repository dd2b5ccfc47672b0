"""`audit …`: originals that clean took out, for those who may read them, and the keys they are sealed with."""

import asyncio
import getpass
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer

from schemas.audit import AuditKey, AuditRecord
from streams.access_log import Access, AccessLog
from streams.audit import MasterKeys, SealError, load_masters, opened, ring_text, with_new_key
from streams.audit_store import AuditStore
from streams.audit_topics import erase_keys, read_audit
from streams.cli.show import say
from streams.settings import ConfigError, Settings, load
from streams.topics import load_topology

audit = typer.Typer(help="Originals that clean took out: read, erase, verify; and their keys.", no_args_is_help=True)
keys = typer.Typer(help="Master keys of the audit log.", no_args_is_help=True)
audit.add_typer(keys, name="keys")

Stream = Annotated[str, typer.Option("--stream", help="The stream's id.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; goes to the access log.")]
Store = Annotated[
    Path | None, typer.Option("--store", help="Folder that `audit keep` fills; without it the topics are read.")
]


@audit.command()
def reveal(
    stream: Stream,
    reason: Reason,
    only: Annotated[str | None, typer.Option("--type", help="Only originals of this type, e.g. PHONE.")] = None,
    store: Store = None,
) -> int:
    """Print a stream's originals with where they stood, one JSON line each; the reading is logged first."""
    settings, masters, who = _allowed(reason)
    records, wrapped = _sealed(settings, store, stream)
    try:
        entries = [entry for entry in opened(records, wrapped, masters) if only is None or entry.type == only.upper()]
    except SealError as error:
        typer.echo(f"audit: {stream}: {error}", err=True)
        return 1
    types = tuple(sorted({entry.type for entry in entries}))
    _log(settings, masters).append(
        Access(ts=_now(), who=who, action="reveal", stream_id=stream, reason=reason, types=types, count=len(entries))
    )
    for entry in entries:
        typer.echo(orjson.dumps(entry).decode())
    return 0 if entries else 1


@audit.command()
def shred(stream: Stream, reason: Reason, store: Store = None) -> int:
    """Erase a stream's data keys, so that nobody can read its originals again."""
    settings, masters, who = _allowed(reason)
    _log(settings, masters).append(Access(ts=_now(), who=who, action="shred", stream_id=stream, reason=reason))
    if store is not None:
        erased = AuditStore(store).erase_keys(stream)
    else:
        erased = asyncio.run(erase_keys(settings, load_topology(settings), stream))
    say({"stream_id": stream, "keys_erased": erased}, f"keys erased: {erased}")
    return 0 if erased else 1


@audit.command()
def keep(store: Annotated[Path, typer.Option("--store", help="Folder to append to.")]) -> None:
    """Copy what the audit topics hold now, and is not there yet, to an append-only folder."""
    settings = load()
    items = asyncio.run(read_audit(settings, load_topology(settings)))
    added = AuditStore(store).add(items)
    say({"records_added": added}, f"records added: {added}")


@audit.command()
def verify(store: Store = None) -> int:
    """Find tampering: in the access log, and in the folder's records."""
    settings = load()
    problems = [f"access log: {problem}" for problem in _log(settings, _masters(settings)).problems()]
    problems += AuditStore(store).problems() if store is not None else []
    for problem in problems:
        say({"problem": problem}, problem)
    if not problems:
        say({"problem": None}, "nothing was changed")
    return 1 if problems else 0


@keys.command("new")
def new_ring(path: Annotated[Path, typer.Argument(help="File to make; it must not exist.")]) -> None:
    """Make a ring with one master key, readable by its owner alone."""
    _write_ring(path, with_new_key(None), os.O_EXCL)
    say({"made": str(path)}, f"made {path}; set HERMES_AUDIT_KEYS=file:{path}")


@keys.command()
def rotate(path: Annotated[Path, typer.Argument(help="The ring's file.")]) -> None:
    """Add a master key and make it the current one; streams sealed before stay readable."""
    masters = load_masters(f"file:{path}")
    assert masters is not None, "a file was named"
    fresh = with_new_key(masters)
    _write_ring(path, fresh, os.O_TRUNC)
    say({"current": fresh.current}, f"current: {fresh.current}")


@keys.command("list")
def list_keys() -> None:
    """Names of the master keys in use; never the keys."""
    masters = _masters(load())
    for name in masters.keys:
        is_current = name == masters.current
        say({"key": name, "is_current": is_current}, f"{name}{'  current' if is_current else ''}")


def _write_ring(path: Path, masters: MasterKeys, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | mode, 0o600)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(ring_text(masters))


def _masters(settings: Settings) -> MasterKeys:
    masters = load_masters(settings.audit_keys)
    if masters is None:
        raise ConfigError("HERMES_AUDIT_KEYS is not set: no master keys")
    return masters


def _allowed(reason: str) -> tuple[Settings, MasterKeys, str]:
    settings = load()
    user = getpass.getuser()
    readers = {name.strip() for name in settings.audit_readers.split(",") if name.strip()}
    if readers and user not in readers:
        raise ConfigError(f"{user} is not among HERMES_AUDIT_READERS")
    if not reason.strip():
        raise ConfigError("--reason: must say why")
    return settings, _masters(settings), f"{user}@{socket.gethostname()}"


def _sealed(settings: Settings, store: Path | None, stream: str) -> tuple[list[AuditRecord], list[AuditKey]]:
    if store is not None:
        return AuditStore(store).of(stream)
    items = [item for item in asyncio.run(read_audit(settings, load_topology(settings))) if item.stream_id == stream]
    records = [item for item in items if isinstance(item, AuditRecord)]
    return records, [item for item in items if isinstance(item, AuditKey)]


def _log(settings: Settings, masters: MasterKeys) -> AccessLog:
    return AccessLog(Path(settings.data_dir) / "audit", masters)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def register(app: typer.Typer) -> None:
    """Add `audit` to the program."""
    app.add_typer(audit, name="audit")
