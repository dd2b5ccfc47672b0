"""A Python file → the tools in it: each value of the module that is a tool, and those in its lists."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from processors.tools.definition import ToolFormatError
from schemas.jsonvalue import Json
from streams.executing.command_tool import CommandTool
from streams.executing.http_tool import HttpTool
from streams.executing.mcp_tool import McpTool
from streams.executing.protocol import Tool
from streams.executing.python_tool import PythonTool
from streams.executing.sql_tool import SqlTool
from streams.settings import ConfigError


def load_tools(path: Path) -> dict[str, Tool]:
    """Run a file and take its tools, by name; raises ConfigError. Of one's own kinds of tools, name them in `TOOLS`."""
    name = f"hermes_tools_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ConfigError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where the source of functions is looked for
    try:
        spec.loader.exec_module(module)
    except (ToolFormatError, SyntaxError, ImportError) as error:
        raise ConfigError(f"{path}: {error}") from error
    found: dict[str, Tool] = {}
    for tool in _tools(vars(module)):
        told = tool.describe()["name"]
        if found.get(told, tool) is not tool:
            raise ConfigError(f"{path}: two tools are named {told}")
        found[told] = tool
    if not found:
        raise ConfigError(f"{path}: no tool in it")
    return found


def _tools(values: dict[str, Json]) -> Iterator[Tool]:
    for name, value in values.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            if name == "TOOLS" or isinstance(one, PythonTool | CommandTool | HttpTool | McpTool | SqlTool):
                yield one
