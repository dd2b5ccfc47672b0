"""The example programs, as a newcomer runs them."""

import asyncio
import importlib.util
from pathlib import Path

import orjson
import pytest

from streams import running as running_module
from tests.streams.flow import consumed, prepared

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.engines
def test_a_teed_stream_is_parsed_and_its_calls_are_run(running, capsys) -> None:
    async def main() -> None:
        settings, _ = await prepared(running.settings, "examples.")
        stages = ("segment", "reason", "tool", "clean")
        chain = running_module.prepare(settings, stages)
        stop = asyncio.Event()
        workers = asyncio.create_task(running_module.run(settings, chain, stop))
        try:
            await asyncio.wait_for(example("tee_openai").main(settings), 60)
            await asyncio.wait_for(example("executor").main(settings, calls_max=2), 60)
        finally:
            stop.set()
            await workers
        results = [orjson.loads(record.value) for record in await consumed(settings, "llm.tool-results", 2)]
        assert [(result["status"], result["content"]["city"]) for result in results] == [("ok", "Oslo"), ("ok", "北京")]

    asyncio.run(main())
    printed = capsys.readouterr().out
    assert "reasoning: Two cities, so two calls." in printed
    assert 'call: get_weather {"city": "北京"} renamed' in printed
    assert "response: I look both up." in printed


def test_exported_parquet_is_read_without_a_server(tmp_path, capsys) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "steps").mkdir()
    rows = {
        "kind": ["tool_call"] * 3 + ["response"],
        "name": ["f", "f", "g", ""],
        "status": ["ok", "ok", "repaired", "ok"],
    }
    pq.write_table(pa.table(rows), tmp_path / "steps" / "part-00001.parquet")
    example("parquet").main(str(tmp_path))
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["f", "ok", "2"],
        ["g", "repaired", "1"],
    ]
