"""`config show`: the settings in force."""

from typing import Annotated

import typer

from streams.cli.show import show
from streams.settings import load, shown, sources, variable

group = typer.Typer(help="The settings in force.", no_args_is_help=True)


@group.command("show")
def show_config(
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")] = False,
) -> None:
    """Each setting, its value (passwords hidden), where that came from and the variable that sets it."""
    found = sources()
    rows = [
        {"setting": name, "value": value, "source": found[name], "variable": variable(name)}
        for name, value in shown(load()).items()
    ]
    show(rows, ("setting", "value", "source", "variable"), as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add `config` to the program."""
    app.add_typer(group, name="config")
