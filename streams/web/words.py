"""Values → what a person reads: times, durations, amounts, chips for what was masked. Content is always escaped."""

import re
from datetime import UTC, date, datetime
from urllib.parse import quote

import orjson
from markupsafe import Markup, escape

from schemas.jsonvalue import Json, JsonObject

SHOWN_CHARS_MAX = 100_000
"""More of one text than this isn't put on a page; the download has it all."""
_PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]{0,40}?)_REDACTED\]")
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters that hide or turn text: shown by their code, so that a page says what is there."""


def clock(moment: datetime | None) -> str:
    """Time of day in UTC; with the date when it isn't today."""
    if moment is None:
        return "–"
    moment = moment.astimezone(UTC)
    today = datetime.now(UTC).date()
    return moment.strftime("%H:%M:%S" if moment.date() == today else "%b %d, %H:%M")


def duration(ms: float | None) -> str:
    """A length of time with two or three digits."""
    if ms is None or ms < 0:
        return "–"
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    if ms < 3_600_000:
        return f"{int(ms // 60_000)} min {int(ms % 60_000 // 1000)} s"
    return f"{int(ms // 3_600_000)} h {int(ms % 3_600_000 // 60_000)} min"


def between(first: datetime, last: datetime) -> str:
    """How long from one time to another."""
    return duration((last - first).total_seconds() * 1000)


def amount(value: float | None) -> str:
    """A number with thin thousands; – for an unknown one, which is not 0."""
    if value is None:
        return "–"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{int(value):,}"


def percent(value: float | None) -> str:
    """A share."""
    return "–" if value is None else f"{value * 100:.1f} %"


def usd(value: float | None) -> str:
    """A cost; – when no price is known."""
    return "–" if value is None else f"${value:,.4f}"


def masked(text: Json) -> Markup:
    """Escaped text in which placeholders are chips and hiding characters show their code."""
    given = str(text)
    shown = given[:SHOWN_CHARS_MAX]
    parts, end = [], 0
    for found in _PLACEHOLDER.finditer(shown):
        parts += [
            _plain(shown[end : found.start()]),
            Markup('<span class="chip masked" title="masked">{}</span>').format(found[1]),
        ]
        end = found.end()
    parts.append(_plain(shown[end:]))
    if len(given) > SHOWN_CHARS_MAX:
        parts.append(
            Markup('<span class="more-text">… {} more characters</span>').format(amount(len(given) - len(shown)))
        )
    return Markup("").join(parts)


def pretty(value: Json) -> str:
    """JSON with two spaces of indent."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str).decode()


def cell(value: Json) -> str:
    """A value of a result table."""
    if value is None:
        return "–"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple | dict):
        return pretty(value) if len(str(value)) > 80 else orjson.dumps(value, default=str).decode()
    return str(value)


def short(text: str, chars: int = 12) -> str:
    """The first characters of an id."""
    return text if len(text) <= chars else text[: chars - 1] + "…"


def visible(value: Json) -> Json:
    """What a template puts out: hiding characters go from plain text; `masked` shows them instead."""
    return _INVISIBLE.sub("", value) if isinstance(value, str) and not isinstance(value, Markup) else value


def path(text: str) -> str:
    """An id as one segment of an address."""
    return quote(text.encode("utf-8", "replace"), safe="")


def list_of(record: JsonObject) -> list[Json]:
    """A record's values."""
    return [cell(value) if isinstance(value, date) else value for value in record.values()]


def json(value: Json) -> str:
    """JSON for a data attribute; the template escapes it."""
    return orjson.dumps(value, default=str).decode()


def _plain(text: str) -> Markup:
    escaped = escape(text)
    if not _INVISIBLE.search(text):
        return escaped
    shown = _INVISIBLE.sub(
        lambda found: f'<span class="code-point" title="invisible">U+{ord(found[0]):04X}</span>', escaped
    )
    return Markup(shown)  # noqa: S704 - escaped before the codes were put in


FILTERS = {
    function.__name__: function
    for function in (
        clock,
        duration,
        between,
        amount,
        percent,
        usd,
        masked,
        pretty,
        cell,
        short,
        path,
        list_of,
        json,
    )
}
