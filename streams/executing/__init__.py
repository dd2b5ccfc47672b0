"""Tools that a dispatcher can call: Python functions, OpenAPI operations, commands, MCP servers, read-only SQL."""
