"""Address → ClickHouse or chDB handles: one that writes, one that can only read. No other module opens a client.

chDB lives in this process and lets only one process open its path; several handles in that process are fine, and each
serves one query at a time, so the reader keeps a few. A reader's handle has `readonly = 1` set last: from then on no
query can raise its own limits, write, or reach files and addresses through table functions.
"""

import os
import re
import shutil
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, LifoQueue
from tempfile import gettempdir
from urllib.parse import urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, OperationalError

from schemas.jsonvalue import Json
from streams.disk import CREATE_BYTES_MIN, is_disk_trouble, must_be_writable, unwritable
from streams.rows import Row, without_surrogates
from streams.settings import ServerAwayError

READERS = 4
"""Handles for reading: queries that may run at the same time."""
QUERY_S_MAX = 5
QUERY_BYTES_MAX = 1 << 30
RESULT_ROWS_MAX = 10_000
"""Most rows of one answer to a person; exports have no such limit."""
EXPORT_S_MAX = 3_600
CAUSES_MAX = 10
"""How far the cause of an error is looked for."""
ROW_FAULTS = (ClickHouseError, UnicodeError, OverflowError, struct.error, ValueError, TypeError, AttributeError)
"""What the client raises for a value that a column can't take."""
REFUSED_MAX = 100
"""Rows of one insert that may be refused; more means that the server is at fault, not the rows."""
_OUTSIDE_STRINGS = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL
)


class QueryError(ValueError):
    """A query that the database did not take; the message says why."""


@dataclass(frozen=True, slots=True)
class Table:
    """An answer: names, types and rows."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[Row]

    def records(self) -> list[dict[str, Json]]:
        """Rows as objects."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def give_memory_back() -> None:
    """Let the embedded engine return freed memory at once; before it is loaded. Queries take up to a half longer.

    Its allocator otherwise keeps pages for later: 31 batches of an export grew the process by 260 MB that nobody used.
    """
    os.environ.setdefault("JE_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")


def open_client(dsn: str) -> Client:
    """A handle for `http(s)://…/database` or `chdb:///path`; makes the database if need be. Raises ServerAwayError."""
    address = urlsplit(dsn)
    is_embedded = address.scheme == "chdb"
    database = "hermes" if is_embedded else address.path.strip("/") or "hermes"
    try:
        if is_embedded:
            if not (Path(address.path) / "metadata" / f"{database}.sql").exists():
                must_be_writable(Path(address.path), "the store")
            client = clickhouse_connect.get_client(interface="chdb", path=address.path, tz_mode="aware")
        else:
            client = clickhouse_connect.get_client(
                dsn=address._replace(path="").geturl(), autogenerate_session_id=False, tz_mode="aware"
            )
        if not client.command(f"EXISTS DATABASE `{database}`"):  # a user who may only read may not say CREATE at all
            client.command(f"CREATE DATABASE IF NOT EXISTS `{database}`")
        client.database = database
    except ImportError:
        raise ServerAwayError(
            f"{dsn}: the embedded engine is not installed; pip install 'hermes-streams[embedded]'"
        ) from None
    except (ClickHouseError, OSError) as error:
        shown = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
        if is_embedded:
            raise _not_opened(Path(address.path), shown, short_error(error)) from None
        raise ServerAwayError(f"ClickHouse at {shown}: {short_error(error)}") from None
    return client


def _not_opened(path: Path, shown: str, why: str) -> ServerAwayError:
    """ChDB says why only on stderr: whether it may write there is looked at here."""
    inside = [path, *(path / name for name in ("status", "data", "metadata", "store"))]
    if not all(os.access(one, os.W_OK) for one in inside if one.exists()):
        return unwritable(path, "the store", "not writable for this user")
    if shutil.disk_usage(path).free < CREATE_BYTES_MIN:
        return unwritable(path, "the store", f"its disk is full ({why})")
    held = "it may be held by another process, such as `up` or `run sink`: end that first"
    return ServerAwayError(f"ClickHouse at {shown}: {why}; {held}")


@contextmanager
def full_disk_is_away() -> Iterator[None]:
    """What the database says of a full or read-only disk becomes a ServerAwayError: it passes, and nothing is lost."""
    try:
        yield
    except ClickHouseError as error:
        if not is_disk_trouble(error):
            raise
        raise unwritable("its disk", "the store", short_error(error)) from None


@dataclass(frozen=True, slots=True)
class Columns:
    """Where rows go: a table, names and types of the columns."""

    table: str
    names: Sequence[str]
    types: Sequence[str]


def columns_of(client: Client, table: str, names: Sequence[str]) -> Columns:
    """Ask for the types once: the client would ask again for each insert, which is a third of a small insert's time."""
    described = {row[0]: row[1] for row in client.query(f"DESCRIBE TABLE {table}").result_rows}
    return Columns(table, names, [described[name] for name in names])


def insert(client: Client, columns: Columns, rows: list[Row], token: str) -> list[Row]:
    """Insert rows; the rows that the table doesn't take, found by halving. Raises ServerAwayError."""
    refused: list[Row] = []
    parts = [rows] if rows else []
    while parts:
        part = parts.pop()
        settings = {"insert_deduplication_token": token} if part is rows else None
        names, types, values = _given(columns, part)
        try:
            client.insert(
                columns.table,
                values,
                column_names=names,
                column_type_names=types,
                column_oriented=True,
                settings=settings,
            )
        except OperationalError as error:
            raise ServerAwayError(f"ClickHouse: {short_error(error)}") from None
        except OSError as error:  # chDB's client lays a batch into a temporary file first
            if not is_disk_trouble(error):
                raise
            raise unwritable(gettempdir(), "a batch for the store", error.strerror or "") from None
        except ROW_FAULTS as fault:
            if is_disk_trouble(fault):
                raise unwritable("its disk", "the store", short_error(fault)) from None
            if len(part) > 1:
                half = len(part) // 2
                parts += [part[:half], part[half:]]
                continue
            if isinstance(fault, UnicodeError):
                parts.append([tuple(without_surrogates(part[0]))])
                continue
            refused += part
            if len(refused) > REFUSED_MAX:
                raise
    return refused


