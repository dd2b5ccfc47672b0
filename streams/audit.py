"""What clean took out → sealed records, and back: AES-256-GCM, one data key a stream, wrapped by a master key.

A record is bound to its stream, its number and its key, so none can be moved to another place unnoticed. The wrapped
data key is a record of its own: when it is deleted, all that the stream sealed is noise (crypto-erasure). Master keys
come as a ring of named keys, of which one is current; older ones only unwrap.
"""

import base64
import binascii
import os
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import TypeAdapter, ValidationError

from processors.assemble import Assembler
from processors.clean import CleanStage
from processors.knowledge import Knowledge
from processors.processor import Processor
from schemas.audit import AuditKey, AuditRecord, Original, Originals
from schemas.wire import Event
from streams.settings import ConfigError

KEY_BYTES = 32
NONCE_BYTES = 12
"""AES-GCM's own; random, and no key seals more than one stream's few records."""
KEY_ID_BYTES = 8
COMMAND_S_MAX = 30
"""Longest wait for the command that gives the master keys."""

_ENTRIES: TypeAdapter[tuple[Original, ...]] = TypeAdapter(tuple[Original, ...])


class SealError(ValueError):
    """A record or a key that does not open: another master key, or it was changed."""


@dataclass(frozen=True, slots=True)
class MasterKeys:
    """Master keys by name; the current one wraps."""

    keys: Mapping[str, bytes]
    current: str

    def wrap(self, stream_id: str, data_key: bytes) -> AuditKey:
        """A new data key, wrapped for its stream."""
        key_id = os.urandom(KEY_ID_BYTES).hex()
        sealed = _seal(self.keys[self.current], data_key, _bound(stream_id, key_id, self.current))
        return AuditKey(stream_id=stream_id, key=key_id, master=self.current, wrapped=sealed)

    def unwrap(self, key: AuditKey) -> bytes:
        """The data key; raises SealError."""
        master = self.keys.get(key.master)
        if master is None:
            raise SealError(f"master key {key.master!r} is not in the ring")
        return _open(master, key.wrapped, _bound(key.stream_id, key.key, key.master))


def load_masters(source: str) -> MasterKeys | None:
    """Settings' `audit_keys` → the ring, None when there is no source; raises ConfigError."""
    if not source:
        return None
    kind, _, place = source.partition(":")
    try:
        if kind == "file":
            text = Path(place).read_text(encoding="utf-8")
        elif kind == "env":
            text = os.environ[place]
        elif kind == "command":
            text = _output_of(place)
        else:
            raise ConfigError("audit_keys: must begin with file:, env: or command:")
    except KeyError:
        raise ConfigError(f"audit_keys: {place} is not set") from None
    except (OSError, UnicodeDecodeError, subprocess.SubprocessError) as error:
        raise ConfigError(f"audit_keys: {kind} gives no keys: {type(error).__name__}") from None
    return read_ring(text)


def read_ring(text: str) -> MasterKeys:
    """`{"current": NAME, "keys": {NAME: base64 of 32 bytes}}` → the ring; raises ConfigError, which holds no key."""
    try:
        ring = orjson.loads(text)
        keys = {str(name): base64.b64decode(key, validate=True) for name, key in ring["keys"].items()}
        current = ring["current"]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ConfigError("audit_keys: not a ring of keys: `audit keys new` makes one") from None
    if current not in keys or any(len(key) != KEY_BYTES for key in keys.values()):
        raise ConfigError("audit_keys: the current key is missing, or a key has not 32 bytes")
    return MasterKeys(keys, current)


def ring_text(masters: MasterKeys) -> str:
    """The ring as it is kept."""
    keys = {name: base64.b64encode(key).decode() for name, key in masters.keys.items()}
    return orjson.dumps({"current": masters.current, "keys": keys}, option=orjson.OPT_INDENT_2).decode() + "\n"


def with_new_key(masters: MasterKeys | None) -> MasterKeys:
    """A ring with one more key, which is the current one."""
    known = dict(masters.keys) if masters else {}
    name = f"k{len(known) + 1}-{os.urandom(4).hex()}"
    return MasterKeys({**known, name: os.urandom(KEY_BYTES)}, name)


