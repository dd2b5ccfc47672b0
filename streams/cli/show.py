"""Rows → a table or sentences on the terminal, or JSON lines with `--json`: how every command prints.

Every command takes `--json`: one that has no use of its own for it gets it from the frame (`offer_json`), and what it
says through `say` is then JSON. Errors, too, become an object with `error` and `exit_code`.
"""

import sys
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Annotated, Any

import orjson
import typer
import typer.main
from rich.console import Console
from rich.table import Table

from schemas.jsonvalue import JsonObject

BY_NATURE = frozenset({"reveal", "feedback", "learn"})
"""Commands whose answers are JSON lines in any case."""

_is_json: ContextVar[bool] = ContextVar("is_json", default=False)


def offer_json(command: Any) -> None:
    """Let a command of the library take `--json`, if it does not."""
    options = {option for parameter in command.params for option in parameter.opts}
    if "--json" in options:
        return
    lender = typer.Typer(add_completion=False)
    lender.command()(_lent)
    option: Any = typer.main.get_command(lender).params[0]
    option.expose_value = False
    if "-o" in options or command.name in BY_NATURE:
        option.help = "Changes nothing: the answers are JSON lines."
    command.params.append(option)


def _lent(
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="JSON lines instead of sentences.", callback=lambda given: want_json(is_wanted=given)
        ),
    ] = False,
) -> None:
    """Never run: its option is what is wanted, made the way that the library makes one."""


def want_json(*, is_wanted: bool) -> None:
    """Whether what is said from here on is JSON."""
    _is_json.set(is_wanted)


def say(row: JsonObject, words: str) -> None:
    """One thing that a command has to say: a sentence, or with `--json` an object."""
    if _is_json.get():
        write([row])
    else:
        print(words, flush=True)


def write(rows: Iterable[JsonObject]) -> None:
    """JSON lines."""
    for row in rows:
        sys.stdout.buffer.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE, default=str))
    sys.stdout.buffer.flush()


def show(rows: Iterable[JsonObject], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows: as a table of the named columns, or whole as JSON lines."""
    if as_json:
        write(rows)
        return
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    Console().print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value)
