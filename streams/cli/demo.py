"""`demo`: the main job on embedded engines, with a summary."""

import asyncio
import logging
import os
import shutil
import sys
import time
from collections import Counter
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from schemas.output import Output
from schemas.toolcall import CallStatus
from schemas.wire import encode
from streams.demo import Watched, demo
from streams.demo_learning import Learned
from streams.demo_streams import recorded
from streams.embedded import engines
from streams.settings import load

SHOWN = "01-beijing-weather-thinking-tag"
"""The output that is printed whole."""
ASKED = "SELECT kind, status, count() FROM steps FINAL GROUP BY ALL ORDER BY ALL"
"""What the last line proposes to ask the tables."""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("demo")(run_demo)


def run_demo(
    repeat: Annotated[int, typer.Option(min=1, help="How often each recorded text is sent.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as one JSON object.")] = False,
) -> int:
    """Run the main job on embedded engines: raw model outputs in, structured and clean outputs and tables out."""
    console = Console(stderr=as_json)
    logging.getLogger("aiokafka").setLevel(
        logging.CRITICAL
    )  # the embedded broker has no idempotent producer, and says so
    streams = recorded(repeat, f"demo-{int(time.time())}")
    columns = (TextColumn("{task.description:12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with engines(load()) as started, Progress(*columns, console=console, transient=True) as progress:
        console.print(f"{len(streams)} streams → Kafka topics → segment, reason, tool, clean → outputs and tables")
        watched = asyncio.run(demo(started, streams, progress))
    if as_json:
        print(orjson.dumps(summary(watched), option=orjson.OPT_INDENT_2).decode())
    else:
        show(console, watched)
    is_learned = watched.learned is not None and watched.learned.is_in_use
    complete = is_learned and not watched.doubled and watched.rows.get("streams") == watched.streams
    return 0 if complete else 1


def summary(watched: Watched) -> dict[str, object]:
    """The figures of a run."""
    outputs = list(watched.outputs.values())
    calls = Counter(str(_status(call.status, call.duplicate_of)) for output in outputs for call in output.tool_calls)
    pii: Counter[str] = Counter()
    for output in outputs:
        pii.update(output.pii)
    return {
        "streams": watched.streams,
        "outputs": len(outputs),
        "doubled": watched.doubled,
        "rows": watched.rows,
        "tokens": watched.tokens,
        "seconds": round(watched.seconds, 2),
        "tokens_per_s": round(watched.tokens / watched.seconds),
        "formats": dict(Counter(output.format.id or "(plain)" for output in outputs).most_common()),
        "calls": dict(calls.most_common()),
        "pii": dict(pii.most_common()),
        "learned": _learned(watched.learned),
        "failures": dict(Counter(str(f.code) for output in outputs for f in output.failures).most_common()),
    }


def _learned(learned: Learned | None) -> dict[str, object] | None:
    if learned is None or learned.pattern is None:
        return None
    figures: dict[str, object] = {"pattern": learned.pattern.id, "seconds": round(learned.seconds, 2)}
    return figures | {
        "first": learned.first,
        "first_read": learned.first_read,
        "later": learned.later,
        "later_read": learned.later_read,
    }


def _status(status: CallStatus, duplicate_of: str | None) -> str:
    return "duplicate" if duplicate_of else status


def show(console: Console, watched: Watched) -> None:
    """The figures for people, one output whole, and where the tables are."""
    figures = summary(watched)
    table = Table(show_header=False, box=None, padding=(0, 2))
    for name in ("streams", "outputs", "doubled", "tokens", "seconds", "tokens_per_s"):
        table.add_row(name.replace("_", " "), f"{figures[name]:,}")
    for name in ("rows", "formats", "calls", "pii", "failures"):
        counts = figures[name]
        assert isinstance(counts, dict)
        table.add_row(name, "  ".join(f"{key} {count}" for key, count in counts.items()))
    console.print(table)
    shown = next((output for name, output in watched.outputs.items() if SHOWN in name), None)
    if shown is not None:
        console.print(f"\nThe output of {shown.stream_id}:")
        console.print_json(_readable(shown), ensure_ascii=False)
    if watched.learned is not None:
        show_learned(console, watched.learned)
    program = "hermes-streams" if shutil.which("hermes-streams") else os.path.relpath(sys.argv[0])
    console.print("\nThe tables are in the data directory; ask them with")
    console.print(f'  {program} sql "{ASKED}"', soft_wrap=True)


def show_learned(console: Console, learned: Learned) -> None:
    """What the second act showed: before, the timeline of the evidence, after."""
    console.print("\nA format that no catalogue knows, for instance:")
    console.print(learned.example, markup=False, highlight=False, style="dim")
    console.print(f"Its first {learned.first} streams: {learned.first_read} with calls that could be read.")
    if learned.pattern is not None:
        console.print(f"Learned in {learned.seconds:.1f} s as {learned.pattern.id}, {learned.pattern.state}:")
        for step in learned.pattern.evidence:
            figures = "  ".join(f"{key} {value}" for key, value in step.data.items() if not isinstance(value, list))
            console.print(f"  {step.step:8} {figures}", markup=False, highlight=False)
    console.print(f"The {learned.later} streams after that: {learned.later_read} with calls that could be read.")


def _readable(output: Output) -> str:
    """An output for people: without what repeats its id in each part."""
    value = orjson.loads(encode(output))
    for part in (*value["reasoning"]["nodes"], *value["tool_calls"], *value["state"].values(), *value["failures"]):
        part.pop("schema", None)
        part.pop("stream_id", None)
    value.pop("meta")
    return orjson.dumps(value).decode()
