"""`recall`: a goal → the most similar reasoning that may be reused."""

import sys
from typing import Annotated

import orjson
import typer

from processors.reasoning.reminder import TOKENS_DEFAULT, TOKENS_MIN
from schemas.jsonvalue import JsonObject
from streams.cli.show import show
from streams.recall import RECALLED_MAX, Recalled
from streams.recall import recall as find
from streams.reminding import Wanted, remind
from streams.running_page import from_owner, store_dsn
from streams.settings import ConfigError, Settings, load
from streams.store import QueryError

COLUMNS = ("score", "record_id", "goal", "tools", "confidence", "repairs", "stream_id")


def recall(
    goal: Annotated[str, typer.Argument(help="What is wanted, in any words.")],
    tool: Annotated[str | None, typer.Option(help="Only records whose calls used this tool.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, max=RECALLED_MAX, help="Most records shown.")] = 5,
    tenant: Annotated[str, typer.Option(help="Whose records.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines with the whole records.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="A text for the next prompt instead of a table.")] = False,
    run: Annotated[str, typer.Option(help="prompt: the run whose first goal and calls are restated.")] = "",
    done: Annotated[list[str] | None, typer.Option(help="prompt: a step that was done; repeatable.")] = None,
    offers: Annotated[list[str] | None, typer.Option(help="prompt: a tool that it offers; repeatable.")] = None,
    tokens_max: Annotated[int, typer.Option(min=TOKENS_MIN, help="prompt: most tokens.")] = TOKENS_DEFAULT,
) -> int | None:
    """Reusable reasoning of earlier streams with a similar goal, best first; exit code 1 when there is none.

    With --prompt: goal, steps that were done, strategies of the tools and similar work, as one text of bounded length.
    """
    settings = load()
    if prompt:
        offered = tuple(dict.fromkeys([*(offers or ()), *([tool] if tool else [])]))
        wanted = Wanted(goal=goal, run=run, done=tuple(done or ()), tools=offered, tenant=tenant, similar_max=n)
        _prompt(settings, wanted, tokens_max, as_json=as_json)
        return None
    asked: JsonObject = {"goal": goal, "tool": tool, "n": n, "tenant": tenant}
    try:
        answer = from_owner(settings, "/api/recall", asked)
        found = answer["records"] if answer else [_row(one) for one in find(store_dsn(settings), **asked)]
    except QueryError as error:
        raise ConfigError(f"recall: {error}") from None
    show(found, COLUMNS, as_json=as_json)
    return None if found else 1


def _prompt(settings: Settings, wanted: Wanted, tokens_max: int, *, as_json: bool) -> None:
    try:
        found, missing = remind(settings, wanted, tokens_max)
    except QueryError as error:
        raise ConfigError(f"recall: {error}") from None
    if missing:
        print(f"without strategies: {missing}", file=sys.stderr)
    print(orjson.dumps(found).decode() if as_json else found.text)


def register(app: typer.Typer) -> None:
    """Add `recall` to the program."""
    app.command()(recall)


def _row(one: Recalled) -> JsonObject:
    row: JsonObject = orjson.loads(orjson.dumps(one))
    return row
