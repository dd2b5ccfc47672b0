"""What a body reader is told about the call that it reads."""

from dataclasses import dataclass

from schemas.jsonvalue import JsonObject


@dataclass(frozen=True, slots=True)
class Head:
    """A call's opening marker, read."""

    name: str | None
    call_id: str | None
    dialect: str
    schemas: dict[str, JsonObject]
    """Parameter schemas of the registered tools, by name."""
    nesting_max: int
