"""Requests of the batch command `periods` → answers."""

from dataclasses import fields
from datetime import datetime

from processors.periods.read import read_periods
from processors.periods.reading import Item, read_moment, read_policy
from schemas.jsonvalue import Json, JsonObject

FIELDS = tuple(field.name for field in fields(Item))


def answer_periods(request: JsonObject) -> JsonObject:
    """Read one request; raises KeyError, TypeError or ValueError on what is none."""
    user, now = request["user"], request.get("now")
    if not isinstance(user, str):
        raise TypeError("user: not a string")
    moment = None if now is None else moment_of(now)
    reading = read_periods(user, moment, policy=read_policy(request.get("policy")))
    return {
        "id": request.get("id"),
        "kind": reading.kind,
        "start": reading.start,
        "end": reading.end,
        "text": reading.text,
        "candidates": [list(span) for span in reading.candidates],
        "items": [{name: getattr(item, name) for name in FIELDS} for item in reading.items],
    }


def moment_of(now: Json) -> datetime:
    """A request's `now`; raises TypeError or ValueError with a message for whoever wrote it."""
    if not isinstance(now, str):
        raise TypeError("now: not a string")
    try:
        return read_moment(now)
    except ValueError:
        raise ValueError("now: not an ISO 8601 time, as 2026-06-01T09:00:00+08:00") from None