def _given(columns: Columns, rows: list[Row]) -> tuple[list[str], list[str], list[Sequence[Json]]]:
    """Columns of the rows, without those that hold only empty values: the table's defaults are the same."""
    names: list[str] = []
    types: list[str] = []
    values: list[Sequence[Json]] = []
    for name, kind, column in zip(columns.names, columns.types, zip(*rows, strict=True), strict=True):
        if any(column) or not names:
            names.append(name)
            types.append(kind)
            values.append(column)
    return names, types, values


class Reader:
    """Read-only queries with limits on time, memory and rows; may be shared between threads."""

    def __init__(
        self, dsn: str, *, seconds_max: int = QUERY_S_MAX, handles: int = READERS, threads_max: int = 0
    ) -> None:
        self.dsn, self._seconds_max, self._threads_max = dsn, seconds_max, threads_max
        self._handles: LifoQueue[Client] = LifoQueue()
        self._spare = handles - 1
        self._handles.put(self._open())

    def query(self, sql: str, parameters: dict[str, Json] | None = None) -> Table:
        """Answer of a query of ours; raises QueryError."""
        with self._handle() as client:
            try:
                answer = client.query(sql, parameters=parameters)
            except ClickHouseError as error:
                raise QueryError(short_error(error)) from None
        types = tuple(kind.name for kind in answer.column_types)
        return Table(tuple(answer.column_names), types, [tuple(row) for row in answer.result_rows])

    def query_of_a_person(self, sql: str, rows_max: int = RESULT_ROWS_MAX) -> Table:
        """Answer of a query that a person typed: one SELECT, at most `rows_max` rows; raises QueryError."""
        return self.query(f"SELECT * FROM (\n{one_select(sql)}\n) LIMIT {rows_max:d}")  # noqa: S608 - that is the point

    def raw(self, sql: str, parameters: dict[str, Json] | None = None, form: str = "JSONEachRow") -> bytes:
        """A large answer as bytes in one of ClickHouse's formats."""
        with self._handle() as client:
            try:
                answer: bytes = client.raw_query(sql, parameters=parameters, fmt=form)
            except ClickHouseError as error:
                raise QueryError(short_error(error)) from None
        return answer

    def close(self) -> None:
        """Give all handles back."""
        while True:
            try:
                self._handles.get_nowait().close()
            except Empty:
                return

    @contextmanager
    def _handle(self) -> Iterator[Client]:
        try:
            client = self._handles.get_nowait()
        except Empty:
            client = self._open_spare() or self._handles.get()
        try:
            yield client
        finally:
            self._handles.put(client)

    def _open_spare(self) -> Client | None:
        if self._spare <= 0:
            return None
        self._spare -= 1
        return self._open()

    def _open(self) -> Client:
        client = open_client(self.dsn)
        limits = {
            "do_not_merge_across_partitions_select_final": 1,
            "max_execution_time": self._seconds_max,
            "max_memory_usage": QUERY_BYTES_MAX,
            "output_format_json_quote_64bit_integers": 0,
            "max_threads": self._threads_max,
            "readonly": 1,
        }
        for name, value in limits.items():
            client.set_client_setting(name, str(value))
        return client


def one_select(sql: str) -> str:
    """The text of one SELECT; raises QueryError for several statements, other statements and INTO OUTFILE.

    The text will stand in parentheses, so it must not be able to close them: brackets outside of strings and comments
    must balance from the left.
    """
    text = sql.strip().rstrip(";").strip()
    bare = _OUTSIDE_STRINGS.sub(" ", text)
    if not re.match(r"\(*\s*(?:SELECT|WITH)\b", bare.strip(), re.IGNORECASE):
        raise QueryError("Only one SELECT can be asked here.")
    if ";" in bare:
        raise QueryError("Only one statement can be asked here.")
    if re.search(r"\bOUTFILE\b", bare, re.IGNORECASE) or "$" in bare:
        raise QueryError("INTO OUTFILE and heredocs are not allowed.")
    if re.search(r"\bSETTINGS\s+\w+\s*=", bare, re.IGNORECASE):
        raise QueryError("Limits can't be changed here.")
    depth = 0
    for character in re.findall(r"[()]", bare):
        depth += 1 if character == "(" else -1
        if depth < 0:
            break
    if depth:
        raise QueryError("Parentheses don't balance.")
    return text


def short_error(error: Exception) -> str:
    """The database's message without its class and version trailer, at most 500 characters."""
    cause: BaseException | None = error
    for _ in range(CAUSES_MAX):  # the HTTP client's own words are long and say nothing more than the system's
        if isinstance(cause, OSError) and cause.strerror:
            return f"no answer: {cause.strerror}"
        cause = getattr(cause, "reason", None) or (cause and (cause.__cause__ or cause.__context__))
    text = re.sub(r"(?:Code: \d+\. )?(?:DB::)?Exception: ", "", str(error))
    text = re.sub(r"\s*\(version [^)]*\).*", "", text, flags=re.DOTALL).strip()[:500]
    return f"{text}; `hermes-streams migrate` makes our tables" if text.endswith("(UNKNOWN_TABLE)") else text
