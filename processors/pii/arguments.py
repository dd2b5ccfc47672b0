"""A cleaned tool call → the same call, marked where a placeholder no longer fits what the tool's schema asks for."""

from dataclasses import replace

from processors.pii.redact import Finding
from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import CallWarning, ToolCall

_NARROW = ("pattern", "format", "enum", "const", "maxLength")
"""What a schema may ask of a string that a placeholder does not have."""


def parameters_by_name(tools: tuple[JsonObject, ...]) -> dict[str, JsonObject]:
    """Tool schemas in OpenAI form → each tool's parameter schema."""
    found = {}
    for tool in tools:
        function = tool.get("function", tool)
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            schema = function.get("parameters") or function.get("input_schema")
            found[function["name"]] = schema if isinstance(schema, dict) else {}
    return found


def marked(call: ToolCall, findings: list[Finding], parameters: JsonObject) -> ToolCall:
    """The call with one warning for each argument whose placeholder has not the type or form it must have."""
    paths = {finding.path for finding in findings if not finding.was_text or _is_narrow(parameters, finding.path)}
    if not paths:
        return call
    warnings = tuple(
        CallWarning(code="pii_redacted", message=f"{path}: the placeholder does not fit the schema")
        for path in sorted(paths)
    )
    return replace(call, warnings=(*call.warnings, *warnings))


def _is_narrow(schema: Json, path: str) -> bool:
    for part in path.split("/")[1:]:
        if not isinstance(schema, dict):
            return False
        schema = schema.get("items") if part.isdigit() else _property(schema, part)
    return isinstance(schema, dict) and (
        any(key in schema for key in _NARROW) or schema.get("type") in {"integer", "number", "boolean"}
    )


def _property(schema: JsonObject, name: str) -> Json:
    properties = schema.get("properties")
    unescaped = name.replace("~1", "/").replace("~0", "~")
    return properties.get(unescaped) if isinstance(properties, dict) else None
