"""`export`, `tail`, `forget`: take trajectories along, watch them, delete them."""

import asyncio
import getpass
import gzip
import shutil
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, BinaryIO, cast
from urllib.parse import urlencode

import typer
from rich.console import Console

from schemas.jsonvalue import JsonObject
from schemas.wire import encode
from streams import export as exports
from streams.access_log import Access, AccessLog
from streams.audit import load_masters
from streams.audit_topics import erase_keys
from streams.cli.analytics import from_page, running_page, store_dsn
from streams.export import Choice, Tally
from streams.forget import BY, Forgotten
from streams.forget import forget as forget_in_store
from streams.settings import ConfigError, Settings, load
from streams.store import EXPORT_S_MAX, QueryError, Reader, give_memory_back
from streams.tail import Wanted, line_of
from streams.tail import steps as following
from streams.topics import load_topology
from streams.training import FORMS

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def time_of(text: str, now: datetime) -> datetime:
    """`15m`, `24h`, `7d` ago, or an ISO time (UTC where it says nothing else); raises ConfigError."""
    if text[-1:] in UNITS and text[:-1].isdigit():
        return now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{text!r} is not a time: 15m, 24h, 7d or 2026-11-30T10:00") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def export(
    form: Annotated[str, typer.Option("--format", help="jsonl, parquet, sharegpt or openai.")] = "jsonl",
    out: Annotated[
        str, typer.Option("-o", "--out", help="File (.gz packs it); a folder for parquet; - is standard output.")
    ] = "-",
    since: Annotated[str, typer.Option(help="From: 15m, 24h, 7d ago, or an ISO time.")] = "24h",
    until: Annotated[str, typer.Option(help="To: the same; default now.")] = "0s",
    outcome: Annotated[str, typer.Option(help="clean, repaired, partial, failed or open.")] = "",
    tenant: Annotated[str, typer.Option(help="Of this tenant only.")] = "",
    agent: Annotated[str, typer.Option(help="Of this agent only.")] = "",
    model: Annotated[str, typer.Option(help="Of this model only.")] = "",
    tool: Annotated[str, typer.Option(help="Runs that called this tool.")] = "",
) -> int:
    """Write stored trajectories: steps, or conversations for training; runs unfit for that go to a file beside."""
    if form not in exports.FORMATS:
        raise ConfigError(f"--format: {form!r} is none of {', '.join(exports.FORMATS)}")
    if form == "parquet" and out == "-":
        raise ConfigError("export: parquet is written to a folder; name one with -o")
    now = datetime.now(UTC)
    narrowed = {"outcome": outcome, "tenant": tenant, "agent": agent, "model": model, "tool": tool}
    choice = Choice(since=time_of(since, now), until=time_of(until, now), **narrowed)
    settings = load()
    dsn = store_dsn(settings)
    if dsn.startswith("chdb:") and (page := running_page(settings)) and _downloaded(page, choice, form, out):
        return 0
    tally = Tally()
    give_memory_back()
    try:
        with closing(Reader(dsn, seconds_max=EXPORT_S_MAX, threads_max=1)) as reader:
            _write(reader, choice, form, out, tally)
    except QueryError as error:
        raise ConfigError(f"export: {error}") from None
    left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.left_out.items()))
    print(f"{tally.runs} runs, {tally.steps} steps" + (f"; left out: {left_out}" if left_out else ""), file=sys.stderr)
    return 0 if tally.runs else 1


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
    for command in (export, tail, forget):
        app.command()(command)


def _say(done: Forgotten, keys: int, *, dry_run: bool) -> int:
    counts = ", ".join(f"{count} {table}" for table, count in done.rows.items() if count) or "no rows"
    print(
        f"{'would forget' if dry_run else 'forgot'} {len(done.stream_ids)} streams: {counts}; {keys} keys of originals"
    )
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


def _write(reader: Reader, choice: Choice, form: str, out: str, tally: Tally) -> None:
    if form == "parquet":
        exports.parquet(reader, choice, Path(out), tally)
        return
    with ExitStack() as stack:
        good = _opened(stack, out)
        if form not in FORMS:
            good.writelines(exports.jsonl(reader, choice, tally))
            return
        beside = None if out == "-" else _opened(stack, _beside(out))
        for line, is_fit in exports.training(reader, choice, form, tally):
            if is_fit:
                good.write(line)
            elif beside:
                beside.write(line)


def _beside(out: str) -> str:
    """`runs.jsonl.gz` → `runs.left-out.jsonl.gz`."""
    path = Path(out)
    stem, dot, endings = path.name.partition(".")
    return str(path.with_name(f"{stem}.left-out{dot}{endings}"))


def _opened(stack: ExitStack, out: str) -> BinaryIO:
    if out == "-":
        return sys.stdout.buffer
    try:
        file = stack.enter_context(Path(out).open("wb"))  # noqa: SIM115 - the stack closes it
    except OSError as error:
        raise ConfigError(f"-o {out}: {error.strerror}") from None
    if not out.endswith(".gz"):
        return file
    packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0)
    return cast("BinaryIO", stack.enter_context(packed))


def _downloaded(page: JsonObject, choice: Choice, form: str, out: str) -> bool:
    """Let the process that owns chDB write; False when its page does not answer."""
    query = asdict(choice) | {"format": form, "since": choice.since.isoformat(), "until": choice.until.isoformat()}
    if form == "parquet":
        raise ConfigError("export: a running `up` owns the store and its page writes no parquet; stop it first")
    request = urllib.request.Request(  # noqa: S310 - the address is our own file's
        f"{page['url']}/export/download?{urlencode(query)}", headers={"Authorization": f"Bearer {page['token']}"}
    )
    try:
        response = urllib.request.urlopen(request, timeout=60)  # noqa: S310
    except urllib.error.HTTPError as error:
        raise ConfigError(f"export: the page answers {error.code}") from None
    except OSError:  # nobody listens there any more
        return False
    with response, ExitStack() as stack:
        shutil.copyfileobj(response, _opened(stack, out))
    return True


async def _follow(settings: Settings, wanted: Wanted, start: int | None, *, as_json: bool) -> None:
    topic = f"{settings.topic_prefix}llm.steps"
    console = Console(soft_wrap=True)
    async for step in following(settings, topic, wanted, start):
        if as_json:
            sys.stdout.buffer.write(encode(step) + b"\n")
            sys.stdout.buffer.flush()
        else:
            console.print(line_of(step))
