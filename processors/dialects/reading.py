"""What a body reader is told about the call that it reads."""

from typing import NamedTuple, Protocol

from schemas.jsonvalue import JsonObject


class Schemas(Protocol):
    """The registered tools."""

    @property
    def schemas(self) -> dict[str, JsonObject]:
        """Parameter schemas by name."""
        ...


class Head(NamedTuple):
    """A call's opening marker, read."""

    name: str | None
    call_id: str | None
    dialect: str
    tools: Schemas
    nesting_max: int
