"""A database → a tool that reads it: one SELECT, with limits on rows, time and memory.

ClickHouse and chDB are read through the same reader as the page's SQL: `readonly` is set on the handle, so nothing can
be written, no file or address reached, no limit raised. SQLite is opened read-only, and its authorizer refuses
everything but reading tables: no ATTACH, no PRAGMA, no extension.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from processors.dispatching.errors import ErrorRule, Fault
from processors.dispatching.policy import ToolRule
from processors.repair import ToolSchema, compile_tool
from processors.tools.definition import tool_of
from schemas.jsonvalue import Json, JsonObject
from streams.executing.protocol import ANSWER_BYTES_MAX, Answer, described, wrong_in
from streams.rows import Row
from streams.store import QueryError, Reader, Table, one_select

SQLITE = "sqlite://"
ROWS_MAX = 100
SECONDS_MAX = 5
CHARS_MAX = 20_000
VALUE_BYTES_MAX = 1_000_000
"""Largest value that SQLite may make: `zeroblob(10**9)` is a short query."""
COLUMNS_MAX = 100
"""Most columns of an answer from SQLite: its rows are made one at a time, so 100 MB of the largest values at most."""
STEPS_BETWEEN_LOOKS = 10_000
"""Steps of SQLite's machine, some tenths of a millisecond."""
_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {"sql": {"type": "string", "minLength": 1, "maxLength": CHARS_MAX, "description": "One SELECT."}},
    "required": ["sql"],
    "additionalProperties": False,
}
_MAY = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_MAY_NOT_CALL = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlLimits:
    """Most that one query may use."""

    rows_max: int = ROWS_MAX
    seconds_max: int = SECONDS_MAX


@dataclass(slots=True, eq=False)
class SqlTool:
    """One database to ask."""

    dsn: str
    definition: JsonObject
    schema: ToolSchema
    limits: SqlLimits
    rule: ToolRule = field(default_factory=lambda: ToolRule(has_side_effects=False))
    error_rules: tuple[ErrorRule, ...] = ()
    _reader: Reader | None = None
    _opening: Lock = field(default_factory=Lock)

    @property
    def endpoint(self) -> str:
        """The database: when it is away, it is so for all who ask it."""
        return f"sql:{self.definition['name']}"

    def describe(self) -> JsonObject:
        """The tool's definition."""
        return self.definition

    def validate(self, arguments: JsonObject) -> str | None:
        """What the schema does not allow, or what is not one SELECT."""
        if wrong := wrong_in(self.schema, arguments):
            return wrong
        try:
            one_select(arguments["sql"])
        except QueryError as error:
            return f"sql: {error}"
        return None

    async def execute(self, arguments: JsonObject, execution_id: str) -> Answer | Fault:  # noqa: ARG002 - it reads
        """Ask."""
        try:
            table = await asyncio.to_thread(self._ask, str(arguments["sql"]))
        except (QueryError, sqlite3.Error) as error:
            return Fault(kind="sql", text=str(error))
        rows, limit = list(table.rows), self.limits.rows_max
        return Answer({"columns": list(table.columns), "rows": rows[:limit], "is_cut": len(rows) > limit})

    def close(self) -> None:
        """Give the handles back."""
        if self._reader:
            self._reader.close()

    def _ask(self, sql: str) -> Table:
        rows_max = self.limits.rows_max + 1  # one more shows that the answer was cut
        if self.dsn.startswith(SQLITE):
            return _ask_sqlite(self.dsn.removeprefix(SQLITE), one_select(sql), rows_max, self.limits.seconds_max)
        with self._opening:
            self._reader = self._reader or Reader(self.dsn, seconds_max=self.limits.seconds_max)
        return self._reader.query_of_a_person(sql, rows_max)


def sql_tool(
    name: str, dsn: str, description: str = "", limits: SqlLimits | None = None, schema: Mapping[str, str] | None = None
) -> SqlTool:
    """A database as a tool; raises ToolFormatError.

    dsn: as `clickhouse_dsn`, or `sqlite:///path/to/file`. schema: tables and what is in them, for whoever asks.
    """
    tables = "\n".join(f"{table}: {columns}" for table, columns in (schema or {}).items())
    said = "\n".join(filter(None, (description, "One SELECT over these tables:" if tables else "", tables)))
    definition = described(
        tool_of({"name": name, "description": said, "annotations": {"readOnlyHint": True}}, _PARAMETERS, name), "none"
    )
    return SqlTool(dsn, definition, compile_tool(definition), limits or SqlLimits())


def _ask_sqlite(path: str, sql: str, rows_max: int, seconds_max: float) -> Table:
    deadline = time.monotonic() + seconds_max
    with closing(sqlite3.connect(f"file:{quote(str(Path(path).absolute()))}?mode=ro", uri=True, timeout=1)) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        database.set_authorizer(_authorized)
        database.set_progress_handler(lambda: int(time.monotonic() > deadline), STEPS_BETWEEN_LOOKS)
        try:
            answer = database.execute(sql)
            if len(answer.description) > COLUMNS_MAX:
                raise QueryError(f"more than {COLUMNS_MAX} columns")
            rows = _within(answer, rows_max)
        except sqlite3.OperationalError as error:
            if str(error) == "interrupted":
                raise QueryError(f"the query took longer than {seconds_max:g} s") from None
            raise
        columns = tuple(column[0] for column in answer.description)
    return Table(columns, ("",) * len(columns), rows)


def _within(answer: Iterable[Row], rows_max: int) -> list[Row]:
    """The first rows; none after those that are more text than is kept of an answer."""
    rows: list[Row] = []
    chars = 0
    for row in answer:
        rows.append(tuple(map(_plain, row)))
        chars += sum(len(value) for value in rows[-1] if isinstance(value, str))
        if len(rows) == rows_max or chars > ANSWER_BYTES_MAX:
            break
    return rows


def _authorized(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    called = (second or first or "").lower() if action == sqlite3.SQLITE_FUNCTION else ""
    return sqlite3.SQLITE_OK if action in _MAY and called not in _MAY_NOT_CALL else sqlite3.SQLITE_DENY


def _plain(value: Json) -> Json:
    return value.hex() if isinstance(value, bytes) else value
