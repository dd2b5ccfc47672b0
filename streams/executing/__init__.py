"""Tools that a dispatcher can call: Python functions, operations of an OpenAPI document, allow-listed commands."""
