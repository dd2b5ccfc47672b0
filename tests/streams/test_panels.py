"""Each panel's query runs on chDB with realistic rows; what Grafana gets is made from the same files."""

import importlib.util
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from streams.panel import PAGES, Panel, panels, parameters, read
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from tests.streams.samples import stats, week

ROOT = Path(__file__).parent.parent.parent
NOW = time.time()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    dsn = f"chdb://{tmp_path_factory.mktemp('panels')}"
    sink = Sink(dsn)
    sink.migrate()
    sink.write(week(NOW * 1000))
    sink.write_stats(stats(int(NOW)))
    reader = Reader(dsn)
    yield reader
    reader.close()
    sink.close()


def grafana() -> ModuleType:
    spec = importlib.util.spec_from_file_location("grafana_page", ROOT / "dashboards" / "grafana.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def times(days: int) -> tuple[datetime, datetime]:
    until = datetime.fromtimestamp(NOW, UTC) + timedelta(seconds=1)
    return until - timedelta(days=days), until


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel.id)
@pytest.mark.parametrize("tenant", ["acme", ""])
def test_each_panel_answers_with_the_columns_that_it_draws(reader: Reader, panel: Panel, tenant: str) -> None:
    table = reader.query(panel.sql, parameters(tenant, *times(8)))
    assert table.rows, "the sample has rows for each panel"
    drawn = {name for role, names in panel.options.items() if role != "unit" for name in names}
    assert drawn <= set(table.columns)


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel.id)
def test_a_panel_of_a_tenant_or_time_without_rows_is_empty(reader: Reader, panel: Panel) -> None:
    if panel.page != "pipeline" or "stage_stats" not in panel.sql:
        assert not reader.query(panel.sql, parameters("nobody", *times(8))).rows
    long_ago = datetime.fromtimestamp(NOW, UTC) - timedelta(days=80)
    assert not reader.query(panel.sql, parameters("acme", long_ago, long_ago + timedelta(days=1))).rows


def test_panels_agree_with_the_tables(reader: Reader) -> None:
    by_id = {panel.id: panel for panel in panels()}
    week_of_acme = parameters("acme", *times(8))
    runs = sum(row["runs"] for row in reader.query(by_id["01_runs_by_outcome"].sql, week_of_acme).records())
    assert runs == reader.query("SELECT count() FROM runs").rows[0][0] == 301
    calls = sum(row["calls"] for row in reader.query(by_id["05_tool_reliability"].sql, week_of_acme).records())
    assert calls == reader.query("SELECT sum(calls) FROM runs").rows[0][0]
    failures = sum(row["failures"] for row in reader.query(by_id["06_error_taxonomy"].sql, week_of_acme).records())
    assert failures == reader.query("SELECT count() FROM failures FINAL").rows[0][0]


def test_latency_has_streams_and_tools(reader: Reader) -> None:
    panel = next(panel for panel in panels() if panel.id == "03_latency")
    rows = reader.query(panel.sql, parameters("acme", *times(8))).records()
    assert {row["of"] for row in rows} == {"stream", "tool"}


def test_there_are_the_eighteen_panels_and_throughput() -> None:
    assert [int(panel.id.split("_")[0]) for panel in panels()] == list(range(1, 20))
    assert {panel.page for panel in panels()} == set(PAGES)


def test_a_panel_without_its_head_is_refused() -> None:
    with pytest.raises(ValueError, match="first two lines"):
        read("99_x", "-- Title\n-- page=nowhere chart=bars\nSELECT 1")


def test_grafana_has_what_the_panels_say() -> None:
    for path, text in grafana().files().items():
        assert path.read_text(encoding="utf-8") == text, "run dashboards/grafana.py"


def test_grafana_queries_run(reader: Reader) -> None:
    since, until = (int(moment.timestamp()) for moment in times(8))
    count = 0
    for path in grafana().files():
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            sql = panel["targets"][0]["rawSql"].replace("${tenant:sqlstring}", "'acme'")
            sql = sql.replace("$__fromTime", f"toDateTime({since})").replace("$__toTime", f"toDateTime({until})")
            assert not re.search(r"\$|\{\w+:", sql)
            assert reader.query(sql).rows
            count += 1
    assert count == len(panels())
