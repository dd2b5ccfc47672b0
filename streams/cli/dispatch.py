"""`dispatch`: the worker that executes tool calls."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from processors.dispatching.bounds import Bounds
from schemas.toolcall import ToolResult
from schemas.wire import encode
from streams.dispatch import Dispatcher, DispatchOptions
from streams.dispatch_worker import DispatchWorker
from streams.executing.load import load_tools
from streams.leases import leases
from streams.settings import Settings, load
from streams.snapshots import Snapshots
from streams.strategies_in_use import StrategiesInUse
from streams.topics import load_topology

BOUNDS = Bounds()


def dispatch(
    tools: Annotated[Path, typer.Option("--tools", help="Python file with the tools that may be called.")],
    permit: Annotated[list[str] | None, typer.Option(help="A tool whose side effects may happen; repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done; execute nothing.")] = False,
    steps_max: Annotated[int, typer.Option(help="Calls of one task.")] = BOUNDS.steps_max,
    tokens_max: Annotated[int, typer.Option(help="Tokens of one task.")] = BOUNDS.tokens_max,
    step_s_max: Annotated[float, typer.Option(help="Seconds for one call.")] = BOUNDS.step_s_max,
    parallel_max: Annotated[int, typer.Option(min=1, help="Calls at once.")] = BOUNDS.parallel_max,
    cost_usd_max: Annotated[float, typer.Option(help="What the calls of one task may cost.")] = BOUNDS.cost_usd_max,
) -> None:
    """Execute the calls on llm.outputs and publish what came of them; off unless started."""
    bounds = Bounds(
        steps_max=steps_max, tokens_max=tokens_max, step_s_max=step_s_max, parallel_max=parallel_max,
        cost_usd_max=cost_usd_max,
    )  # fmt: skip
    options = DispatchOptions(bounds=bounds, permitted=frozenset(permit or ()), is_dry_run=dry_run)
    asyncio.run(_run(load(), tools, options))


async def _run(settings: Settings, tools: Path, options: DispatchOptions) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    snapshots = Snapshots()
    following = asyncio.create_task(snapshots.follow(settings, stop))
    await snapshots.wait_for_first()
    async with leases(settings.redis_url, settings.topic_prefix) as kept:
        dispatcher = Dispatcher(load_tools(tools), kept, options, StrategiesInUse(snapshots.current))
        worker = DispatchWorker(
            settings, load_topology(settings), dispatcher, show=_show if options.is_dry_run else None
        )
        try:
            await worker.run(stop)
        finally:
            stop.set()
            await following
    print(f"{worker.outputs} outputs dispatched")


def _show(result: ToolResult) -> None:
    print(encode(result).decode(), flush=True)


def register(app: typer.Typer) -> None:
    """Add `dispatch` to the program."""
    app.command("dispatch")(dispatch)
