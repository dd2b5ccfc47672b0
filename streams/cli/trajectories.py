"""`tail`, `forget`: watch trajectories, delete them."""

import asyncio
import getpass
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from schemas.wire import encode
from streams.access_log import Access, AccessLog
from streams.audit import load_masters
from streams.audit_topics import erase_keys
from streams.cli.show import say
from streams.cli.times import time_of
from streams.forget import BY, Forgotten
from streams.forget import forget as forget_in_store
from streams.running_page import from_page, running_page, store_dsn
from streams.settings import ConfigError, Settings, load
from streams.store import QueryError
from streams.tail import Wanted, line_of
from streams.tail import steps as following
from streams.topics import load_topology


def tail(
    status: Annotated[str, typer.Option(help="Only this status; `error` is every status that is one.")] = "",
    run: Annotated[str, typer.Option(help="Only this run or stream.")] = "",
    kind: Annotated[str, typer.Option(help="Only this kind: reasoning, tool_call, response, state, failure.")] = "",
    tenant: Annotated[str, typer.Option(help="Only this tenant.")] = "",
    since: Annotated[str, typer.Option(help="Begin in the past: 15m, 24h or an ISO time.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of coloured ones.")] = False,
) -> None:
    """Follow clean steps as they come, until Ctrl-C."""
    settings = load()
    if (page := running_page(settings)) and page.get("kafka_bootstrap"):
        settings = replace(settings, kafka_bootstrap=page["kafka_bootstrap"])
    start = int(time_of(since, datetime.now(UTC)).timestamp() * 1000) if since else None
    wanted = Wanted(status=status, run=run, kind=kind, tenant=tenant)
    with suppress(KeyboardInterrupt):
        asyncio.run(_follow(settings, wanted, start, as_json=as_json))


def forget(
    stream: Annotated[str, typer.Option(help="Forget this stream.")] = "",
    run: Annotated[str, typer.Option(help="Forget this run's streams.")] = "",
    session: Annotated[str, typer.Option(help="Forget this session's streams.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
) -> int:
    """Delete rows and texts of a stream, run or session. Topics keep records until their retention ends."""
    given = [(by, name) for by, name in zip(BY, (stream, run, session), strict=True) if name]
    if len(given) != 1:
        raise ConfigError("forget: name one of --stream, --run, --session")
    by, name = given[0]
    settings = load()
    dsn = store_dsn(settings)
    try:
        if dsn.startswith("chdb:") and (page := running_page(settings)):
            body = {"by": by, "name": name, "dry_run": dry_run}
            if answer := from_page(page, "/api/forget", body):
                done = Forgotten(tuple(answer["streams"]), answer["rows"], is_off_disk=answer["is_off_disk"])
                settings = replace(settings, kafka_bootstrap=page.get("kafka_bootstrap") or settings.kafka_bootstrap)
                return _say(done, 0 if dry_run else _erase_originals(settings, done), dry_run=dry_run)
        done = forget_in_store(dsn, by, name, dry_run=dry_run)
    except QueryError as error:
        raise ConfigError(f"forget: {error}") from None
    return _say(done, 0 if dry_run else _erase_originals(settings, done), dry_run=dry_run)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (tail, forget):
        app.command()(command)


def _say(done: Forgotten, keys: int, *, dry_run: bool) -> int:
    counts = ", ".join(f"{count} {table}" for table, count in done.rows.items() if count) or "no rows"
    verb = "would forget" if dry_run else "forgot"
    row = {"streams": len(done.stream_ids), "rows": done.rows, "keys": keys, "is_dry_run": dry_run}
    say(row, f"{verb} {len(done.stream_ids)} streams: {counts}; {keys} keys of originals")
    if not dry_run and any(done.rows.values()) and not done.is_off_disk:
        print("old parts are still on disk; ClickHouse removes them within ten minutes", file=sys.stderr)
    return 0 if any(done.rows.values()) or keys else 1


def _erase_originals(settings: Settings, done: Forgotten) -> int:
    """Erase the data keys of the audit log's originals: without its key a sealed original can't be read by anybody."""
    masters = load_masters(settings.audit_keys)
    if masters is None:
        return 0
    log, topology, who = (
        AccessLog(Path(settings.data_dir) / "audit", masters),
        load_topology(settings),
        getpass.getuser(),
    )
    erased = 0
    for stream_id in done.stream_ids:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        log.append(Access(ts=now, who=who, action="shred", stream_id=stream_id, reason="forget"))
        erased += asyncio.run(erase_keys(settings, topology, stream_id))
    return erased


async def _follow(settings: Settings, wanted: Wanted, start: int | None, *, as_json: bool) -> None:
    topic = f"{settings.topic_prefix}llm.steps"
    console = Console(soft_wrap=True)
    async for step in following(settings, topic, wanted, start):
        if as_json:
            sys.stdout.buffer.write(encode(step) + b"\n")
            sys.stdout.buffer.flush()
        else:
            console.print(line_of(step))
