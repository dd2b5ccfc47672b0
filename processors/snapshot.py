"""Registry entries → the frozen value that processors are built from; one for the whole life of a stream.

The file form is one JSON object, `{"schema": "registry/1", "version": …, "entries": […]}`, entries by kind and id, so
that two exports of the same state are the same bytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType

import orjson
from pydantic import TypeAdapter, ValidationError

from schemas.jsonvalue import Json
from schemas.pattern import Pattern, PatternKind, PatternState
from schemas.wire import encode

SCHEMA = "registry/1"
_ENTRIES: TypeAdapter[tuple[Pattern, ...]] = TypeAdapter(tuple[Pattern, ...])
_NONE: MappingProxyType[str, Pattern] = MappingProxyType({})


class RegistryFormatError(ValueError):
    """Bytes that are no registry in file form; the message says where."""


def key_of(pattern: Pattern) -> str:
    """What makes two records the same entry."""
    return f"{pattern.kind}/{pattern.id}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All entries of the registry as they were at one version."""

    version: int = 0
    entries: MappingProxyType[str, Pattern] = field(default_factory=lambda: _NONE)
    """By `kind/id`, sorted."""

    def get(self, kind: PatternKind, entry_id: str) -> Pattern | None:
        """One entry, whatever its state."""
        return self.entries.get(f"{kind}/{entry_id}")

    def of(self, kind: PatternKind, *states: PatternState) -> tuple[Pattern, ...]:
        """Entries of a kind in one of the states (active if none is named), highest priority first, then by id."""
        wanted = states or (PatternState.ACTIVE,)
        found = [entry for entry in self.entries.values() if entry.kind is kind and entry.state in wanted]
        return tuple(sorted(found, key=lambda entry: (-entry.priority, entry.id)))

    @property
    def formats(self) -> tuple[Pattern, ...]:
        """Active formats."""
        return self.of(PatternKind.FORMAT)

    @property
    def rules(self) -> tuple[Pattern, ...]:
        """Active repair rules."""
        return self.of(PatternKind.REPAIR_RULE)

    @property
    def cues(self) -> tuple[Pattern, ...]:
        """Active reasoning cues."""
        return self.of(PatternKind.REASONING)

    @property
    def pii(self) -> tuple[Pattern, ...]:
        """Active PII rules."""
        return self.of(PatternKind.PII)

    @property
    def tools(self) -> tuple[Pattern, ...]:
        """Active tools; an entry's definition is the tool in OpenAI function form."""
        return self.of(PatternKind.TOOL)

    def with_records(self, records: Iterable[Pattern], version: int) -> "Snapshot":
        """The state after a change: records replace the entries of their keys."""
        return snapshot_of((*self.entries.values(), *records), version)


def snapshot_of(records: Iterable[Pattern], version: int) -> Snapshot:
    """Records in order of writing → the state they make; a later one of the same key replaces the earlier."""
    entries = {key_of(record): record for record in records}
    return Snapshot(version, MappingProxyType(dict(sorted(entries.items()))))


def to_json(snapshot: Snapshot) -> bytes:
    """The file form, one entry a line so that it can be read and diffed."""
    lines = [encode(entry) for entry in snapshot.entries.values()]
    head = b'{"schema":"%s","version":%d,"entries":[' % (SCHEMA.encode(), snapshot.version)
    return head + (b"\n" + b",\n".join(lines) + b"\n" if lines else b"") + b"]}\n"


def from_json(data: bytes) -> Snapshot:
    """The file form → a snapshot; raises RegistryFormatError, which names the place."""
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise RegistryFormatError(f"line {error.lineno}: {error.msg}") from None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise RegistryFormatError(f'not a registry: no "schema": "{SCHEMA}"')
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise RegistryFormatError("version: not a whole number from 0")
    try:
        records = _ENTRIES.validate_python(value.get("entries"))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RegistryFormatError(f"entries.{place}: {first['msg']}") from None
    if len({key_of(record) for record in records}) < len(records):
        raise RegistryFormatError("entries: two of them have the same kind and id")
    return snapshot_of(records, version)
