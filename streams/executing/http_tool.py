"""Operations of an OpenAPI document → tools, each one HTTP request.

The address is the maker's, never the model's: arguments are quoted into the path, the query, allowed headers and the
JSON body; redirects are not followed. The execution id goes along as `Idempotency-Key`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import aiohttp
import orjson

from processors.dispatching.errors import ErrorRule, Fault
from processors.dispatching.policy import ToolRule
from processors.repair import ToolSchema, compile_tool
from processors.tools.definition import ToolFormatError
from processors.tools.from_openapi import READING, operations, tools_of_openapi
from schemas.jsonvalue import Json, JsonObject
from streams.executing.protocol import ANSWER_BYTES_MAX, Answer, described, wrong_in


@dataclass(frozen=True, slots=True, eq=False)
class HttpTool:
    """One operation."""

    method: str
    url: str
    """With `{name}` where path parameters go."""
    places: Mapping[str, str]
    """Parameter → `path`, `query` or `header`; all others are the body's."""
    definition: JsonObject
    schema: ToolSchema
    rule: ToolRule
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with each request: credentials, for example."""
    error_rules: tuple[ErrorRule, ...] = field(default=())
    endpoint: str = ""
    """The server: when it is broken, so are its other operations."""

    def describe(self) -> JsonObject:
        """The operation's definition."""
        return self.definition

    def validate(self, arguments: JsonObject) -> str | None:
        """What the schema does not allow, or what would lead to another path."""
        if wrong := wrong_in(self.schema, arguments):
            return wrong
        for name, place in self.places.items():
            if name in arguments and place == "path" and _text(arguments[name]).strip(".") == "":
                return f"{name}: not a part of a path"
            if name in arguments and place == "header" and not _text(arguments[name]).isprintable():
                return f"{name}: not the value of a header"
        return None

    async def execute(self, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        """Send the request."""
        url, query, body = self.url, {}, dict(arguments)
        headers = {"Idempotency-Key": execution_id}
        for name, place in self.places.items():
            if name not in body:
                continue
            value = body.pop(name)
            if place == "path":
                url = url.replace(f"{{{name}}}", quote(_text(value), safe="", errors="replace"))
            elif place == "query":
                query[name] = _text(value)
            else:
                headers[name] = _text(value)
        headers |= self.headers  # last, so that no argument takes the place of a credential
        data = None
        if body:
            data = orjson.dumps(body["body"] if set(body) == {"body"} else body)
            headers["Content-Type"] = "application/json"
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                self.method, url, params=query, data=data, headers=headers, allow_redirects=False
            ) as response,
        ):
            text = await _read(response)
            if response.status >= 300:
                return Fault(kind="http", code=response.status, text=text)
            return Answer(_json(text))


def http_tools(
    document: JsonObject,
    base_url: str,
    headers: Mapping[str, str] | None = None,
    error_rules: tuple[ErrorRule, ...] = (),
) -> list[HttpTool]:
    """The operations of a document as tools of one server; raises ToolFormatError.

    Methods that change nothing by the standard are taken as free of side effects, all others as having some.
    """
    found = []
    definitions = tools_of_openapi(document)
    for (path, method, operation, shared), definition in zip(operations(document["paths"]), definitions, strict=True):
        own = operation.get("parameters", [])
        parameters = [_resolved(document, one) for one in [*shared, *own]]
        effects = "none" if method in READING else f"{method.upper()} {path} changes something on the server"
        told = described(definition, effects)
        places = {one["name"]: one["in"] for one in parameters if one.get("in") in {"path", "query", "header"}}
        found.append(
            HttpTool(
                method.upper(), base_url.rstrip("/") + path, places, told, compile_tool(told),
                ToolRule(has_side_effects=method not in READING), dict(headers or {}), error_rules, f"http:{base_url}",
            )
        )  # fmt: skip
    return found


def _resolved(document: JsonObject, parameter: Json) -> JsonObject:
    found: Json = parameter
    reference = parameter.get("$ref") if isinstance(parameter, dict) else None
    if isinstance(reference, str):
        found = document
        for step in reference.removeprefix("#/").split("/"):
            found = found.get(step) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        raise ToolFormatError(f"{reference or 'parameter'}: not an object")
    return found


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    # Not orjson: it refuses lone surrogates and integers beyond 64 bits, and this is asked before anything may fail.
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


async def _read(response: aiohttp.ClientResponse) -> str:
    data = b""
    while len(data) < ANSWER_BYTES_MAX and (piece := await response.content.read(65_536)):
        data += piece
    return data[:ANSWER_BYTES_MAX].decode("utf-8", "replace")


def _json(text: str) -> Json:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"text": text} if text else None