class Sealer:
    """Seals the originals of one stream."""

    __slots__ = ("_data_key", "_key", "_masters", "_number")

    def __init__(self, masters: MasterKeys) -> None:
        self._masters = masters
        self._key: AuditKey | None = None
        self._data_key = b""
        self._number = 0

    def seal(self, originals: Originals) -> Iterator[AuditKey | AuditRecord]:
        """The stream's key first, once; then a record."""
        if self._key is None:
            self._data_key = os.urandom(KEY_BYTES)
            self._key = self._masters.wrap(originals.stream_id, self._data_key)
            yield self._key
        bound = _bound(originals.stream_id, self._number, self._key.key)
        text = orjson.dumps([_plain(entry) for entry in originals.entries])
        yield AuditRecord(
            stream_id=originals.stream_id,
            number=self._number,
            key=self._key.key,
            count=len(originals.entries),
            sealed=_seal(self._data_key, text, bound),
        )
        self._number += 1


def opened(records: Iterable[AuditRecord], keys: Iterable[AuditKey], masters: MasterKeys) -> list[Original]:
    """Originals of one stream in order; of records sealed twice, after a replay, the last. Raises SealError."""
    by_id = {key.key: key for key in keys}
    latest = {record.number: record for record in records if record.key in by_id}
    entries: list[Original] = []
    for number in sorted(latest):
        record = latest[number]
        bound = _bound(record.stream_id, record.number, record.key)
        try:
            entries += _ENTRIES.validate_json(_open(masters.unwrap(by_id[record.key]), record.sealed, bound))
        except ValidationError:
            raise SealError(f"record {number} does not hold originals") from None
    return entries


def audited(knowledge: Knowledge, masters: MasterKeys) -> "AuditedClean":
    """The clean stage of one stream, as `processors.pipeline.clean_stage`, with its originals sealed."""
    clean = CleanStage(replace(knowledge.clean_options, keeps_originals=True))
    return AuditedClean(clean, Assembler(clean.counts, knowledge.reason_options.reuse), masters)


class AuditedClean:
    """The clean stage and what follows it, for one stream; what was taken out comes first, sealed."""

    __slots__ = ("_clean", "_rest", "_sealer")

    def __init__(self, clean: CleanStage, rest: Processor, masters: MasterKeys) -> None:
        self._clean = clean
        self._rest = rest
        self._sealer = Sealer(masters)

    def feed(self, event: Event) -> Iterator[Event]:
        """One event → sealed originals, then what goes on."""
        return self._passed(list(self._clean.feed(event)))

    def close(self) -> Iterator[Event]:
        """What both held back."""
        yield from self._passed(list(self._clean.close()))
        yield from self._rest.close()

    def _passed(self, events: list[Event]) -> Iterator[Event]:
        if (originals := self._clean.take_originals()) is not None:
            yield from self._sealer.seal(originals)
        for event in events:
            yield from self._rest.feed(event)


def _plain(entry: Original) -> dict[str, object]:
    # Lone surrogates have no UTF-8: they are kept as `?` so that one of them does not lose the whole record.
    original = entry.original.encode("utf-8", "replace").decode()
    where = entry.where.encode("utf-8", "replace").decode()
    return {"where": where, "span": entry.span, "type": entry.type, "rule": entry.rule, "original": original}


def _bound(*parts: object) -> bytes:
    return orjson.dumps([str(part).encode("utf-8", "replace").decode() for part in parts])


def _seal(key: bytes, text: bytes, bound: bytes) -> str:
    nonce = os.urandom(NONCE_BYTES)
    return base64.b64encode(nonce + AESGCM(key).encrypt(nonce, text, bound)).decode()


def _open(key: bytes, sealed: str, bound: bytes) -> bytes:
    try:
        data = base64.b64decode(sealed, validate=True)
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], bound)
    except (InvalidTag, binascii.Error, ValueError):
        raise SealError("a sealed text does not open: another key, or it was changed") from None


def _output_of(command: str) -> str:
    done = subprocess.run(  # noqa: S603 - the operator's own command, from settings, split without a shell
        shlex.split(command), capture_output=True, check=True, timeout=COMMAND_S_MAX
    )
    return done.stdout.decode("utf-8")
