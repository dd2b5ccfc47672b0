"""What a body reader is told about the call that it reads."""

from dataclasses import dataclass
from typing import Protocol

from schemas.jsonvalue import Json


class Schemas(Protocol):
    """The registered tools."""

    def schema_of(self, name: str) -> Json:
        """The parameter schema of a tool; None of one that is not registered."""
        ...


@dataclass(slots=True)  # not frozen: that takes twice as long to make, once for each call
class Head:
    """A call's opening marker, read."""

    name: str | None
    call_id: str | None
    dialect: str
    tools: Schemas
    nesting_max: int
