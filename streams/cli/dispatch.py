"""`dispatch`: the worker that executes tool calls."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from streams import running
from streams.cli.show import say
from streams.settings import Settings, load

ToolsFile = Annotated[
    Path | None, typer.Option("--tools", help="dispatch: Python file with the tools that may be called.")
]
Permitted = Annotated[
    list[str] | None, typer.Option("--permit", help="dispatch: a tool whose side effects may happen; repeatable.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="dispatch: print what would be done; execute and publish nothing.")
]


def with_tools(settings: Settings, tools: Path | None, permit: list[str] | None, *, dry_run: bool = False) -> Settings:
    """Settings with what was asked on the command line."""
    asked: dict[str, str] = {}
    if tools is not None:
        asked["dispatch_tools"] = str(tools)
    if permit:
        asked["dispatch_permit"] = ",".join(permit)
    if dry_run:
        asked["dispatch_mode"] = "dry_run"
    return replace(settings, **asked)  # type: ignore[arg-type]  # all three are text


def dispatch(
    tools: ToolsFile = None,
    permit: Permitted = None,
    dry_run: DryRun = False,
    steps_max: Annotated[int | None, typer.Option(help="Calls of one task.")] = None,
    tokens_max: Annotated[int | None, typer.Option(help="Tokens of one task.")] = None,
    step_s_max: Annotated[float | None, typer.Option(help="Seconds for one call.")] = None,
    parallel_max: Annotated[int | None, typer.Option(min=1, help="Calls at once.")] = None,
    cost_usd_max: Annotated[float | None, typer.Option(help="What the calls of one task may cost.")] = None,
) -> None:
    """Execute the calls on llm.outputs and publish what came of them: `run dispatch`, with its bounds as options."""
    bounds = {
        "dispatch_steps_max": steps_max, "dispatch_tokens_max": tokens_max, "dispatch_step_s_max": step_s_max,
        "dispatch_parallel_max": parallel_max, "dispatch_cost_usd_max": cost_usd_max,
    }  # fmt: skip
    settings = with_tools(load(), tools, permit, dry_run=dry_run)
    settings = replace(settings, **{name: value for name, value in bounds.items() if value is not None})  # type: ignore[arg-type]  # each option has its setting's type
    prepared = running.prepare(settings, ["dispatch"])
    asyncio.run(_run(settings, prepared))


async def _run(settings: Settings, prepared: running.Running) -> None:
    stop = asyncio.Event()
    running.stop_on_signals(stop)
    await running.run(settings, prepared, stop)
    assert prepared.dispatcher, "it was asked for"
    count = prepared.dispatcher.outputs
    say({"outputs_dispatched": count}, f"{count} outputs dispatched")


def register(app: typer.Typer) -> None:
    """Add `dispatch` to the program."""
    app.command("dispatch")(dispatch)
