"""Streams, runs or sessions → nothing of them in the tables, and their texts gone from the disk.

Rows are deleted by mutations that are waited for, and a text in blobs goes when no other row has the same. ClickHouse
keeps the parts from before a mutation for some minutes; they are removed at once here, so that a search of the data
directory finds nothing. Topics keep records until their retention ends: Kafka can't delete single ones.
"""

import time
from dataclasses import dataclass

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from schemas.jsonvalue import JsonObject
from streams.store import QueryError, open_client, short_error

STREAMS_MAX = 10_000
"""Streams forgotten at once; a session that has more is forgotten by calling again."""
OLD_PARTS_S_MAX = 30.0
NO_PARTITION = "19710104"
"""Dropping a partition makes ClickHouse remove old parts at once; this one can't exist, its rows would be too old."""
BY = ("stream", "run", "session")
_COLUMN = {"stream": "stream_id", "run": "run_id", "session": "session_id"}
_TABLES = ("steps", "streams", "failures", "quarantine", "scores", "reasoning_records", "executions", "handovers")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was deleted."""

    stream_ids: tuple[str, ...]
    rows: dict[str, int]
    is_off_disk: bool
    """False when old parts were still there after half a minute: ClickHouse removes them within ten."""


def forget(dsn: str, by: str, name: str, *, dry_run: bool = False) -> Forgotten:
    """Delete what is stored of the streams of a stream id, run id or session id; raises QueryError."""
    client = open_client(dsn)
    try:
        stream_ids = _streams_of(client, by, name)
        if dry_run or not stream_ids:
            return Forgotten(tuple(stream_ids), _counts(client, stream_ids, by, name), is_off_disk=False)
        return _forget(client, stream_ids, by, name)
    except ClickHouseError as error:
        raise QueryError(short_error(error)) from None
    finally:
        client.close()


def _forget(client: Client, stream_ids: list[str], by: str, name: str) -> Forgotten:
    rows = _counts(client, stream_ids, by, name)
    keys = _texts_of(client, stream_ids)
    _delete(
        client, "record_features", "record IN {records:Array(UInt64)}", {"records": _records_of(client, stream_ids)}
    )
    for table in _TABLES:
        _delete(client, table, _where(table, by), {"ids": stream_ids, "name": name})
    alone = [key for key in keys if key not in _used(client, keys)]
    rows["blobs"] = len(alone)
    for start in range(0, len(alone), 1_000):
        _delete(client, "blobs", "content_hash IN {keys:Array(String)}", {"keys": alone[start : start + 1_000]})
    return Forgotten(tuple(stream_ids), rows, _off_disk(client))


def _streams_of(client: Client, by: str, name: str) -> list[str]:
    found = client.query(
        f"SELECT DISTINCT stream_id FROM (SELECT stream_id FROM steps WHERE {_COLUMN[by]} = {{name:String}} UNION ALL"
        f" SELECT stream_id FROM streams WHERE {_COLUMN[by]} = {{name:String}}) LIMIT {STREAMS_MAX}",
        parameters={"name": name},
    ).result_rows
    return [row[0] for row in found] or ([name] if by == "stream" else [])


def _texts_of(client: Client, stream_ids: list[str]) -> list[str]:
    found = client.query(
        "SELECT DISTINCT arrayJoin([content_hash, detail_hash]) AS key FROM steps"
        " WHERE stream_id IN {ids:Array(String)} UNION DISTINCT"
        " SELECT output_hash FROM streams WHERE stream_id IN {ids:Array(String)}",
        parameters={"ids": stream_ids},
    ).result_rows
    return [row[0] for row in found if row[0]]


def _records_of(client: Client, stream_ids: list[str]) -> list[int]:
    """Numbers of the streams' reasoning records: their features have nothing else to be found by."""
    found = client.query(
        "SELECT DISTINCT record FROM reasoning_records WHERE stream_id IN {ids:Array(String)}",
        parameters={"ids": stream_ids},
    ).result_rows
    return [row[0] for row in found]


def _used(client: Client, keys: list[str]) -> set[str]:
    """Keys that rows of other streams have too."""
    found = client.query(
        "SELECT content_hash FROM steps WHERE content_hash IN {keys:Array(String)} UNION DISTINCT"
        " SELECT detail_hash FROM steps WHERE detail_hash IN {keys:Array(String)} UNION DISTINCT"
        " SELECT output_hash FROM streams WHERE output_hash IN {keys:Array(String)}",
        parameters={"keys": keys},
    ).result_rows
    return {row[0] for row in found}


def _where(table: str, by: str) -> str:
    if table == "scores":
        return "run_id = {name:String}" if by == "run" else "stream_id IN {ids:Array(String)}"
    return "stream_id IN {ids:Array(String)}"


def _counts(client: Client, stream_ids: list[str], by: str, name: str) -> dict[str, int]:
    given = {"ids": stream_ids, "name": name}
    return {
        table: client.query(f"SELECT count() FROM {table} WHERE {_where(table, by)}", parameters=given).result_rows[0][
            0
        ]
        for table in _TABLES
    }


def _delete(client: Client, table: str, where: str, given: JsonObject) -> None:
    client.command(f"ALTER TABLE {table} DELETE WHERE {where} SETTINGS mutations_sync = 2", parameters=given)


def _off_disk(client: Client) -> bool:
    """Remove the parts that the mutations replaced."""
    tables = (*_TABLES, "record_features", "blobs")
    for table in tables:
        client.command(f"ALTER TABLE {table} MODIFY SETTING old_parts_lifetime = 1")
    query = (
        "SELECT count() FROM system.parts WHERE NOT active AND database = currentDatabase()"
        " AND table IN {t:Array(String)}"
    )
    deadline = time.monotonic() + OLD_PARTS_S_MAX
    is_gone = False
    while not is_gone and time.monotonic() < deadline:
        time.sleep(1.1)
        for table in tables:
            client.command(f"ALTER TABLE {table} DROP PARTITION ID '{NO_PARTITION}'")
        is_gone = client.query(query, parameters={"t": list(tables)}).result_rows[0][0] == 0
    for table in tables:
        client.command(f"ALTER TABLE {table} RESET SETTING old_parts_lifetime")
    return is_gone
