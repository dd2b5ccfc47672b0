"""What a reading is made of: spans of days or moments, values under construction, the policy, the answer.

A span's ends are inclusive; None is an open end. A date-time carries the offset of `now` unless the text names one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import date, datetime, timedelta, timezone
from enum import StrEnum
from typing import Literal

from schemas.jsonvalue import Json

Kind = Literal["none", "date", "range", "datetime", "ambiguous", "unread", "impossible"]
Point = date
"""A day, or (its subclass) a moment."""
Span = tuple[Point | None, Point | None]

ZULU = timezone(timedelta(0), "Z")
"""UTC as a text wrote it with a Z: goes out as Z again."""


class Sure(StrEnum):
    """How far words settle a period: five named levels, no score."""

    LITERAL = "literal"
    """A full date, quarter or month with its year."""
    RELATIVE = "relative"
    """Needs only `now`."""
    ASSUMED = "assumed"
    """Rests on a listed assumption, or on the host's policy."""
    AMBIGUOUS = "ambiguous"
    """Several readings, or none with bounds."""
    UNREAD = "unread"
    """Time words that no rule reads."""


RANK = {level: place for place, level in enumerate(Sure)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the host knows about its users' habits; None leaves such words ambiguous."""

    week_start: Literal["monday", "sunday"] | None = None
    date_order: Literal["dmy", "mdy"] | None = None
    fiscal_start_month: int | None = None
    fiscal_label: Literal["end_year", "start_year"] = "end_year"
    bare_year: Literal["current", "latest_past", "next"] | None = None
    rolling: Literal["incl_today", "excl_today", "full_units"] = "incl_today"
    current_unit: Literal["whole", "to_date"] = "whole"
    weekday_rule: Literal["nearest", "week"] | None = None
    nth_week: Literal["days", "weeks"] | None = None
    ampm: Literal["working_hours"] | None = None
    strict: bool = False
    """No assumption from the verb of the sentence, and none over a value that is there."""


DEFAULT_POLICY = Policy()

_CHOICES = {
    "week_start": ("monday", "sunday"),
    "date_order": ("dmy", "mdy"),
    "fiscal_label": ("end_year", "start_year"),
    "bare_year": ("current", "latest_past", "next"),
    "rolling": ("incl_today", "excl_today", "full_units"),
    "current_unit": ("whole", "to_date"),
    "weekday_rule": ("nearest", "week"),
    "nth_week": ("days", "weeks"),
    "ampm": ("working_hours",),
    "fiscal_start_month": tuple(range(1, 13)),
    "strict": (True, False),
}


def read_policy(value: Json) -> Policy:
    """A policy from JSON; raises ValueError (TypeError) on what is none."""
    if value is None:
        return DEFAULT_POLICY
    if not isinstance(value, dict):
        raise TypeError("policy: not an object")
    known = {one.name for one in fields(Policy)}
    for name, setting in value.items():
        if name not in known:
            raise ValueError(f"policy: no field {name!r}")
        right_type = isinstance(setting, bool) == (name == "strict") and isinstance(setting, str | int)
        if setting is not None and not (right_type and setting in _CHOICES[name]):
            raise ValueError(f"policy.{name}: not one of {list(_CHOICES[name])}")
    return Policy(**{name: setting for name, setting in value.items() if setting is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What words are read against: the moment, the policy, the sentence."""

    now: datetime
    policy: Policy
    text: str = ""
    """The whole sentence, normalised: its other words say whether it asks for something past or to come."""

    @property
    def today(self) -> date:
        """The date in `now`'s own offset."""
        return self.now.date()


Place = Callable[[int], tuple[Span, ...]]
"""A year → the spans that a yearless period has in it; the first one is the usual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A period under construction."""

    grain: str
    """year half quarter month week day span moment clock edge …"""
    spans: tuple[Span, ...] = ()
    """Its readings, the usual one first; several only with a doubt. None with `at`: the year isn't known."""
    doubt: str = ""
    """Why the readings can't be told apart."""
    at: Place | None = None
    sure: Sure = Sure.LITERAL
    assumptions: tuple[str, ...] = ()
    others: tuple[Span, ...] = ()
    """Further readings that are defensible, of a settled value."""
    mark: int | str = ""
    """What its kind needs besides: a clock's certainty, an edge's side, a weekday's number."""

    @property
    def start(self) -> Point | None:
        """First day or moment of the usual reading."""
        return self.spans[0][0] if self.spans else None

    @property
    def end(self) -> Point | None:
        """Last day or moment of the usual reading."""
        return self.spans[0][1] if self.spans else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One period of a text."""

    span: tuple[int, int]
    """Half-open character offsets into the text."""
    text: str
    kind: Kind
    start: str | None
    end: str | None
    grain: str
    rules: tuple[str, ...]
    readings: tuple[tuple[str | None, str | None], ...]
    why: str
    assumptions: tuple[str, ...]
    confidence: Sure


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a text says about time, as a whole: its first period, if the words settle it, and all of them."""

    kind: Kind
    start: str | None = None
    end: str | None = None
    text: str = ""
    candidates: tuple[tuple[str | None, str | None], ...] = ()
    items: tuple[Item, ...] = field(default=())

    @property
    def is_settled(self) -> bool:
        """Whether the words settle one period."""
        return self.kind in ("date", "range", "datetime")


def iso(point: Point | None) -> str | None:
    """A day or moment as ISO 8601 text."""
    if point is None:
        return None
    if isinstance(point, datetime) and point.tzinfo is ZULU:
        return point.replace(tzinfo=None).isoformat() + "Z"
    return point.isoformat()


def read_moment(text: str) -> datetime:
    """ISO 8601 text → a moment; a Z is kept as Z. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=ZULU) if text[-1:] in "zZ" else moment


def read_lenient_moment(text: str) -> datetime | None:
    """As read_moment, None where the text is no moment."""
    try:
        return read_moment(text)
    except ValueError:
        return None
