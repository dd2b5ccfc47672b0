"""Numbered SQL files → tables: each is run once, in order, and its checksum kept.

A file that was applied and changed afterwards stops the migration: no table may differ from its SQL.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from typing import Protocol

_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
_LEDGER = """CREATE TABLE IF NOT EXISTS schema_migrations (
  version UInt32 COMMENT 'Number of the file.', name String COMMENT 'Name of the file.',
  checksum String COMMENT 'SHA-256 of the file when it was applied.',
  applied_at DateTime('UTC') DEFAULT now() COMMENT 'When.'
) ENGINE = ReplacingMergeTree(applied_at) ORDER BY version COMMENT 'Which migrations this database has.'"""


class MigrationError(RuntimeError):
    """An applied migration's file has changed, or the database is newer than this program."""


class Commands(Protocol):
    """What a migration needs of a ClickHouse client."""

    def command(self, cmd: str, parameters: dict[str, object] | None = None) -> object: ...
    def query(self, query: str) -> object: ...


@dataclass(frozen=True, slots=True)
class Migration:
    """One SQL file."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """What the ledger keeps."""
        return sha256(self.sql.encode()).hexdigest()

    def statements(self) -> list[str]:
        """Statements end with a semicolon at the end of a line; comment lines go."""
        lines = [line for line in self.sql.splitlines() if not line.startswith("--")]
        return [part.strip() for part in re.split(r";\s*$", "\n".join(lines), flags=re.MULTILINE) if part.strip()]


def migrations() -> list[Migration]:
    """The shipped files, in order."""
    found = []
    for entry in sorted(resources.files("streams").joinpath("sql").iterdir(), key=lambda entry: entry.name):
        if named := _NAME.fullmatch(entry.name):
            found.append(Migration(int(named[1]), named[2], entry.read_text(encoding="utf-8")))
    return found


def migrate(client: Commands) -> list[str]:
    """Apply what the database lacks; names of the files applied. Raises MigrationError."""
    client.command(_LEDGER)
    rows = client.query("SELECT version, checksum FROM schema_migrations FINAL").result_rows  # type: ignore[attr-defined]
    applied: dict[int, str] = dict(rows)
    known = migrations()
    if unknown := sorted(applied.keys() - {migration.version for migration in known}):
        raise MigrationError(
            f"the database has migration {unknown[0]:04}, which this version does not know; upgrade first"
        )
    done = []
    for migration in known:
        label = f"{migration.version:04}_{migration.name}"
        if migration.version in applied:
            if applied[migration.version] != migration.checksum:
                raise MigrationError(f"{label}.sql has changed since it was applied; add a new file instead")
            continue
        for statement in migration.statements():
            client.command(statement)
        client.command(
            "INSERT INTO schema_migrations (version, name, checksum) VALUES ({v:UInt32}, {n:String}, {c:String})",
            parameters={"v": migration.version, "n": migration.name, "c": migration.checksum},
        )
        done.append(label)
    return done
