"""`hermes-streams`: arguments → a command; an exception → an exit code.

Exit codes: 0 done · 1 some lines were not valid requests, or a check found something · 2 usage or configuration is
wrong · 3 a needed server is away.
"""

import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from streams.cli import (
    analytics,
    audit,
    configuration,
    demo,
    dispatch,
    learn,
    match_tool,
    mend,
    operations,
    parse,
    periods,
    proxy,
    reasoning,
    recall,
    redact,
    registry,
    repair,
    running,
    tools,
    topics,
    trajectories,
)
from streams.settings import ConfigError, ServerAwayError

GROUPS = (
    analytics,
    trajectories,
    configuration,
    topics,
    match_tool,
    reasoning,
    recall,
    registry,
    tools,
    repair,
    running,
    redact,
    audit,
    periods,
    parse,
    mend,
    dispatch,
    operations,
    proxy,
    demo,
    learn,
)  # fmt: skip
"""Modules with a `register(app)`: one for each group of commands, one line each."""


def _exit_with(code: object, **_: object) -> None:
    """What a command returns, if a number, is the exit code."""
    if isinstance(code, int):
        raise typer.Exit(code)


app = typer.Typer(
    name="hermes-streams",
    help="Raw LLM token streams in; structured, checked, clean outputs and trajectories out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    result_callback=_exit_with,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in GROUPS:
    group.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            print(version("hermes-streams"))
        except PackageNotFoundError:  # run from a checkout that was never installed
            print("unknown (not installed)")
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Raw LLM token streams in; structured, checked, clean outputs and trajectories out."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit the process with its code."""
    try:
        app(sys.argv[1:] if arguments is None else list(arguments), prog_name="hermes-streams")
    except ConfigError as error:
        _leave(error, 2)
    except ServerAwayError as error:
        _leave(error, 3)


def _leave(error: Exception, code: int) -> None:
    print(f"hermes-streams: {error}", file=sys.stderr)
    sys.exit(code)
