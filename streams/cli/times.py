"""A time in a command's option: so long ago, or an ISO time."""

from datetime import UTC, datetime, timedelta

from streams.settings import ConfigError

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def time_of(text: str, now: datetime) -> datetime:
    """`15m`, `24h`, `7d` ago, or an ISO time (UTC where it says nothing else); raises ConfigError."""
    if text[-1:] in UNITS and text[:-1].isdigit():
        return now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{text!r} is not a time: 15m, 24h, 7d or 2026-11-30T10:00") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
