"""An OpenAPI document (2 or 3) → one tool for each operation.

A tool's name is the operation's id, or method and path. Its parameters are those of path, query and header, and the
properties of a JSON body, or one parameter `body` where the body is no object or a name would stand for two things.
References are kept: what they point at goes into the schema's `$defs`.
"""

import re
from collections.abc import Iterator

from processors.tools.definition import ToolFormatError, tool_of
from schemas.jsonvalue import Json, JsonObject

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
READING = frozenset({"get", "head", "options"})
"""Methods that change nothing, by the standard of HTTP."""
DEFINITIONS_MAX = 500
"""Most schemas that one tool may refer to."""
_PLACES = {"path", "query", "header", "formData"}
_KEPT = frozenset({
    "type", "format", "enum", "default", "minimum", "maximum", "minLength", "maxLength", "pattern", "items",
})  # fmt: skip


def is_openapi(value: Json) -> bool:
    """Whether a document is an OpenAPI one."""
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def tools_of_openapi(document: JsonObject) -> list[JsonObject]:
    """All operations as tools; raises ToolFormatError, which names the place."""
    paths = document.get("paths")
    if not isinstance(paths, dict):
        raise ToolFormatError("paths: not an object")
    return [_Operation(document, *found).tool() for found in operations(paths)]


def operations(paths: JsonObject) -> Iterator[tuple[str, str, JsonObject, list[Json]]]:
    """Each operation: path, method, what is said of it, parameters that its path's operations share."""
    for path, item in paths.items():
        if not isinstance(item, dict):
            raise ToolFormatError(f"paths.{path}: not an object")
        shared = item.get("parameters", [])
        for method in METHODS:
            if isinstance(item.get(method), dict):
                yield path, method, item[method], shared if isinstance(shared, list) else []


class _Operation:
    """One operation on its way to a tool."""

    def __init__(self, document: JsonObject, path: str, method: str, found: JsonObject, shared: list[Json]) -> None:
        self._document, self._path, self._method, self._found, self._shared = document, path, method, found, shared
        self._place = f"paths.{path}.{method}"
        self._properties: JsonObject = {}
        self._required: list[str] = []
        self._definitions: JsonObject = {}

    def tool(self) -> JsonObject:
        own = self._found.get("parameters", [])
        if not isinstance(own, list):
            raise ToolFormatError(f"{self._place}.parameters: not a list")
        for number, parameter in enumerate([*self._shared, *own]):
            self._take(self._resolved(parameter, f"{self._place}.parameters[{number}]"), number)
        self._take_body()
        parameters: JsonObject = {"type": "object", "properties": self._properties}
        if self._required:
            parameters["required"] = list(dict.fromkeys(self._required))
        if self._definitions:
            parameters["$defs"] = self._definitions
        name = self._found.get("operationId") or f"{self._method}{self._path}"
        name = re.sub(r"\W+", "_", str(name)).strip("_")[:128]
        texts = [self._found.get("summary"), self._found.get("description")]
        description = "\n".join(dict.fromkeys(text.strip() for text in texts if isinstance(text, str) and text.strip()))
        function: JsonObject = {"name": name, "description": description}
        if self._method in READING:
            function["annotations"] = {"readOnlyHint": True}
        return tool_of(function, parameters, self._place)

    def _take(self, parameter: JsonObject, number: int) -> None:
        place, name = parameter.get("in"), parameter.get("name")
        if place == "body":  # OpenAPI 2
            self._add_body(parameter.get("schema"), is_required=parameter.get("required") is True)
            return
        if place not in _PLACES:
            return
        if not isinstance(name, str):
            raise ToolFormatError(f"{self._place}.parameters[{number}].name: not a text")
        schema = parameter.get("schema")
        if not isinstance(schema, dict):
            schema = {key: value for key, value in parameter.items() if key in _KEPT}
        self._add(name, self._rewritten(schema), parameter.get("description"))
        if parameter.get("required") is True:
            self._required.append(name)

    def _take_body(self) -> None:
        if "requestBody" not in self._found:
            return
        body = self._resolved(self._found["requestBody"], f"{self._place}.requestBody")
        content = body.get("content")
        if not isinstance(content, dict):
            raise ToolFormatError(f"{self._place}.requestBody.content: not an object")
        media = next((content[kind] for kind in content if "json" in kind), next(iter(content.values()), None))
        if isinstance(media, dict):
            self._add_body(media.get("schema"), is_required=body.get("required") is True)

    def _add_body(self, schema: Json, *, is_required: bool) -> None:
        if not isinstance(schema, dict):
            return
        plain = self._resolved(schema, f"{self._place}.requestBody")
        inner = plain.get("properties")
        if not isinstance(inner, dict) or not inner or inner.keys() & self._properties.keys() or "allOf" in plain:
            self._add("body", self._rewritten(schema), None)
            self._required += ["body"] if is_required else []
            return
        for name, value in inner.items():
            self._add(name, self._rewritten(value), None)
        required = plain.get("required")
        self._required += required if is_required and isinstance(required, list) else []

    def _add(self, name: str, schema: Json, description: Json) -> None:
        if isinstance(description, str) and isinstance(schema, dict) and "description" not in schema:
            schema = {**schema, "description": description}
        self._properties[name] = schema

    def _resolved(self, value: Json, place: str) -> JsonObject:
        """What a value is, or what it refers to."""
        for _ in range(DEFINITIONS_MAX):
            if not isinstance(value, dict):
                raise ToolFormatError(f"{place}: not an object")
            if not isinstance(value.get("$ref"), str):
                return value
            value = self._target(value["$ref"], place)
        raise ToolFormatError(f"{place}: references go in a circle")

    def _target(self, pointer: str, place: str) -> Json:
        if not pointer.startswith("#/"):
            raise ToolFormatError(f"{place}: {pointer!r} is in another document")
        value: Json = self._document
        for step in pointer[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            raise ToolFormatError(f"{place}: {pointer!r} points nowhere")
        return value

    def _rewritten(self, schema: Json, depth: int = 0) -> Json:
        """A schema whose references point into `$defs`."""
        if depth > 100:
            raise ToolFormatError(f"{self._place}: nested too deep")
        if isinstance(schema, list):
            return [self._rewritten(item, depth + 1) for item in schema]
        if not isinstance(schema, dict):
            return schema
        pointer = schema.get("$ref")
        if isinstance(pointer, str):
            return {"$ref": f"#/$defs/{self._defined(pointer, depth)}"}
        return {key: self._rewritten(value, depth + 1) for key, value in schema.items() if key not in _FOREIGN}

    def _defined(self, pointer: str, depth: int) -> str:
        name = re.sub(r"\W+", "_", pointer.rsplit("/", 1)[-1])
        if name not in self._definitions:
            if len(self._definitions) >= DEFINITIONS_MAX:
                raise ToolFormatError(f"{self._place}: more than {DEFINITIONS_MAX} schemas")
            self._definitions[name] = {}  # known before it is read, so that a recursive schema ends
            self._definitions[name] = self._rewritten(self._target(pointer, self._place), depth + 1)
        return name


_FOREIGN = frozenset({"discriminator", "xml", "externalDocs", "example"})
"""Keys of OpenAPI schemas that JSON Schema doesn't have, or has in another form."""
