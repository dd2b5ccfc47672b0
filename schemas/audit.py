"""Original: what clean took out of a stream; goes nowhere but, encrypted, to `llm.audit`."""

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
