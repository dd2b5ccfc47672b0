"""`run STAGE…` and `up`: workers on configured servers, or everything on embedded engines."""

import asyncio
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from streams import running
from streams.cli.dispatch import DryRun, Permitted, ToolsFile, with_tools
from streams.cli.show import say
from streams.embedded import Engines, engines
from streams.settings import ServerAwayError, Settings, load, shown
from streams.stage_figures import StageFigures, keep_reporting
from streams.telemetry import log_to_stderr
from streams.topics import apply
from streams.web.serve import serving
from streams.worker import pause

CHECK_S = 1.0
UP_FILE = "up.toml"
HANDED_OUT = ("kafka_bootstrap", "redis_url", "clickhouse_dsn", "data_dir", "session_timeout_ms")
"""Settings that `up` makes and other programs need."""
STAGES = ("segment", "reason", "tool", "clean", "sink", "learn")
"""What `up` runs; `dispatch` and `retrospect` are asked for."""


def run_stages(
    stages: Annotated[list[str], typer.Argument(help="Names of stages, e.g. segment reason tool clean.")],
    publish_between: Annotated[
        bool, typer.Option("--publish-between", help="Also publish what passes between stages that share this worker.")
    ] = False,
    tools: ToolsFile = None,
    permit: Permitted = None,
    dry_run: DryRun = False,
) -> None:
    """Run stages as one worker until SIGTERM or Ctrl-C; neighbouring stages hand events on in memory.

    `dispatch` executes the calls on llm.outputs; it needs --tools, or the setting dispatch_tools. Its bounds are the
    settings dispatch_steps_max, dispatch_tokens_max, dispatch_step_s_max, dispatch_parallel_max, dispatch_cost_usd_max.
    """
    log_to_stderr()
    settings = with_tools(load(), tools, permit, dry_run=dry_run)
    prepared = running.prepare(settings, stages, publish_between=publish_between)
    asyncio.run(_run(settings, prepared))


def up(tools: ToolsFile = None, permit: Permitted = None) -> None:
    """Run everything on embedded engines, until Ctrl-C: broker, registry, all stages, sink, learner and the page.

    Calls are executed, and failed ones looked back at, only if --tools is given.
    """
    with engines(with_tools(load(), tools, permit)) as started, _handed_out(started.settings) as file:
        for name, value in shown(started.settings).items():
            if name in {"kafka_bootstrap", "redis_url", "clickhouse_dsn", "data_dir"}:
                say({name: value}, f"{name:16} {value}")
        words = f"{'other terminals':16} export HERMES_CONFIG={shlex.quote(str(file))}"
        say({"HERMES_CONFIG": str(file)}, words)
        asyncio.run(_up(started, [*STAGES, "dispatch", "retrospect"] if tools else STAGES))
    say({"state": "stopped"}, "stopped")


@contextmanager
def _handed_out(settings: Settings) -> Iterator[Path]:
    """A settings file for other programs, readable by this user only: ports and password change with each start."""
    file = Path(settings.data_dir) / UP_FILE
    lines = [f"{name} = {json.dumps(getattr(settings, name))}\n" for name in HANDED_OUT]
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.writelines(lines)
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


async def _run(settings: Settings, prepared: running.Running) -> None:
    stop = asyncio.Event()
    running.stop_on_signals(stop)
    await running.run(settings, prepared, stop)


async def _up(started: Engines, stages: Sequence[str]) -> None:
    stop = asyncio.Event()
    running.stop_on_signals(stop)
    settings = started.settings
    prepared = running.prepare(settings, stages)
    await apply(settings, prepared.topology)
    async with serving(settings) as page:
        say({"page": page.url}, f"{'page':16} {page.url}")
        say({"state": "running"}, "running; Ctrl-C ends it")
        watching = asyncio.create_task(_watch(started, stop))
        figures = StageFigures(prepared.watched(), prepared.kinds)
        reporting = asyncio.create_task(keep_reporting(settings, figures, stop))
        await running.run(settings, prepared, stop)
        await asyncio.gather(watching, reporting)


async def _watch(started: Engines, stop: asyncio.Event) -> None:
    try:
        while not stop.is_set():
            started.check()
            await pause(stop, CHECK_S)
    except ServerAwayError:
        stop.set()
        raise


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("run", no_args_is_help=True)(run_stages)
    app.command()(up)
