"""Whether a text is a moment or a clock time, in RFC 3339 with the offset left to the writer.

Models mostly write no offset where the user named none: the time is then that of the user's place, which only the tool
knows.
"""

import re
from datetime import datetime

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9:.]+(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?\Z")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?\Z")


def is_moment(text: str) -> bool:
    """`2031-05-04T09:30:00`, with or without an offset."""
    if not _MOMENT.match(text) or not _CLOCK.match(text[11:]):
        return False
    try:
        datetime.fromisoformat(text[:10])
    except ValueError:  # no such day
        return False
    return True


def is_clock(text: str) -> bool:
    """`09:30`, with or without seconds and an offset."""
    return bool(_CLOCK.match(text))
