"""A small run of chaos.py: workers and sink are killed, paused and restarted while streams come in."""

import asyncio
from dataclasses import replace

import pytest

from tests.end_to_end.chaos import Plan, is_well, run
from tests.streams.flow import prepared


@pytest.mark.engines
def test_faults_lose_and_change_nothing(running, tmp_path) -> None:
    async def flow():
        settings, _ = await prepared(
            replace(running.settings, clickhouse_dsn=f"chdb://{tmp_path / 'clickhouse'}"), "chaos."
        )
        return await run(settings, Plan(streams=150, faults=5, pause_s=1.5, seed=3), tmp_path, {})

    report = asyncio.run(flow())
    assert is_well(report), report
    assert sum(report.faults.values()) == 5
