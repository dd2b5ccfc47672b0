"""Sealed records and wrapped keys → a folder that keeps them, append-only, and gives those of one stream back.

Records go to the end of `records.jsonl`, each line with the SHA-256 of all before it, so that a change or a gap shows.
Keys lie apart, one file a stream, because erasing a key is how a stream's originals are erased.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from schemas.audit import AuditKey, AuditRecord

FIRST = "0" * 64

_RECORD: TypeAdapter[AuditRecord] = TypeAdapter(AuditRecord)
_KEYS: TypeAdapter[list[AuditKey]] = TypeAdapter(list[AuditKey])


class AuditStore:
    """One folder."""

    def __init__(self, folder: Path) -> None:
        self._records = folder / "records.jsonl"
        self._keys = folder / "keys"

    def add(self, items: Iterable[AuditKey | AuditRecord]) -> int:
        """Append records and keep keys; gives how many records were new."""
        self._keys.mkdir(parents=True, exist_ok=True, mode=0o700)
        known = {self._identity(record) for record in self._all()}
        before, added = self._last_code(), 0
        with self._records.open("ab") as file:
            for item in items:
                if isinstance(item, AuditKey):
                    self._keep(item)
                elif self._identity(item) not in known:
                    line = orjson.dumps({"before": before, "record": item})
                    before = sha256(line).hexdigest()
                    file.write(line + b"\n")
                    known.add(self._identity(item))
                    added += 1
        return added

    def of(self, stream_id: str) -> tuple[list[AuditRecord], list[AuditKey]]:
        """Records and keys of one stream."""
        path = self._path(stream_id)
        keys = _KEYS.validate_json(path.read_bytes()) if path.exists() else []
        return [record for record in self._all() if record.stream_id == stream_id], keys

    def erase_keys(self, stream_id: str) -> int:
        """Overwrite and delete the keys of one stream; gives how many there were."""
        path = self._path(stream_id)
        if not path.exists():
            return 0
        count = len(_KEYS.validate_json(path.read_bytes()))
        path.write_bytes(b"\0" * path.stat().st_size)
        path.unlink()
        return count

    def problems(self) -> list[str]:
        """What shows that records were changed, taken out or put in between; empty when nothing does."""
        before = FIRST
        for place, line in enumerate(self._lines(), start=1):
            try:
                value = orjson.loads(line)
                _RECORD.validate_python(value["record"])
                follows = value["before"] == before
            except (KeyError, TypeError, ValueError):  # ValidationError and JSONDecodeError are ValueErrors
                return [f"records line {place}: not a record"]
            if not follows:
                return [f"records line {place}: does not follow the line before"]
            before = sha256(line).hexdigest()
        return []

    def _all(self) -> Iterator[AuditRecord]:
        for line in self._lines():
            try:
                yield _RECORD.validate_python(orjson.loads(line)["record"])
            except (KeyError, TypeError, orjson.JSONDecodeError, ValidationError):  # `problems` says where
                continue

    def _lines(self) -> list[bytes]:
        return self._records.read_bytes().splitlines() if self._records.exists() else []

    def _last_code(self) -> str:
        lines = self._lines()
        return sha256(lines[-1]).hexdigest() if lines else FIRST

    def _keep(self, key: AuditKey) -> None:
        path = self._path(key.stream_id)
        keys = _KEYS.validate_json(path.read_bytes()) if path.exists() else []
        if key not in keys:
            path.write_bytes(orjson.dumps([*keys, key]))

    def _path(self, stream_id: str) -> Path:
        return self._keys / f"{sha256(stream_id.encode('utf-8', 'replace')).hexdigest()}.json"

    @staticmethod
    def _identity(record: AuditRecord) -> tuple[str, int, str]:
        return record.stream_id, record.number, record.key
