"""Tools of the second story in docs/retrospection.md: a payment gateway that looks countries up in a list of its own.

GATEWAY_URL is the gateway's address. While its list is not renewed, it answers 403 for countries that came later.
"""

import os

from streams.executing.http_tool import http_tools

OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "gateway", "version": "1"},
    "paths": {
        "/pay": {
            "post": {
                "operationId": "pay",
                "summary": "Pay an amount into a country.",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "country": {"type": "string", "description": "ISO 3166 code"},
                                    "amount": {"type": "number"},
                                    "reference": {"type": "string"},
                                },
                                "required": ["country", "amount", "reference"],
                            }
                        }
                    },
                },
            }
        },
        "/lists/{name}": {
            "get": {
                "operationId": "list_status",
                "summary": "When a list of the gateway was renewed.",
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}],
            }
        },
    },
}

tools = list(http_tools(OPENAPI, os.environ["GATEWAY_URL"]))
