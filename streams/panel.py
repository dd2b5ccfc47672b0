"""dashboards/*.sql → panels: title, page, how to draw it, and the query, for the page and for Grafana alike.

The first line of a file is its title, the second says how to draw: `-- page=tools chart=table bars=ok,failed`. Queries
have three parameters: `tenant` (empty: all), `since` and `until`.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from schemas.jsonvalue import Json

PAGES = ("overview", "tools", "behaviour", "pipeline")
CHARTS = ("bars", "lines", "table", "heat", "sankey")


@dataclass(frozen=True, slots=True)
class Panel:
    """One query and how to draw its answer."""

    id: str
    title: str
    page: str
    chart: str
    options: dict[str, tuple[str, ...]]
    """Roles of columns: x, y, series, value, bars, link; and the unit."""
    sql: str


@cache
def panels() -> tuple[Panel, ...]:
    """The shipped panels, in order of their numbers."""
    folder = files("streams").joinpath("panels")
    entries = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return tuple(read(entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8")) for entry in entries)


def read(panel_id: str, text: str) -> Panel:
    """One file's panel; raises ValueError when its head isn't as above."""
    title, head, sql = text.split("\n", 2)
    words = dict(word.split("=", 1) for word in head.removeprefix("-- ").split())
    page, chart = words.pop("page"), words.pop("chart")
    if page not in PAGES or chart not in CHARTS or not title.startswith("-- "):
        raise ValueError(f"{panel_id}.sql: the first two lines must be a title, page= and chart=")
    options = {key: tuple(value.split(",")) for key, value in words.items()}
    return Panel(panel_id, title.removeprefix("-- "), page, chart, options, sql.strip())


def parameters(tenant: str, since: datetime, until: datetime) -> dict[str, Json]:
    """Query parameters; times as the database reads them."""
    return {"tenant": tenant, "since": _time(since), "until": _time(until)}


def _time(value: datetime) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
