"""An MCP server's `tools/list` → tools of a dispatcher.

What a server says of its tools' side effects is a hint, and anybody can write a server: by default each of its tools
has side effects, so that none runs without a permission. Name those that only read, or say that the hints are trusted.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from processors.dispatching.errors import ErrorRule, Fault
from processors.dispatching.policy import ToolRule
from processors.repair import ToolSchema, compile_tool
from processors.tools.definition import ToolFormatError, tool_of
from schemas.jsonvalue import JsonObject
from streams.executing.protocol import Answer, described, wrong_in
from streams.settings import ConfigError

if TYPE_CHECKING:
    from streams.executing.mcp_server import McpServer

TOOLS_MAX = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class McpTool:
    """One tool of a server."""

    server: "McpServer"
    remote: str
    """Its name on the server."""
    definition: JsonObject
    schema: ToolSchema
    rule: ToolRule
    error_rules: tuple[ErrorRule, ...] = field(default=())

    @property
    def endpoint(self) -> str:
        """The server: when it is broken, so are its other tools."""
        return f"mcp:{self.server.name}"

    def describe(self) -> JsonObject:
        """The tool's definition."""
        return self.definition

    def validate(self, arguments: JsonObject) -> str | None:
        """What its input schema does not allow."""
        return wrong_in(self.schema, arguments)

    async def execute(self, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        """Call it, once."""
        return await self.server.call(self.remote, arguments, execution_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpChoice:
    """Which of a server's tools are taken, and how."""

    only: Collection[str] | None = None
    """Names on the server; None: all."""
    reads: Collection[str] = ()
    """Names of those that change nothing."""
    trusts_hints: bool = False
    """A tool that the server hints to be read-only is taken as free of side effects."""
    prefix: str = ""
    """Put before each name, so that tools of two servers can't be mistaken for each other."""
    error_rules: tuple[ErrorRule, ...] = ()


def mcp_tools(
    name: str,
    target: tuple[str, ...] | str,
    choice: McpChoice | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[McpTool]:
    """Start a server and take its tools; raises ConfigError, ServerAwayError and ToolFormatError.

    target: words of a command that speaks MCP over standard input and output, or the URL of an HTTP endpoint.
    environment: of the command; for a URL, headers of its requests.
    """
    try:
        from streams.executing.mcp_server import McpServer  # noqa: PLC0415 - only who has such tools needs the extra
    except ImportError:
        raise ConfigError("MCP servers need the extra: pip install 'hermes-streams[mcp]'") from None
    given, is_url = dict(environment or {}), isinstance(target, str)
    server = McpServer(name, target, {} if is_url else given, given if is_url else {})
    return tools_of_server(server, choice or McpChoice())


def tools_of_server(server: "McpServer", choice: McpChoice) -> list[McpTool]:
    """The tools that a server lists; raises ServerAwayError and ToolFormatError."""
    listed = {str(one.get("name")): one for one in server.listed()}
    chosen = {name: one for name, one in listed.items() if choice.only is None or name in choice.only}
    if missing := sorted({*(choice.only or ()), *choice.reads} - listed.keys()):
        raise ToolFormatError(f"MCP server {server.name}: it lists no tool {missing[0]!r}")
    if len(chosen) > TOOLS_MAX:
        raise ToolFormatError(f"MCP server {server.name}: {len(chosen)} tools, more than {TOOLS_MAX}")
    return [_tool(server, one, choice) for one in chosen.values()]


def _tool(server: "McpServer", listed: JsonObject, choice: McpChoice) -> McpTool:
    name, hints = listed["name"], listed.get("annotations")
    is_hinted = isinstance(hints, dict) and hints.get("readOnlyHint") is True
    reads = name in choice.reads or (choice.trusts_hints and is_hinted)
    named = {**listed, "name": f"{choice.prefix}{name}", "annotations": {"readOnlyHint": reads}}
    definition = tool_of(named, listed.get("inputSchema"), f"MCP server {server.name}: {name}")
    told = described(definition, "none" if reads else f"those of {name} on the MCP server {server.name}; not described")
    return McpTool(server, name, told, compile_tool(told), ToolRule(has_side_effects=not reads), choice.error_rules)
