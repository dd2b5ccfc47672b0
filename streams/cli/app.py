"""`hermes-streams`: arguments → a command; an exception → an exit code.

Exit codes: 0 done · 1 some lines were not valid requests, or a check found something · 2 usage or configuration is
wrong · 3 a needed server is away.
"""

import logging
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
import typer.main

from streams.cli.show import offer_json, want_json, write
from streams.settings import ConfigError, ServerAwayError

GROUPS = {
    "analytics": ("sql", "migrate", "web"),
    "export": ("export",),
    "trajectories": ("tail", "forget"),
    "configuration": ("config",),
    "topics": ("topics",),
    "match_tool": ("match-tool",),
    "reasoning": ("classify", "gaps", "feedback"),
    "recall": ("recall",),
    "registry": ("registry",),
    "tools": ("tools",),
    "repair": ("repair",),
    "running": ("run", "up"),
    "redact": ("redact",),
    "audit": ("audit",),
    "periods": ("periods",),
    "parse": ("parse",),
    "mend": ("mend",),
    "dispatch": ("dispatch",),
    "retrospect": ("retrospect",),
    "operations": ("doctor", "lag", "replay", "dead-letters"),
    "proxy": ("proxy",),
    "demo": ("demo",),
    "learn": ("learn",),
}
"""Module of `streams.cli` with a `register(app)` → the commands it adds.

Only the module that is asked for is loaded: all together take a second, which a filter in a pipe would pay each time.
"""


def _exit_with(code: object, **_: object) -> None:
    """What a command returns, if a number, is the exit code."""
    if isinstance(code, int):
        raise typer.Exit(code)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            print(version("hermes-streams"))
        except PackageNotFoundError:  # run from a checkout that was never installed
            print("unknown (not installed)")
        raise typer.Exit


def program(groups: Iterable[str] = GROUPS) -> typer.Typer:
    """The command line with the commands of these groups."""
    app = typer.Typer(
        name="hermes-streams",
        help="Raw LLM token streams in; structured, checked, clean outputs and trajectories out.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        result_callback=_exit_with,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 done; 1 some lines were no requests, or a check found something; 2 usage or configuration"
        " is wrong; 3 a needed server is away.",
    )
    for group in groups:
        import_module(f"streams.cli.{group}").register(app)
    app.callback()(_options)
    return app


def command_line(groups: Iterable[str] = GROUPS) -> Any:
    """The same as the library's command, each leaf of which takes `--json`."""
    found = typer.main.get_command(program(groups))
    leaves = [found]
    while leaves:
        one: Any = leaves.pop()
        if hasattr(one, "commands"):
            leaves += one.commands.values()
        else:
            offer_json(one)
    return found


def _options(
    _: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Raw LLM token streams in; structured, checked, clean outputs and trajectories out."""


def _asked(arguments: Sequence[str]) -> Iterable[str]:
    """The group whose command is asked for; all of them for help, completion or a command that is none."""
    first = arguments[0] if arguments else ""
    return [group for group, commands in GROUPS.items() if first in commands] or GROUPS


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit the process with its code."""
    for client in ("aiokafka", "clickhouse_connect"):  # where nothing is logged, our own message says what is wrong
        logging.getLogger(client).addHandler(logging.NullHandler())
    given = sys.argv[1:] if arguments is None else list(arguments)
    want_json(is_wanted=False)
    try:
        command_line(_asked(given))(given, prog_name="hermes-streams")
    except ConfigError as error:
        _leave(error, 2, is_json="--json" in given)
    except ServerAwayError as error:
        _leave(error, 3, is_json="--json" in given)


def _leave(error: Exception, code: int, *, is_json: bool) -> None:
    if is_json:
        write([{"error": str(error), "exit_code": code}])
    print(f"hermes-streams: {error}", file=sys.stderr)
    sys.exit(code)
