"""The program itself → docs/reference-cli.md (commands) and docs/reference-settings.md (settings)."""

import ast
import inspect
import itertools
import sys
from dataclasses import fields
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import typer  # noqa: E402, F401

import streams.settings  # noqa: E402
from streams.cli.app import command_line  # noqa: E402
from streams.settings import Settings, variable  # noqa: E402

CLI = ROOT / "docs" / "reference-cli.md"
SETTINGS = ROOT / "docs" / "reference-settings.md"


def commands() -> dict[str, object]:
    """Full name → command, for every command of every group."""
    found = {}
    for name, command in sorted(command_line().commands.items()):
        inner = getattr(command, "commands", None)
        found |= {f"{name} {sub}": found_ for sub, found_ in sorted(inner.items())} if inner else {name: command}
    return found


def cli() -> str:
    """The page of commands."""
    parts = [
        "# Commands\n",
        (
            "Made by `python docs/reference_pages.py` from the program; a test compares. Every command has `--help`. Exit codes:"
            " 0 done · 1 some lines were not valid, or a check found something · 2 usage or configuration is wrong · 3 a needed"
            " server is away. `--install-completion` sets up the shell.\n"
        ),
    ]
    for name, command in commands().items():
        parts += [f"## {name}\n", " ".join((command.help or "").split()) + "\n"]
        rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            parts += ["| argument or option | default | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"]
    return "\n".join(parts)


def _row(parameter: object) -> str:
    is_argument = parameter.param_type_name == "argument"
    names = parameter.name.upper() if is_argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    default = parameter.default
    shown = "" if default in (None, False, "", ()) or callable(default) else f"`{getattr(default, 'value', default)}`"
    if type(default).__module__.startswith(("typer", "click")):
        shown = ""
    meaning = " ".join((getattr(parameter, "help", "") or "").split()).replace("|", "\\|")
    return f"| `{names}` | {'required' if parameter.required else shown} | {meaning} |"


def settings() -> str:
    """The page of settings, with the docstring of each field."""
    tree = ast.parse(inspect.getsource(streams.settings))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    meanings = {
        node.target.id: " ".join(str(after.value.value).split())
        for node, after in itertools.pairwise(body)
        if isinstance(node, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }
    rows = [
        f"| `{field.name}` | `{variable(field.name)}` | {f'`{field.default}`' if field.default != '' else ''} | {meanings[field.name]} |"
        for field in fields(Settings)
    ]
    return "\n".join(
        [
            "# Settings\n",
            (
                "Made by `python docs/reference_pages.py` from the code; a test compares. The environment outranks the TOML file that"
                " `HERMES_CONFIG` names; `hermes-streams config show` says where each value came from.\n"
            ),
            "| key in the file | variable | default | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def decisions() -> str:
    """The list of decisions, by number."""
    titles = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        for path in sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    }
    lines = [f"- [{title}]({name})" for name, title in titles.items()]
    return "\n".join(["# Why it is built this way\n", *lines, "- [Dependencies](dependencies.md)", ""])


if __name__ == "__main__":
    (ROOT / "docs" / "adr" / "index.md").write_text(decisions(), encoding="utf-8")
    CLI.write_text(cli(), encoding="utf-8")
    SETTINGS.write_text(settings(), encoding="utf-8")
