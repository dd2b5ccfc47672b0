"""`sql`, `migrate`: the ClickHouse tables from the terminal."""

import asyncio
import signal
import sys
from contextlib import closing
from dataclasses import replace
from typing import Annotated

import typer

from schemas.jsonvalue import JsonObject
from streams.cli.show import say, show
from streams.migrations import MigrationError
from streams.running_page import from_owner, store_dsn
from streams.settings import ConfigError, Settings, load
from streams.store import QueryError, Reader, one_select
from streams.trajectories_to_clickhouse import Sink
from streams.web.serve import serving


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT; - reads it from standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")] = False,
) -> int | None:
    """Ask the trajectory tables with a SELECT; at most 10,000 rows and 5 s."""
    text = sys.stdin.read() if query == "-" else query
    settings = load()
    try:
        one_select(text)  # what can't be asked is told before a server is
        columns, records = _asked(settings, text)
    except QueryError as error:
        raise ConfigError(f"sql: {error}") from None
    show(records, columns, as_json=as_json)
    return None if records else 1


def migrate() -> None:
    """Bring the ClickHouse tables to this version; does nothing when they are."""
    with closing(Sink(store_dsn(load()))) as sink:
        try:
            applied = sink.migrate()
        except MigrationError as error:
            raise ConfigError(f"migrate: {error}") from None
    for name in applied:
        say({"applied": name}, f"applied {name}")
    if not applied:
        say({"applied": None}, "nothing to do")


def web(
    port: Annotated[int, typer.Option(help="Port; when it is in use, one of the next.")] = 0,
) -> None:
    """Show runs, steps, failures, patterns and dashboards in a browser, until Ctrl-C."""
    settings = load()
    if port:
        settings = replace(settings, web_port=port)
    asyncio.run(_serve(settings))


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(sql)
    app.command()(migrate)
    app.command()(web)


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving(replace(settings, clickhouse_dsn=store_dsn(settings))) as page:
        say({"page": page.url}, f"the page is at {page.url}")
        await stop.wait()


def _asked(settings: Settings, text: str) -> tuple[list[str], list[JsonObject]]:
    """ChDB lets only one process open its path: while that process shows its page, the page is asked."""
    if answer := from_owner(settings, "/api/sql", {"sql": text}):
        return answer["columns"], answer["rows"]
    with closing(Reader(store_dsn(settings))) as reader:
        table = reader.query_of_a_person(text)
    return list(table.columns), table.records()
