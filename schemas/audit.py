"""What clean took out of a stream: in clear, which never leaves the worker, and sealed, as on `llm.audit`."""

from dataclasses import dataclass
from typing import Literal

from schemas.span import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """One value that was replaced by a placeholder."""

    where: str
    """Event and field: `segment/3/text`, `call/call_0/arguments/tel`."""
    span: Span
    """Offsets into that field as it was before cleaning."""
    type: str
    """Upper case, as in the placeholder."""
    rule: str
    original: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Originals:
    """What was taken out of one stream; never published in this form."""

    schema: Literal["originals/1"] = "originals/1"
    stream_id: str
    entries: tuple[Original, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditKey:
    """The data key of one stream, wrapped by a master key (`llm.audit-keys`); without it the records are noise."""

    schema: Literal["audit-key/1"] = "audit-key/1"
    stream_id: str
    key: str
    """Id of the data key."""
    master: str
    """Id of the master key that wrapped it."""
    wrapped: str
    """Nonce and AES-256-GCM ciphertext in base64; bound to the stream and both ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """Originals of one stream, sealed with its data key (`llm.audit`)."""

    schema: Literal["audit/1"] = "audit/1"
    stream_id: str
    number: int
    """Number of the record in its stream, from 0."""
    key: str
    """Id of the data key."""
    count: int
    """How many originals are in it."""
    sealed: str
    """Nonce and AES-256-GCM ciphertext in base64; bound to the stream, the number and the key's id."""
