"""`sql`, `migrate`: the ClickHouse tables from the terminal."""

import asyncio
import json
import signal
import sys
import urllib.error
import urllib.request
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import typer

from schemas.jsonvalue import JsonObject
from streams.cli.show import show
from streams.migrations import MigrationError
from streams.settings import ConfigError, ServerAwayError, Settings, load
from streams.store import QueryError, Reader
from streams.trajectories_to_clickhouse import Sink
from streams.web.app import PAGE_FILE
from streams.web.serve import serving

ANSWER_S_MAX = 120
DSN_DEFAULT = next(str(field.default) for field in fields(Settings) if field.name == "clickhouse_dsn")


def store_dsn(settings: Settings) -> str:
    """The configured store; when none is, and the data directory has an embedded one, that."""
    embedded = Path(settings.data_dir).absolute() / "clickhouse"
    if settings.clickhouse_dsn == DSN_DEFAULT and embedded.is_dir():
        return f"chdb://{embedded}"
    return settings.clickhouse_dsn


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT; - reads it from standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")] = False,
) -> int | None:
    """Ask the trajectory tables with a SELECT; at most 10,000 rows and 5 s."""
    text = sys.stdin.read() if query == "-" else query
    settings = load()
    try:
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
    print("\n".join(f"applied {name}" for name in applied) or "nothing to do")


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


def running_page(settings: Settings) -> JsonObject | None:
    """Address and token of the page that runs on this data directory, if one does."""
    try:
        page: JsonObject = json.loads((Path(settings.data_dir).absolute() / PAGE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return page


def from_page(page: JsonObject, path: str, body: JsonObject) -> JsonObject | None:
    """The running page's answer; None when no page answers, because its process was killed."""
    request = urllib.request.Request(  # noqa: S310 - the address is our own file's
        f"{page['url']}{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {page['token']}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S_MAX) as response:  # noqa: S310
            answer: JsonObject = json.load(response)
    except urllib.error.HTTPError as error:
        raise QueryError(json.load(error).get("error", str(error))) from None
    except TimeoutError:
        raise ServerAwayError(f"{page['url']} does not answer") from None
    except OSError:  # nobody listens there any more
        return None
    return answer


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving(replace(settings, clickhouse_dsn=store_dsn(settings))) as page:
        print(f"the page is at {page.url}", flush=True)
        await stop.wait()


def _asked(settings: Settings, text: str) -> tuple[list[str], list[JsonObject]]:
    """ChDB lets only one process open its path: while that process shows its page, the page is asked."""
    dsn = store_dsn(settings)
    if (
        dsn.startswith("chdb:")
        and (page := running_page(settings))
        and (answer := from_page(page, "/api/sql", {"sql": text}))
    ):
        return answer["columns"], answer["rows"]
    with closing(Reader(dsn)) as reader:
        table = reader.query_of_a_person(text)
    return list(table.columns), table.records()
