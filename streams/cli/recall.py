"""`recall`: a goal → the most similar reasoning that may be reused."""

from typing import Annotated

import orjson
import typer

from schemas.jsonvalue import JsonObject
from streams.cli.show import show
from streams.recall import RECALLED_MAX, Recalled
from streams.recall import recall as find
from streams.running_page import from_owner, store_dsn
from streams.settings import ConfigError, load
from streams.store import QueryError

COLUMNS = ("score", "record_id", "goal", "tools", "confidence", "repairs", "stream_id")


def recall(
    goal: Annotated[str, typer.Argument(help="What is wanted, in any words.")],
    tool: Annotated[str | None, typer.Option(help="Only records whose calls used this tool.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, max=RECALLED_MAX, help="Most records shown.")] = 5,
    tenant: Annotated[str, typer.Option(help="Whose records.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines with the whole records.")] = False,
) -> int | None:
    """Reusable reasoning of earlier streams with a similar goal, best first; exit code 1 when there is none."""
    settings = load()
    asked: JsonObject = {"goal": goal, "tool": tool, "n": n, "tenant": tenant}
    try:
        answer = from_owner(settings, "/api/recall", asked)
    except QueryError as error:
        raise ConfigError(f"recall: {error}") from None
    found = answer["records"] if answer else [_row(one) for one in find(store_dsn(settings), **asked)]
    show(found, COLUMNS, as_json=as_json)
    return None if found else 1


def register(app: typer.Typer) -> None:
    """Add `recall` to the program."""
    app.command()(recall)


def _row(one: Recalled) -> JsonObject:
    row: JsonObject = orjson.loads(orjson.dumps(one))
    return row
