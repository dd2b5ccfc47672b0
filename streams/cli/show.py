"""Rows → a table on the terminal, or JSON lines with `--json`: how every read command prints."""

import sys
from collections.abc import Iterable, Sequence

import orjson
from rich.console import Console
from rich.table import Table

from schemas.jsonvalue import JsonObject


def show(rows: Iterable[JsonObject], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows: as a table of the named columns, or whole as JSON lines."""
    if as_json:
        for row in rows:
            sys.stdout.buffer.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE, default=str))
        sys.stdout.buffer.flush()
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
