"""A file → a registry: what batch commands use where a running system has Redis.

The file form is that of `registry export`; it holds the entries as they are and no history.
"""

from collections.abc import Sequence
from pathlib import Path

from processors.snapshot import RegistryFormatError, Snapshot, from_json, key_of, to_json
from schemas.pattern import Pattern
from streams.registry_changes import StaleChangeError, stamped
from streams.settings import ConfigError


class FileRegistry:
    """The registry of a batch command, in the file form; one writer at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def snapshot(self) -> Snapshot:
        """What the file says; a file that isn't there yet is an empty registry."""
        try:
            return from_json(self._path.read_bytes())
        except FileNotFoundError:
            return Snapshot()
        except OSError as error:
            raise ConfigError(f"{self._path}: {error.strerror}") from error
        except RegistryFormatError as error:
            raise ConfigError(f"{self._path}: {error}") from error

    async def publish(self, changes: Sequence[Pattern]) -> tuple[Pattern, ...]:
        """Make one change: the file is replaced as a whole."""
        snapshot = await self.snapshot()
        records = stamped(changes, snapshot.version + 1)
        for record in records:
            known = snapshot.entries.get(key_of(record))
            if record.version - 1 != (known.version if known else 0):
                raise StaleChangeError(key_of(record))
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_bytes(to_json(snapshot.with_records(records, snapshot.version + 1)))
        fresh.replace(self._path)
        return records

    async def records(self) -> tuple[Pattern, ...]:
        """The current records: a file keeps no history."""
        return tuple(sorted((await self.snapshot()).entries.values(), key=lambda record: record.registry_version))
