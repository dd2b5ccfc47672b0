"""A period and a group of slots → the values that the slots should hold, and whether they already hold them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from processors.periods.forms import Slot
from processors.periods.reading import Span
from processors.periods.slots import Group
from processors.periods.spans import DAY
from processors.periods.spelling import ends_of_day, months_of, number_of, part_of_span, point_of, spelled
from schemas.jsonvalue import Json

UNIT_FORMS = ("year", "quarter", "month_number", "year_month", "year_quarter")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a group of slots should hold."""

    values: tuple[Json, ...]
    points: tuple[object, ...]

    def keeps(self, values: Sequence[Json]) -> bool:
        """Whether the values are spelled as they should be."""
        return all(type(a) is type(b) and a == b for a, b in zip(values, self.values, strict=True))

    def begins_like(self, points: Sequence[object]) -> bool:
        """Whether the start that is given, without an end, is this one's."""
        return len(points) == 2 and points[0] is not None and points[1] is None and _equal(points[0], self.points[0])


def wanted_of(group: Group, span: Span, now: datetime | None) -> Wanted | None:
    """What the group should hold for a period; None if it can't take it."""
    if group.shape == "single":
        return _single(group.slots[0], span)
    if group.shape == "parts":
        values = tuple(_part(slot, span) for slot in group.slots)
        return None if None in values else Wanted(values, values)
    slots = group.slots if group.shape == "pair" else group.slots * 2
    start, end = _in_form(slots[0], span, now)
    if start is None or end is None:
        return None
    if slots[1].exclusive and not isinstance(end, datetime):
        end += DAY
    if slots[0].form in UNIT_FORMS:
        return None
    values = (spelled(start, slots[0]), spelled(end, slots[1]))
    if None in values:
        return None
    points = (start, end)
    return Wanted(([*values],), points) if group.shape == "array" else Wanted(values, points)


def _part(slot: Slot, span: Span) -> Json:
    """The year of a quarter's or month's span, or its number."""
    if slot.form != "year":
        return part_of_span(span, slot)
    start = span[0]
    return None if start is None else start.year if not slot.is_text else f"{start.year:04d}"


def _single(slot: Slot, span: Span) -> Wanted | None:
    start, end = span
    if slot.form in UNIT_FORMS:
        value = part_of_span(span, slot)
        return None if value is None else Wanted((value,), (span,) if slot.form.startswith("year_") else (value,))
    if start is None or start != end or (isinstance(start, datetime) != (slot.form != "date") and slot.form != "date"):
        return None
    value = spelled(start, slot)
    point = start.date() if slot.form == "date" and isinstance(start, datetime) else start
    return None if value is None else Wanted((value,), (point,))


def _in_form(slot: Slot, span: Span, now: datetime | None) -> Span:
    """The span as days or as moments, as the slot takes them; open where it can't."""
    is_moments = isinstance(span[0], datetime) or isinstance(span[1], datetime)
    if slot.form == "date":
        return (None, None) if is_moments else span
    if is_moments:
        return span
    return ends_of_day(span, now) if now else (None, None)


def current_points(group: Group, values: Sequence[Json]) -> tuple[object, ...]:
    """What the values name now: days, moments, numbers; None for what names none."""
    if group.shape == "array":
        inner = _list_of(values[0])
        return tuple(point_of(value, group.slots[0]) for value in inner)
    if group.shape == "parts":
        return tuple(number_of(value, slot) for value, slot in zip(values, group.slots, strict=True))
    if group.shape == "pair":
        return tuple(point_of(value, slot) for value, slot in zip(values, group.slots, strict=True))
    slot = group.slots[0]
    if slot.form in ("year_month", "year_quarter"):
        return (months_of(values[0], slot),)
    if slot.form in UNIT_FORMS:
        return (number_of(values[0], slot),)
    return (point_of(values[0], slot),)


def _list_of(value: Json) -> tuple[Json, Json]:
    """A pair out of a list, of its JSON text, of an object with two values, or of one value."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):  # no JSON after all
            return (None, None)
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return (value, None)
    if len(value) > 2:
        return (None, None)
    first, last = [*value, None, None][:2]
    return (first, last)


def is_same(points: Sequence[object], wanted: Wanted) -> bool:
    """Whether the points are the wanted ones."""
    if len(points) != len(wanted.points):
        return False
    return all(_equal(a, b) for a, b in zip(points, wanted.points, strict=True))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, datetime) and isinstance(other, datetime):
        if (one.tzinfo is None) == (other.tzinfo is None):
            return one == other
        return one.replace(tzinfo=None) == other.replace(tzinfo=None)
    if isinstance(one, date) and isinstance(other, date):
        return type(one) is type(other) and one == other
    return one is not None and one == other
