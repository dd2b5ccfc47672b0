"""A small MCP server for tests: `python mcp_shop.py [stdio | PORT]`. It notes its starts in the file that STARTS names."""

import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("shop")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def order_status(order_id: int) -> dict:
    """State of an order.

    When to use: the user asks where an order is.
    When not to use: the order was placed a minute ago.
    """
    if order_id > 100:
        raise ToolError("order was sent already to mail@example.com")
    return {"order_id": order_id, "state": "sent"}


@server.tool()
def refund(order_id: int) -> str:
    """Refund an order."""
    note(f"refund {order_id}")
    return f"refunded {order_id}"


@server.tool()
def crash() -> str:
    """End the server."""
    note("crash")
    os._exit(3)


@server.tool()
async def hang() -> str:
    """Keep the server from answering anything."""
    time.sleep(60)  # noqa: ASYNC251 - that is the point
    return "late"


@server.tool()
def broken() -> str:
    """Raise what nobody expects."""
    raise ZeroDivisionError


def note(text: str) -> None:
    with Path(os.environ["STARTS"]).open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


if __name__ == "__main__":
    note("start")
    if sys.argv[1:] in ([], ["stdio"]):
        server.run("stdio")
    else:
        server.run("streamable-http", port=int(sys.argv[1]))
