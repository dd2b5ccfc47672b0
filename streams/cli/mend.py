"""`mend`: the worker that asks a language model about calls which could not be read."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from streams.cli.show import say
from streams.llm_repair import LlmClient, LlmOptions, read_options
from streams.mend_calls import MendWorker
from streams.settings import Settings, load
from streams.snapshots import Snapshots
from streams.tokens_to_outputs import Compiled
from streams.topics import load_topology


def mend(
    options: Annotated[Path, typer.Option("--options", help="TOML file with the endpoint: url, model, limits.")],
) -> None:
    """Ask a language model about calls that could not be read; what is asked leaves the machine, clean by default."""
    asyncio.run(_run(load(), read_options(options)))


async def _run(settings: Settings, options: LlmOptions) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    compiled = Compiled(settings.learn_canary_share, settings.pii_placeholders)
    snapshots = Snapshots(compiled.of)
    following = asyncio.create_task(snapshots.follow(settings, stop))
    await snapshots.wait_for_first()
    async with LlmClient(options) as client:
        worker = MendWorker(settings, load_topology(settings), client, lambda: compiled.of(snapshots.current()))
        try:
            await worker.run(stop)
        finally:
            stop.set()
            await following
    say({"outputs_mended": worker.mended}, f"{worker.mended} outputs mended")


def register(app: typer.Typer) -> None:
    """Add `mend` to the program."""
    app.command("mend")(mend)
