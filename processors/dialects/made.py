"""Parts of a call → its draft, frozen but made field by field: a fourth of the time that its class takes.

A frozen dataclass sets each field through `object.__setattr__`. Here an object with the same slots is filled, and then
is said to be of the class; a test compares what comes out with what the class makes.
"""

from processors.dialects.reading import Head
from schemas.jsonvalue import Json
from schemas.segment import CallDraft, Param


class _Draft:
    __slots__ = CallDraft.__slots__
    dialect: str
    name: str | None
    call_id: str | None
    value: Json
    params: tuple[Param, ...] | None
    arguments_text: str | None
    mends: tuple[str, ...]
    complete: bool


class _Param:
    __slots__ = Param.__slots__
    key: str
    value: str
    type: str | None


def draft_of(dialect: str, name: str | None, call_id: str | None, value: Json, mends: tuple[str, ...]) -> CallDraft:
    """A call whose text carries the types of its arguments."""
    made = _Draft()
    made.dialect = dialect
    made.name = name
    made.call_id = call_id
    made.value = value
    made.params = made.arguments_text = None
    made.mends = mends
    made.complete = True
    made.__class__ = CallDraft  # type: ignore[assignment] # an object with the same slots
    return made  # type: ignore[return-value] # it is of that class now


def draft_of_params(dialect: str, head: Head, params: tuple[Param, ...], mends: tuple[str, ...]) -> CallDraft:
    """A call whose arguments need the tool's schema."""
    made = _Draft()
    made.dialect = dialect
    made.name = head.name
    made.call_id = head.call_id
    made.value = made.arguments_text = None
    made.params = params
    made.mends = mends
    made.complete = True
    made.__class__ = CallDraft  # type: ignore[assignment] # an object with the same slots
    return made  # type: ignore[return-value] # it is of that class now


def param_of(key: str, value: str, kind: str | None) -> Param:
    """One argument."""
    made = _Param()
    made.key = key
    made.value = value
    made.type = kind
    made.__class__ = Param  # type: ignore[assignment] # an object with the same slots
    return made  # type: ignore[return-value] # it is of that class now
