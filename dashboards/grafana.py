"""dashboards/*.sql → Grafana dashboards in dashboards/grafana. Run it after a change of a panel; a test compares.

Needs Grafana's plugin grafana-clickhouse-datasource and a ClickHouse server: Grafana can't see chDB.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from streams.panel import PAGES, Panel, panels  # noqa: E402

SOURCE = {"type": "grafana-clickhouse-datasource", "uid": "hermes-clickhouse"}
KINDS = {"bars": "barchart", "lines": "timeseries", "table": "table", "heat": "table", "sankey": "table"}
UNITS = {"ms": "ms", "percent": "percentunit"}
WIDTH, HEIGHT = 12, 9
TIMES = {"since": "$__fromTime", "until": "$__toTime"}


def grafana_sql(panel: Panel) -> str:
    """The panel's query with Grafana's variable and macros in place of parameters."""
    text = panel.sql.replace("{tenant:String}", "${tenant:sqlstring}")
    return re.sub(r"\{(since|until):[^}]*\}", lambda found: TIMES[found[1]], text)


def dashboard(page: str) -> dict[str, object]:
    """One page's panels as a Grafana dashboard."""
    shown = [panel for panel in panels() if panel.page == page]
    return {
        "uid": f"hermes-{page}",
        "title": f"Hermes Streams: {page}",
        "tags": ["hermes-streams"],
        "timezone": "utc",
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {
            "list": [
                {
                    "name": "tenant",
                    "type": "query",
                    "datasource": SOURCE,
                    "query": "SELECT DISTINCT tenant FROM streams UNION ALL SELECT ''",
                    "refresh": 1,
                    "current": {"text": "", "value": ""},
                }
            ]
        },
        "panels": [_panel(place, panel) for place, panel in enumerate(shown)],
    }


def files() -> dict[Path, str]:
    """Where each generated file goes, and its text."""
    folder = ROOT / "dashboards" / "grafana" / "dashboards"
    return {folder / f"{page}.json": json.dumps(dashboard(page), indent=1, ensure_ascii=False) + "\n" for page in PAGES}


def _panel(place: int, panel: Panel) -> dict[str, object]:
    kind = KINDS[panel.chart]
    unit = UNITS.get(panel.options.get("unit", ("",))[0], "short")
    return {
        "id": place + 1,
        "title": panel.title,
        "description": f"{panel.id}.sql",
        "type": kind,
        "datasource": SOURCE,
        "gridPos": {"x": WIDTH * (place % 2), "y": HEIGHT * (place // 2), "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [
            {
                "refId": "A",
                "datasource": SOURCE,
                "editorType": "sql",
                "rawSql": grafana_sql(panel),
                "queryType": "timeseries" if kind == "timeseries" else "table",
                "format": 0 if kind == "timeseries" else 1,
            }
        ],
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
