"""Python source → one tool for each public function, by signature and docstring; nothing is run or imported.

Types come from annotations, enum classes, dataclasses and typed dictionaries of the same file included; what has no
annotation may be anything. A parameter without default is required. Its description is taken from the docstring, in
the styles of Google (`Args:`), NumPy (`Parameters`) and Sphinx (`:param x:`).
"""

import ast
import re

from processors.tools.definition import ToolFormatError, tool_of
from schemas.jsonvalue import Json, JsonObject

SOURCE_CHARS_MAX = 2_000_000
_PLAIN = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null", "dict": "object",
    "Dict": "object", "Mapping": "object", "list": "array", "List": "array", "tuple": "array", "Tuple": "array",
    "set": "array", "Set": "array", "Sequence": "array", "Iterable": "array", "Decimal": "number", "bytes": "string",
}  # fmt: skip
_FORMATS = {"date": "date", "datetime": "date-time", "time": "time", "UUID": "uuid"}
_SPHINX = re.compile(r":param\s+(?:[\w\[\], |]+\s)?(\w+)\s*:\s*(.+?)(?=\n\s*:|\n\s*\n|\Z)", re.DOTALL)
_SECTION = re.compile(r"^\s*(Args|Arguments|Parameters|Params|参数)\s*[:：]?\s*$", re.MULTILINE)
_NEXT = re.compile(r"^\s*(Returns?|Raises?|Yields?|Examples?|Notes?|返回)\b.*$", re.MULTILINE)
_ENTRY = re.compile(r"^(\s*)\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*[:：]\s*(.*)$")


def tools_of_python(source: str) -> list[JsonObject]:
    """The public functions of a file as tools; raises ToolFormatError, which names line or function."""
    if len(source) > SOURCE_CHARS_MAX:
        raise ToolFormatError(f"longer than {SOURCE_CHARS_MAX} characters")
    try:
        tree = ast.parse(source)
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:  # what ast.parse raises on what is no Python
        line = getattr(error, "lineno", None)
        raise ToolFormatError(f"line {line}: {error.args[0]}" if line else f"not Python: {error}") from None
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    tools = [_tool(node, classes) for node in functions if not node.name.startswith("_")]
    if not tools:
        raise ToolFormatError("no public function in it")
    return tools


def _tool(node: ast.FunctionDef | ast.AsyncFunctionDef, classes: dict[str, ast.ClassDef]) -> JsonObject:
    text = ast.get_docstring(node) or ""
    described = _described(text)
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(spec.defaults)) + list(spec.defaults)
    pairs = [*zip(positional, defaults, strict=True), *zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]
    properties: JsonObject = {}
    required = []
    for argument, default in pairs:
        if argument.arg in {"self", "cls"}:
            continue
        schema = _schema(argument.annotation, classes, 0)
        if argument.arg in described:
            schema["description"] = described[argument.arg]
        if default is None:
            required.append(argument.arg)
        elif (value := _literal(default)) is not None:
            schema["default"] = value
        properties[argument.arg] = schema
    parameters: JsonObject = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    if not spec.kwarg:
        parameters["additionalProperties"] = False
    return tool_of({"name": node.name, "description": _summary(text)}, parameters, f"line {node.lineno}: {node.name}")


def _schema(annotation: ast.expr | None, classes: dict[str, ast.ClassDef], depth: int) -> JsonObject:
    """An annotation as JSON Schema; {} for what says nothing."""
    if annotation is None or depth > 20:
        return {}
    if isinstance(annotation, ast.Constant):
        return _constant(annotation, classes, depth)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _union([annotation.left, annotation.right], classes, depth)
    if isinstance(annotation, ast.Subscript):
        return _generic(annotation, classes, depth)
    name = _name(annotation)
    if name in classes:
        return _of_class(classes[name], classes, depth)
    if name in _FORMATS:
        return {"type": "string", "format": _FORMATS[name]}
    return {"type": _PLAIN[name]} if name in _PLAIN else {}


def _constant(annotation: ast.Constant, classes: dict[str, ast.ClassDef], depth: int) -> JsonObject:
    if annotation.value is None:
        return {"type": "null"}
    if not isinstance(annotation.value, str):
        return {}
    try:  # an annotation in quotes
        inner = ast.parse(annotation.value, mode="eval").body
    except (SyntaxError, ValueError):
        return {}
    return _schema(inner, classes, depth + 1)


def _generic(annotation: ast.Subscript, classes: dict[str, ast.ClassDef], depth: int) -> JsonObject:
    name = _name(annotation.value)
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if name == "Literal":
        values = [_literal(value) for value in inner]
        kind = "string" if all(isinstance(value, str) for value in values) else None
        return {"type": kind, "enum": values} if kind else {"enum": values}
    if name in {"Optional", "Union"}:
        return _union([*inner, ast.Constant(None)] if name == "Optional" else inner, classes, depth)
    if name in {"Annotated", "Required", "NotRequired", "Final"}:
        found = _schema(inner[0], classes, depth + 1)
        texts = [one.value for one in inner[1:] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return {**found, "description": texts[0]} if texts else found
    if _PLAIN.get(name) == "array":
        items = _schema(inner[0], classes, depth + 1)
        return {"type": "array", "items": items} if items else {"type": "array"}
    if _PLAIN.get(name) == "object":
        values_of = _schema(inner[-1], classes, depth + 1)
        return {"type": "object", "additionalProperties": values_of} if values_of else {"type": "object"}
    return {}


def _union(parts: list[ast.expr], classes: dict[str, ast.ClassDef], depth: int) -> JsonObject:
    schemas = [_schema(part, classes, depth + 1) for part in parts]
    if {} in schemas:
        return {}
    if all(set(schema) == {"type"} and isinstance(schema["type"], str) for schema in schemas):
        return {"type": list(dict.fromkeys(schema["type"] for schema in schemas))}
    return {"anyOf": schemas}


def _of_class(node: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int) -> JsonObject:
    if any("Enum" in _name(base) for base in node.bases):
        return {"enum": [_literal(item.value) for item in node.body if isinstance(item, ast.Assign)]}
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    others = {name: found for name, found in classes.items() if name != node.name}  # so that a recursive class ends
    properties = {_name(item.target): _schema(item.annotation, others, depth + 1) for item in fields}
    required = [_name(item.target) for item in fields if item.value is None]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _literal(node: ast.expr) -> Json:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):  # no literal: a call, a name
        return None
    return value if isinstance(value, str | int | float | bool | list | dict) else None


def _summary(text: str) -> str:
    cut = min((found.start() for found in (_SECTION.search(text), _NEXT.search(text)) if found), default=len(text))
    return text[:cut].split("\n:param", maxsplit=1)[0].strip()


def _described(text: str) -> dict[str, str]:
    """Parameter → its description in a docstring."""
    found = {name: " ".join(said.split()) for name, said in _SPHINX.findall(text)}
    section = _SECTION.search(text)
    if not section:
        return found
    rest = text[section.end() :]
    end = _NEXT.search(rest)
    lines = (rest[: end.start()] if end else rest).splitlines()
    has_types = any(line.strip() and set(line.strip()) == {"-"} for line in lines)  # NumPy's style
    indent, last = None, None
    for line in lines:
        entry = _ENTRY.match(line)
        if entry and (indent is None or len(entry[1]) <= indent):
            indent, last = len(entry[1]), entry[2]
            found[last] = "" if has_types else entry[3].strip()
        elif last and line.strip() and not set(line.strip()) <= {"-"}:
            found[last] = f"{found[last]} {line.strip()}".strip()
    return {name: said for name, said in found.items() if said}
