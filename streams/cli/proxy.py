"""`proxy`: put a model server behind the pipeline without changing its clients."""

import asyncio
from typing import Annotated

import typer

from streams.cli.show import say
from streams.client import Limits, TokenProducer
from streams.proxy import proxying
from streams.running import keep_out_of_collection, stop_on_signals
from streams.settings import load
from streams.telemetry import log_to_stderr


def proxy(
    upstream: Annotated[str, typer.Option("--upstream", help="URL of the server, without /v1.", show_default=False)],
    listen: Annotated[str, typer.Option("--listen", help="host:port to listen at.")] = "127.0.0.1:8788",
    repair: Annotated[
        bool, typer.Option("--repair", help="Answer with checked and repaired tool calls; answers then come whole.")
    ] = False,
    folder: Annotated[
        str | None,
        typer.Option("--folder", help="Write tokens here before they go out: what Kafka lacks outlives this process."),
    ] = None,
) -> None:
    """Pass an OpenAI-compatible server on, streaming, and write what it says to llm.tokens; until Ctrl-C."""
    log_to_stderr()
    asyncio.run(_proxy(upstream, listen, Limits(folder=folder), repairs=repair))


async def _proxy(upstream: str, listen: str, limits: Limits, *, repairs: bool) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop)
    async with (
        TokenProducer(load(), limits=limits) as producer,
        proxying(upstream, producer, listen, repairs=repairs) as url,
    ):
        keep_out_of_collection()
        say({"url": url, "upstream": upstream}, f"{url} passes on {upstream}; Ctrl-C ends it")
        await stop.wait()


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(proxy)
