"""A database as a tool: it answers one SELECT, within its limits, and nothing else gets through."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from processors.dispatching.errors import Fault, class_of
from streams.executing.load import load_tools
from streams.executing.protocol import Answer
from streams.executing.sql_tool import SqlLimits, SqlTool, _ask_sqlite, sql_tool
from streams.store import open_client

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
REFUSED = (
    "DROP TABLE orders", "DELETE FROM orders", "INSERT INTO orders VALUES (9, 'x')", "UPDATE orders SET state = 'x'",
    "SELECT 1; DROP TABLE orders", "SELECT 1; SELECT 2", "CREATE TABLE x (a Int32)", "PRAGMA journal_mode = DELETE",
    "ATTACH DATABASE '/tmp/x' AS x", "SET readonly = 0", "SELECT 1) UNION ALL (SELECT 2", "WITH x AS (SELECT 1) DELETE FROM orders",
    "SELECT * FROM orders INTO OUTFILE '/tmp/x'", "SELECT 1 SETTINGS max_execution_time = 0", "EXPLAIN SELECT 1", "VACUUM",
    "/* x */ DROP TABLE orders", "SELECT load_extension('/tmp/x')",
)  # fmt: skip


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("shop")
    lite = folder / "shop ?#.db"
    with sqlite3.connect(lite) as database:
        database.execute("CREATE TABLE orders (id INTEGER, state TEXT)")
        database.executemany("INSERT INTO orders VALUES (?, ?)", [(n, "sent") for n in range(500)])
    database.close()
    embedded = f"chdb://{folder}/store"
    client = open_client(embedded)
    client.command("CREATE TABLE orders (id Int32, state String) ENGINE = MergeTree ORDER BY id")
    client.insert("orders", [[n, "sent"] for n in range(500)], column_names=["id", "state"])
    client.close()
    return {"sqlite": f"sqlite://{lite}", "chdb": embedded}


@pytest.fixture(params=["sqlite", "chdb"])
def shop(addresses, request) -> Iterator[SqlTool]:
    made = sql_tool("shop", addresses[request.param], "Orders.", SqlLimits(rows_max=10, seconds_max=1))
    yield made
    made.close()


def asked(shop: SqlTool, sql: str) -> Answer | Fault | str:
    return shop.validate({"sql": sql}) or asyncio.run(shop.execute({"sql": sql}, "e"))


def test_a_select_is_answered_and_a_long_answer_is_cut(shop) -> None:
    assert asked(shop, "SELECT id, state FROM orders WHERE id = 7;") == Answer(
        {"columns": ["id", "state"], "rows": [(7, "sent")], "is_cut": False}
    )
    many = asked(shop, "SELECT id FROM orders ORDER BY id")
    assert (len(many.content["rows"]), many.content["is_cut"]) == (10, True)
    assert asked(shop, "WITH late AS (SELECT id FROM orders WHERE id > 497) SELECT count() AS n FROM late" if "chdb" in shop.dsn
                 else "WITH late AS (SELECT id FROM orders WHERE id > 497) SELECT count(*) AS n FROM late").content["rows"] == [(2,)]  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_anything_but_one_select_is_refused(shop, sql) -> None:
    found = asked(shop, sql)
    assert isinstance(found, str | Fault), found
    assert asked(shop, "SELECT count(*) FROM orders").content["rows"] == [(500,)]
    assert not Path("/tmp/x").exists()


@pytest.mark.parametrize(
    "sql",
    ["DELETE FROM orders", "ATTACH DATABASE ':memory:' AS x", "PRAGMA user_version", "SELECT load_extension('x')"],
)
def test_sqlite_itself_refuses_what_is_not_reading(addresses, sql) -> None:
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        _ask_sqlite(addresses["sqlite"].removeprefix("sqlite://"), sql, 1, 1)


def test_an_answer_of_great_values_is_not_read_to_its_end(addresses) -> None:
    tool = sql_tool("shop", addresses["sqlite"])
    count = len(asked(tool, "SELECT zeroblob(1000000), id FROM orders").content["rows"])
    assert count == 1
    assert asked(tool, f"SELECT {', '.join(['1'] * 101)}") == Fault(kind="sql", text="more than 100 columns")


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM file('/etc/passwd', 'LineAsString')", "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')"]
)  # fmt: skip
def test_no_file_and_no_address_is_reached(addresses, sql) -> None:
    tool = sql_tool("shop", addresses["chdb"])
    found = asked(tool, sql)
    assert isinstance(found, Fault)
    assert "readonly" in found.text.lower()
    tool.close()


def test_a_query_that_takes_too_long_ends_and_the_model_is_told(addresses) -> None:
    tool = sql_tool("shop", addresses["sqlite"], limits=SqlLimits(seconds_max=1))
    began = time.monotonic()
    found = asked(tool, ENDLESS)
    assert found == Fault(kind="sql", text="the query took longer than 1 s")
    assert time.monotonic() - began < 5
    assert class_of(found) == ("param_error", "sql-query")
    assert isinstance(asked(tool, "SELECT zeroblob(1000000000)"), Fault)


def test_whose_fault_it_was(addresses) -> None:
    tool = sql_tool("shop", addresses["sqlite"])
    assert class_of(asked(tool, "SELECT citty FROM orders")) == ("param_error", "sql-query")
    away = sql_tool("shop", "sqlite:///nowhere/at/all.db")
    assert class_of(asked(away, "SELECT 1")) == ("system_error", "sql-away")


def test_it_is_described_and_loaded(tmp_path) -> None:
    file = tmp_path / "shop_sql.py"
    file.write_text(
        "from streams.executing.sql_tool import sql_tool\n"
        'shop = sql_tool("shop", "sqlite:///x.db", "When to use: orders.", schema={"orders": "id, state"})\n',
        encoding="utf-8",
    )
    told = load_tools(file)["shop"].describe()
    assert told["description"] == "When to use: orders.\nOne SELECT over these tables:\norders: id, state"
    assert (told["when_to_use"], told["side_effects"]) == ("orders.", "none")
