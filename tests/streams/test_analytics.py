"""The column dictionary and the commands over the store."""

import asyncio
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import orjson
import pytest

from streams.migrations import MigrationError, migrate, migrations
from streams.settings import Settings
from streams.store import open_client
from streams.trajectories_to_clickhouse import Sink
from streams.web.serve import serving

ROOT = Path(__file__).parent.parent.parent


def tables_page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables_page", ROOT / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {key: value for key, value in os.environ.items() if key != "CLICKHOUSE_DSN"}
    environment |= {"HERMES_DATA_DIR": str(data_dir)}
    command = [sys.executable, "-m", "streams", *arguments]
    return subprocess.run(command, capture_output=True, env=environment, cwd=ROOT, timeout=60, check=False)


def test_the_dictionary_is_what_the_sql_says() -> None:
    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == tables_page().dictionary()


def test_the_dictionary_has_each_column_of_each_table(tmp_path: Path) -> None:
    dsn = f"chdb://{tmp_path}"
    sink = Sink(dsn)
    sink.migrate()
    sink.close()
    page = tables_page().dictionary()
    client = open_client(dsn)
    query = "SELECT table, name FROM system.columns WHERE database = 'hermes' AND table != 'schema_migrations' AND table IN (SELECT name FROM system.tables WHERE engine NOT LIKE '%View')"
    rows = client.query(query).result_rows
    assert len(rows) > 100
    for table, name in rows:
        section = page.split(f"\n## {table}\n")[1].split("\n## ")[0]
        assert f"\n| {name} | " in section, (table, name)
    client.command("ALTER TABLE schema_migrations UPDATE checksum = 'x' WHERE version = 1 SETTINGS mutations_sync = 2")
    with pytest.raises(MigrationError, match="has changed"):
        migrate(client)
    client.command("INSERT INTO schema_migrations (version) VALUES (9999)")
    with pytest.raises(MigrationError, match="9999"):
        migrate(client)
    client.close()


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.version for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_sql_and_migrate_work_on_the_data_directory(tmp_path: Path) -> None:
    (tmp_path / "clickhouse").mkdir()
    assert run(tmp_path, "migrate").stdout.splitlines() == [
        f"applied {migration.version:04}_{migration.name}".encode() for migration in migrations()
    ]
    assert run(tmp_path, "migrate").stdout == b"nothing to do\n"
    answer = run(tmp_path, "sql", "SELECT count() AS steps, 'ü' AS a FROM steps", "--json")
    assert orjson.loads(answer.stdout) == {"steps": 0, "a": "ü"}
    refused = run(tmp_path, "sql", "DROP TABLE steps")
    assert (refused.returncode, b"Only one SELECT" in refused.stderr) == (2, True)
    assert run(tmp_path, "sql", "SELECT nothing FROM nowhere").returncode == 2


def test_an_absent_server_is_exit_code_3(tmp_path: Path) -> None:
    answer = run(tmp_path, "sql", "SELECT 1")
    assert (answer.returncode, b"ClickHouse at http://127.0.0.1:8123" in answer.stderr) == (3, True)


def test_commands_ask_the_page_of_the_process_that_owns_the_store(tmp_path: Path) -> None:
    (tmp_path / "clickhouse").mkdir()
    settings = Settings(
        data_dir=str(tmp_path),
        clickhouse_dsn=f"chdb://{tmp_path / 'clickhouse'}",
        redis_url="redis://127.0.0.1:1/0",
        web_port=0,
    )

    async def check() -> None:
        async with serving(settings) as page:
            note = orjson.loads((tmp_path / "web.json").read_bytes())
            assert (note["url"], (tmp_path / "web.json").stat().st_mode & 0o077) == (page.url, 0)
            answer = await asyncio.to_thread(run, tmp_path, "sql", "SELECT 6 * 7 AS x", "--json")
            assert answer.stdout == b'{"x":42}\n'
            forgotten = await asyncio.to_thread(run, tmp_path, "forget", "--stream", "never-seen", "--dry-run")
            assert (forgotten.returncode, b"no rows" in forgotten.stdout) == (1, True)

    asyncio.run(check())
    assert not (tmp_path / "web.json").exists()
