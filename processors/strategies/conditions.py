"""A condition on a JSON value: a path in it, an operator, what it is compared with.

Nothing raises; values of unlike types never fit.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, field_validator

from schemas.jsonvalue import Json

PATH_CHARS_MAX = 200
VALUES_MAX = 200
"""Most values of one `in`."""
MS_END = 1e15
"""Later than that is no time: the year 33,658."""
SECONDS_END = 1e11
"""Unix times from here on are in milliseconds."""


class Op(StrEnum):
    """How a value is compared."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    NOT_IN = "not_in"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    EXISTS = "exists"
    MISSING = "missing"
    AGE_MAX_S = "age_max_s"
    """The value is a time (ISO 8601, or Unix in s or ms) not longer ago than that."""


class Condition(BaseModel):
    """One condition."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    """Keys with dots between them; empty: the whole value."""
    op: Op = Op.EQ
    value: Json = None

    @field_validator("path")
    @classmethod
    def _is_short(cls, path: str) -> str:
        if len(path) > PATH_CHARS_MAX:
            raise ValueError("the path is too long")
        return path

    @field_validator("value")
    @classmethod
    def _is_bounded(cls, value: Json) -> Json:
        if isinstance(value, list) and len(value) > VALUES_MAX:
            raise ValueError("too many values")
        return value

    def holds(self, given: Json, now_ms: float) -> bool:
        """Whether it holds of a value; `now_ms` is what ages are measured from."""
        is_there, found = value_at(given, self.path)
        match self.op:
            case Op.EXISTS:
                return is_there
            case Op.MISSING:
                return not is_there
            case Op.NE:
                return not (is_there and _same(found, self.value))
            case Op.NOT_IN:
                return not (is_there and any(_same(found, one) for one in _list(self.value)))
        if not is_there:
            return False
        match self.op:
            case Op.EQ:
                return _same(found, self.value)
            case Op.IN:
                return any(_same(found, one) for one in _list(self.value))
            case Op.AGE_MAX_S:
                since = _time_ms(found)
                return since is not None and _is_number(self.value) and now_ms - since <= self.value * 1000
        return _ordered(self.op, found, self.value)


def all_hold(conditions: Iterable[Condition], given: Json, now_ms: float) -> bool:
    """Whether all of them hold."""
    return all(one.holds(given, now_ms) for one in conditions)


def value_at(given: Json, path: str) -> tuple[bool, Json]:
    """Whether something stands at a path, and what."""
    if not path:
        return True, given
    for key in path.split("."):
        if not isinstance(given, dict) or key not in given:
            return False, None
        given = given[key]
    return True, given


def _same(one: Json, other: Json) -> bool:
    # True is 1 to Python and not to JSON.
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(op: Op, found: Json, value: Json) -> bool:
    is_text = isinstance(found, str) and isinstance(value, str)
    if not is_text and not (_is_number(found) and _is_number(value)):
        return False
    table = {Op.LT: found < value, Op.LE: found <= value, Op.GT: found > value, Op.GE: found >= value}
    return bool(table[op])


def _time_ms(value: Json) -> float | None:
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
        except (ValueError, OverflowError):  # no time; one before the year 1 in UTC
            return None
    if not _is_number(value) or not abs(value) < MS_END:  # NaN among them
        return None
    return float(value) if abs(value) >= SECONDS_END else float(value) * 1000
