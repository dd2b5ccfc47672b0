"""How fast are sink, panels, pages and exports over 5 million steps in chDB?

Rows are made by the engine itself (three tenants, 14 days, 20 steps a stream, one run of 20,000 steps); the sink's part
writes real events. Prints one table; times are medians of five calls, in ms: by the clock, with the
machine's other work in them, and in CPU time of all threads.

python benchmarks/bench_clickhouse.py [--steps 5000000] [--folder DIR]   about 10 minutes and 3 GB of disk at full size
"""

import argparse
import asyncio
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import ClientSession

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from schemas.trajectory import Step  # noqa: E402
from streams.panel import panels, parameters  # noqa: E402
from streams.settings import Settings  # noqa: E402
from streams.store import Reader, open_client  # noqa: E402
from streams.trajectories_to_clickhouse import Sink  # noqa: E402
from streams.web.app import start_web  # noqa: E402

DAYS = 14
ROUNDS = 5
BIG_RUN_STEPS = 20_000
SINK_EVENTS = 200_000


def generate(dsn: str, steps: int) -> float:
    """Fill the store; seconds taken."""
    client = open_client(dsn)
    streams = steps // 20
    begin = time.time()
    given = {"streams": streams, "seconds": DAYS * 86_400 - 600}
    for start in range(0, streams, 50_000):
        client.command(_STEPS, parameters={**given, "start": start * 20, "count": min(50_000, streams - start) * 20})
        client.command(_STREAMS, parameters={**given, "start": start, "count": min(50_000, streams - start)})
    client.command(_BIG, parameters={"count": BIG_RUN_STEPS})
    client.command(_BIG_STREAMS, parameters={"count": BIG_RUN_STEPS // 500})
    client.command(_FAILURES, parameters={**given, "count": steps // 50})
    client.command(_STATS, parameters={"count": DAYS * 1440 * 48})
    client.command(
        "INSERT INTO blobs (tenant, content_hash, content) SELECT tenant, content_hash, repeat(preview, 3) FROM steps WHERE content_hash != ''"
    )
    client.close()
    return time.time() - begin


def sink_rate(dsn: str) -> Iterator[tuple[str, str, str]]:
    sink = Sink(dsn)
    wall = cpu = 0.0
    before = sum(sink.written.values())
    for batch in range(SINK_EVENTS // 40_000):
        events = list(_events(batch, 40_000))
        start, start_cpu = time.perf_counter(), time.process_time()
        sink.write(events)
        wall += time.perf_counter() - start
        cpu += time.process_time() - start_cpu
    rows = sum(sink.written.values()) - before
    sink.close()
    yield (
        "sink, batches of 40,000 steps",
        "≥ 100,000 rows/s",
        f"{rows / wall:,.0f} rows/s ({rows / cpu:,.0f} for a second of CPU)",
    )


def _events(batch: int, count: int) -> Iterator[Step]:
    now = time.time() * 1000
    for number in range(count):
        stream_id = f"sink-{batch:04}-{number // 20:06}"
        given = {"stream_id": stream_id, "run_id": stream_id, "order": number % 20, "ts": now, "model": "m-1"}
        if number % 4 == 1:
            detail = {
                "id": f"call_{number % 20}",
                "name": "get_weather",
                "arguments": {"city": "Oslo", "n": number},
                "strategy": "json",
                "repairs": [],
            }
            yield Step(kind="tool_call", text=f'{{"city": "Oslo", "n": {number}}}', detail=detail, **given)
        else:
            yield Step(kind="response", text="I should look at the weather in Oslo first. " * (1 + number % 4), **given)


def panel_times(reader: Reader) -> Iterator[tuple[str, str, str]]:
    until = datetime.now(UTC) + timedelta(seconds=60)
    worst: dict[int, list[tuple[float, float, str]]] = {1: [], DAYS: []}
    for panel in panels():
        times = []
        for days, found in worst.items():
            given = parameters("acme", until - timedelta(days=days), until)
            wall, cpu = median(lambda given=given, panel=panel: reader.query(panel.sql, given))
            found.append((wall, cpu, panel.id))
            times.append(f"{wall:.0f} (CPU {cpu:.0f})")
        yield f"panel {panel.id}", "≤ 100 / ≤ 700 ms", f"{' / '.join(times)} ms"
    for days, wanted in ((1, 100), (DAYS, 700)):
        slow = [name for wall, _, name in worst[days] if wall > wanted]
        slow_cpu = [name for _, cpu, name in worst[days] if cpu > wanted]
        middle = statistics.median(wall for wall, _, _ in worst[days])
        cpu = statistics.median(cpu for _, cpu, _ in worst[days])
        yield (
            f"all panels, {days} d: median",
            f"≤ {wanted} ms each",
            f"{middle:.0f} ms, CPU {cpu:.0f} ms; above: {', '.join(slow) or 'none'}; above in CPU time: {', '.join(slow_cpu) or 'none'}",
        )


def median(call: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Wall time and CPU time of all threads, in ms."""
    walls, cpus = [], []
    for _ in range(rounds):
        start, start_cpu = time.perf_counter(), time.process_time()
        call()
        walls.append((time.perf_counter() - start) * 1000)
        cpus.append((time.process_time() - start_cpu) * 1000)
    return statistics.median(walls), statistics.median(cpus)


async def page_times(dsn: str, reader: Reader, folder: Path) -> list[tuple[str, str, str]]:
    page = await start_web(reader, replace(Settings(), data_dir=str(folder), web_port=0))
    found = []
    async with ClientSession() as session:
        for name, address, wanted in (
            ("runs list, 24 h", "/runs?tenant=acme", 150),
            ("runs list, 14 d", "/runs?tenant=acme&range=14d", 150),
            ("runs list, 14 d, failed runs of one tool", "/runs?tenant=acme&range=14d&outcome=failed&tool=tool_3", 0),
            ("run page, 20,000 steps", "/runs/big-run", 1000),
            ("run page, 20,000 steps, transcript", "/runs/big-run?tab=transcript", 1000),
            ("step of that run", "/runs/big-run/streams/big-7/steps/101/0", 0),
        ):
            times, cpus = [], []
            for _ in range(ROUNDS):
                start, start_cpu = time.perf_counter(), time.process_time()
                async with session.get(page.url + address) as answer:
                    body = await answer.read()
                times.append((time.perf_counter() - start) * 1000)
                cpus.append((time.process_time() - start_cpu) * 1000)
                assert answer.status == 200, body[:500]
            found.append(
                (
                    f"{name} ({len(body) // 1024} KB)",
                    f"≤ {wanted} ms" if wanted else "–",
                    f"{statistics.median(times):.0f} ms",
                )
            )
        found.append(
            (
                "event written → in the live list",
                "≤ 1 s",
                f"{await live_time(session, page.url, dsn):.0f} ms (median), its batch's age up to 500 ms comes on top",
            )
        )
    await page.close()
    return found


async def live_time(session: ClientSession, url: str, dsn: str) -> float:
    sink, times = Sink(dsn), []
    async with session.get(f"{url}/live/runs") as events:
        await events.content.readline()
        for number in range(ROUNDS):
            name = f"live-{number}-{time.time_ns()}"
            start = time.perf_counter()
            await asyncio.to_thread(
                sink.write, [Step(stream_id=name, order=0, kind="response", text="x", ts=time.time() * 1000)]
            )
            while name.encode() not in await events.content.readline():
                pass
            times.append((time.perf_counter() - start) * 1000)
    sink.close()
    return statistics.median(times)


def export_rate(folder: Path, steps: int) -> tuple[str, str, str]:
    """In a process of its own, for its memory."""
    hours = max(1, round(DAYS * 24 * min(1.0, 1_000_000 / steps)))
    environment = {**os.environ, "HERMES_DATA_DIR": str(folder)}
    environment.pop("CLICKHOUSE_DSN", None)
    script = (
        "import sys, time; from streams.store import Reader, give_memory_back; give_memory_back(); from streams.cli.app import main; "
        "reader = Reader(sys.argv[1]); reader.query('SELECT count() FROM steps'); reader.close(); "
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]); opened = peak(); start = time.time(); start_cpu = time.process_time(); "
        "sys.argv[1:] = ['export', '--since', sys.argv[2], '-o', sys.argv[3]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(opened // 1024, peak() // 1024, time.time() - start, time.process_time() - start_cpu)"
    )
    out = folder / "export.jsonl"
    answer = subprocess.run(
        [sys.executable, "-c", script, f"chdb://{folder / 'clickhouse'}", f"{hours}h", str(out)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    opened, peak, seconds, cpu = answer.stdout.split()
    with out.open("rb") as file:
        count = sum(1 for _ in file)
    return (
        f"export of {count:,} steps to JSON lines",
        "≥ 50,000 steps/s, ≤ 300 MB",
        f"{count / float(seconds):,.0f} steps/s ({count / float(cpu):,.0f} for a second of CPU); peak {peak} MB, of which the opened engine {opened} MB",
    )


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--steps", type=int, default=5_000_000)
    arguments.add_argument("--folder", type=Path, default=None)
    given = arguments.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="bench-clickhouse-"))
    dsn = f"chdb://{folder / 'clickhouse'}"
    sink = Sink(dsn)
    fresh = bool(sink.migrate())
    seconds = generate(dsn, given.steps) if fresh else 0.0
    sink.close()
    reader = Reader(dsn, seconds_max=120)
    count = reader.query("SELECT count() FROM steps").rows[0][0]
    size = reader.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'hermes'").rows[0][0]
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{count:,} steps, made in {seconds:.0f} s, {size / 1e6:.0f} MB on disk; {os.cpu_count()} cores, load {load}")
    rows = [*panel_times(reader), *asyncio.run(page_times(dsn, reader, folder))]
    reader.close()
    rows.append(export_rate(folder, given.steps))
    rows += sink_rate(dsn)
    width = max(len(row[0]) for row in rows)
    for name, wanted, measured in rows:
        print(f"{name:{width}}  {wanted:26}  {measured}")
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    if given.folder is None:
        shutil.rmtree(folder)


_AT = "now64(3) - toIntervalMillisecond(toUInt64({seconds:UInt64} * 1000 * (1 - stream / {streams:UInt64})) + 1000)"
_TENANT = "['acme', 'acme', 'beta', 'gamma'][stream % 4 + 1]"
_STEPS = f"""INSERT INTO steps (tenant, run_id, stream_id, `order`, kind, name, status, error_class, model, format, strategy, call_id, repairs,
  pattern_id, args_hash, started_at, duration_ms, confidence, span_start, span_end, chars, preview, content_hash, detail)
SELECT {_TENANT}, concat('run-', lower(hex(sipHash64(stream)))) AS run, concat('s-', toString(stream)), place,
  ['reasoning','tool_call','tool_result','response'][place % 4 + 1] AS kind,
  if(kind IN ('tool_call','tool_result'), concat('tool_', toString(sipHash64(stream, intDiv(place, 4)) % 12)), if(kind = 'reasoning', 'planning', '')),
  multiIf(kind = 'tool_call' AND chance < 60, 'repaired', kind = 'tool_call' AND chance < 75, 'refused', kind = 'tool_result' AND chance < 40, 'system_error', 'ok') AS status,
  multiIf(status = 'refused', 'type_mismatch', status = 'system_error', status, ''), concat('model-', toString(stream % 6)),
  concat('format-', toString(stream % 9)), if(kind = 'tool_call', 'json', ''), if(kind IN ('tool_call','tool_result'), concat('call_', toString(intDiv(place, 4))), ''),
  if(status = 'repaired', ['trailing_comma'], []), if(status = 'repaired', concat('rr-', toString(chance % 30)), ''),
  if(kind = 'tool_call', sipHash64(stream, intDiv(place, 4) % 3), 0), {_AT},
  if(kind = 'tool_result', chance + sipHash64(number) % 900, 0), 0.9, place * 200, place * 200 + 180, 180 + chance % 200 AS chars,
  substring(repeat(concat(toString(sipHash64(number)), ' some words of a model '), 6), 1, 200),
  if(chars > 200 AND place % 4 != 2 AND chance < 120, lower(concat(hex(sipHash64(number)), hex(sipHash64(number, 7)))), ''),
  if(kind = 'tool_call', concat('{{"id":"call_0","name":"t","arguments":{{"q":', toString(number), '}}}}'), '')
FROM (SELECT number, intDiv(number, 20) AS stream, number % 20 AS place, sipHash64(number, 1) % 1000 AS chance FROM numbers({{start:UInt64}}, {{count:UInt64}}))"""
_STREAMS = f"""INSERT INTO streams (tenant, hour, run_id, stream_id, state, outcome, started_at, ended_at, latency_ms, title, model, provider, agent,
  format, tools, steps, calls, errors, repairs, failures, pii, reasoning_chars, response_chars, confidence, tok_in, tok_out, tok_reasoning,
  registry_version, rev)
SELECT {_TENANT}, toStartOfHour(at), concat('run-', lower(hex(sipHash64(stream)))), concat('s-', toString(stream)), 'closed',
  ['clean','clean','clean','repaired','failed','partial'][sipHash64(stream) % 6 + 1], {_AT} AS at, at + toIntervalMillisecond(sipHash64(stream) % 9000), 12,
  concat('What the model answered in stream ', toString(stream)), concat('model-', toString(stream % 6)), 'local', concat('agent-', toString(stream % 5)),
  concat('format-', toString(stream % 9)), arrayMap(i -> concat('tool_', toString(sipHash64(stream, i) % 12)), range(5)), 20, 5, stream % 7 = 0, stream % 5, stream % 3,
  if(stream % 8 = 0, map('EMAIL', 2, 'PHONE', 1), map()), 900, 700, 0.9, 800, 300, 120, stream % 4, 1099511627776
FROM (SELECT number AS stream FROM numbers({{start:UInt64}}, {{count:UInt64}}))"""
_BIG = """INSERT INTO steps (tenant, run_id, stream_id, `order`, kind, name, status, started_at, span_start, span_end, chars, preview)
SELECT 'acme', 'big-run', concat('big-', toString(intDiv(number, 500))), number % 500, ['reasoning','tool_call','response'][number % 3 + 1], 'tool_1', 'ok',
  now64(3) - toIntervalSecond(3600 - intDiv(number, 500) * 60), number % 500 * 100, number % 500 * 100 + 90, 90, repeat('big ', 40) FROM numbers({count:UInt64})"""
_BIG_STREAMS = """INSERT INTO streams (tenant, hour, run_id, stream_id, state, outcome, started_at, ended_at, title, model, steps, rev)
SELECT 'acme', toStartOfHour(at), 'big-run', concat('big-', toString(number)), 'closed', 'clean', now64(3) - toIntervalSecond(3600 - number * 60) AS at,
  at + toIntervalSecond(50), 'A long run', 'model-1', 500, 1099511627776 FROM numbers({count:UInt64})"""
_FAILURES = f"""INSERT INTO failures (tenant, failed_at, failure_id, run_id, stream_id, stage, code, signature, found, pattern_id)
SELECT {_TENANT}, {_AT}, lower(concat(hex(sipHash64(number)), hex(sipHash64(number, 7)))), concat('run-', lower(hex(sipHash64(stream)))), concat('s-', toString(stream)),
  ['tool','segment','clean'][number % 3 + 1], ['repaired','refused_call','orphan_marker','missing_close'][number % 4 + 1],
  concat('signature-', toString(sipHash64(number) % 300)), 'excerpt', if(number % 3 = 0, concat('rr-', toString(number % 30)), '')
FROM (SELECT number, sipHash64(number) % {{streams:UInt64}} AS stream FROM numbers({{count:UInt64}}))"""
_STATS = """INSERT INTO stage_stats (ts, stage, instance, topic, partition, records_in, records_out, failures, lag, oldest_ms, p95_ms)
SELECT now() - toIntervalMinute(intDiv(number, 48)), ['segment','reason','tool','clean'][number % 4 + 1], 'w1', 'llm.tokens', intDiv(number, 4) % 12,
  6000, 5900, number % 9, number % 300, number % 900, 3.5 FROM numbers({count:UInt64})"""

if __name__ == "__main__":
    main()
