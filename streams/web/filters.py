"""URL query ↔ Filter: what a list is narrowed to lives in the address, so that it can be shared and gone back to."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

RANGES = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "14d": timedelta(days=14),
    "90d": timedelta(days=90),
}
RANGE_DEFAULT = "24h"
OUTCOMES = ("open", "clean", "repaired", "partial", "failed")
TEXT_CHARS_MAX = 200
SPAN_MAX = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Filter:
    """What is shown; empty fields don't narrow."""

    range: str = RANGE_DEFAULT
    since: str = ""
    until: str = ""
    tenant: str = ""
    outcome: str = ""
    agent: str = ""
    model: str = ""
    tool: str = ""
    error: str = ""
    session: str = ""
    text: str = ""
    before: str = ""
    """Where the page before ended: `<ms>~<run id>`."""

    def times(self, now: datetime) -> tuple[datetime, datetime]:
        """From and to: the given times, else the range that ends now."""
        until = _time(self.until) or now + timedelta(seconds=60)
        since = _time(self.since) or now - RANGES.get(self.range, RANGES[RANGE_DEFAULT])
        if since >= until:
            since = until - RANGES["1h"]
        return max(since, until - SPAN_MAX), until

    def cursor(self) -> tuple[int, str] | None:
        """Where the page before ended."""
        moment, _, run_id = self.before.partition("~")
        return (int(moment), run_id) if moment.isascii() and moment.isdigit() and len(moment) < 16 else None

    def url(self, **changes: str) -> str:
        """Query string of this filter with some fields changed; paging starts anew unless `before` is among them."""
        changed = replace(self, **{"before": "", **changes})
        given = {field.name: getattr(changed, field.name) for field in fields(changed)}
        return "?" + urlencode(
            {key: value for key, value in given.items() if value and (key, value) != ("range", "24h")}
        )

    def narrows(self) -> bool:
        """Whether anything but the time is narrowed."""
        return any((self.tenant, self.outcome, self.agent, self.model, self.tool, self.error, self.session, self.text))


def filter_of(query: Mapping[str, str]) -> Filter:
    """A query string's fields; unknown ones and odd values are left out."""
    given = {}
    for field in fields(Filter):
        value = query.get(field.name, "").strip().replace("\x00", "")[:TEXT_CHARS_MAX]
        given[field.name] = value.encode("utf-8", "replace").decode()
    if given["range"] not in RANGES:
        given["range"] = RANGE_DEFAULT
    if given["outcome"] not in OUTCOMES:
        given["outcome"] = ""
    return Filter(**given)


def _time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC) if 1990 < moment.year < 2200 else None
