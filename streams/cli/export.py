"""`export`: take stored trajectories along."""

import gzip
import shutil
import sys
import tarfile
import urllib.error
import urllib.request
from contextlib import ExitStack, closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO, cast
from urllib.parse import urlencode

import typer

from schemas.jsonvalue import JsonObject
from streams import export as exports
from streams.cli.times import time_of
from streams.export import Choice, Tally
from streams.running_page import running_page, store_dsn
from streams.settings import ConfigError, load
from streams.store import EXPORT_S_MAX, QueryError, Reader, give_memory_back
from streams.training import FORMS


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


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(export)


def _write(reader: Reader, choice: Choice, form: str, out: str, tally: Tally) -> None:
    if form == "parquet":
        for name, content in exports.parquet(reader, choice, tally):
            _put(Path(out), name, content)
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
        if form == "parquet":
            with tarfile.open(fileobj=response, mode="r|") as parts:
                parts.extractall(out, filter="data")
        else:
            shutil.copyfileobj(response, _opened(stack, out))
    return True


def _put(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"-o {folder}: {error.strerror}") from None
