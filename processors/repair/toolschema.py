"""A tool's JSON Schema → ToolSchema: the compiled validator and one Spec for each place a value can stand.

The validator decides whether a call is accepted; the Specs only guide the reading (which keys are known here, what
type a bare word may have). `$ref`, `anyOf`, `oneOf`, `allOf` and type lists are resolved into Specs once, when the
schema is compiled; a recursive schema gives Specs that point at each other. Type names of older tool catalogues
(`dict`, `float`, …) are read as their JSON Schema words.
"""

import re
from dataclasses import dataclass, field

import jsonschema_rs

from processors.limits import LIMITS
from processors.repair.enum_index import EnumIndex, index_of
from processors.repair.moment import is_clock, is_moment
from processors.repair.plain_types import JSON_TYPES, SchemaError, plain_types
from processors.repair.words import WORDS, fold, tokens
from schemas.jsonvalue import Json, JsonObject

_HINT = re.compile(
    r"([\w+-]{1,16}) ?(?:means|stands for|is|=|:|->|→|表示|代表|即) ?([\w -]{1,40}?)(?=[,;.)，；。、]|$)"
)
_HINT_BEHIND = re.compile(r"([\w-]{1,40}) ?[(（]([\w+-]{1,16})[)）]")
_PATH = re.compile(r"path|folder|director|file_?name|^\w*file\b|(?:^|_)dir(?:$|_| )", re.IGNORECASE)
_PATTERN = re.compile(r"regex|regular expression|pattern", re.IGNORECASE)
_CONTENT = frozenset({"content", "contents", "text", "body", "data", "message", "code", "description", "title"})


NO_MEMBERS = EnumIndex()
FORMATS = {"date-time": is_moment, "time": is_clock}
"""Formats read as people and models write them: RFC 3339, but the offset may be left out where it is the user's own."""


@dataclass(slots=True, eq=False)
class Spec:
    """What one place of the arguments may hold. Built once, never changed afterwards."""

    name: str = ""
    types: frozenset[str] = frozenset()
    """JSON Schema type words without `null`; empty: any."""
    nullable: bool = False
    enum: tuple[Json, ...] = ()
    index: EnumIndex = NO_MEMBERS
    """The members of `enum`, ready to be looked up."""
    format: str = ""
    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    properties: dict[str, "Spec"] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    closed: bool = False
    """No other keys are allowed."""
    additional: "Spec | None" = None
    """What the values of other keys hold, when the schema says it."""
    items: "Spec | None" = None
    items_min: int = 0
    choices: tuple["Spec", ...] = ()
    """Alternatives (`anyOf`, `oneOf`) that one Spec cannot express."""
    folded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Folded spelling → the keys that have it."""
    inner_keys: frozenset[str] = frozenset()
    """Keys of the objects one level down, which models may write flat."""
    hints: dict[str, str] = field(default_factory=dict)
    """Folded word → enum member, as the description explains it ("P1 means critical")."""
    is_container: bool = False
    """Only an object or an array may stand here."""
    is_plain_text: bool = False
    """Any text may stand here, and nothing else."""
    is_path: bool = False
    is_pattern: bool = False
    unit: str = ""
    """Unit of a number, as its name or description says it."""

    def wants(self, kind: str) -> bool:
        """Whether a value of this JSON type may stand here."""
        return not self.types or kind in self.types or (kind == "integer" and "number" in self.types)


@dataclass(frozen=True, slots=True, eq=False)
class ToolSchema:
    """One tool, compiled: its name, its root Spec and its validator."""

    name: str
    root: Spec
    parameters: JsonObject
    validator: jsonschema_rs.Draft202012Validator

    def is_valid(self, value: Json) -> bool:
        """Whether a value satisfies the whole schema, formats included."""
        return bool(self.validator.is_valid(value))


ANY = Spec()
_RANGE_NAME = re.compile(r"range|period|interval|span|window|区间|范围|期间|周期", re.IGNORECASE)


def is_period(spec: Spec) -> bool:
    """Whether a place holds a stretch of time: two dates in an object or a list, or a name that says so."""
    if sum(inner.format.startswith("date") for inner in spec.properties.values()) >= 2:
        return True
    if spec.items is not None and spec.items.format.startswith("date"):
        return spec.items_min >= 2 or bool(_RANGE_NAME.search(spec.name))
    return bool(_RANGE_NAME.search(spec.name)) and not spec.types <= {"number", "integer", "boolean"}


def compile_tool(tool: JsonObject) -> ToolSchema:
    """Compile an OpenAI function schema, an MCP or Anthropic tool, or a bare JSON Schema; raises SchemaError."""
    name, parameters = _unwrapped(tool)
    parameters = plain_types(parameters, name)
    try:
        validator = jsonschema_rs.Draft202012Validator(parameters, validate_formats=True, formats=FORMATS)
    except (ValueError, TypeError) as error:  # what jsonschema-rs raises on a schema that is none, or a dead $ref
        raise SchemaError(f"{name or 'tool'}: {str(error).splitlines()[0][:200]}") from error
    root = _Reader(parameters).spec(parameters, name, 0)
    return ToolSchema(name=name, root=root, parameters=parameters, validator=validator)


def _unwrapped(tool: JsonObject) -> tuple[str, JsonObject]:
    if not isinstance(tool, dict):
        raise SchemaError("tool: not an object")
    inner = tool.get("function") if isinstance(tool.get("function"), dict) else tool
    assert isinstance(inner, dict)
    for key in ("parameters", "inputSchema", "input_schema"):
        if isinstance(inner.get(key), dict) and ("name" in inner or "properties" not in inner):
            return str(inner.get("name") or ""), inner[key]
    if isinstance(inner.get("name"), str) and "type" not in inner and "properties" not in inner:
        return inner["name"], {"type": "object", "properties": {}}
    return str(inner.get("title") or ""), inner


class _Reader:
    """Reads one schema into Specs; remembers references so that recursion ends."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._seen: dict[str, Spec] = {}

    def spec(self, schema: Json, name: str, depth: int) -> Spec:
        """The Spec of one subschema."""
        if not isinstance(schema, dict) or depth > LIMITS.nesting_max:
            return Spec(name=name)
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return self._read(schema, Spec(name=name), depth)
        if reference not in self._seen:
            self._seen[reference] = Spec(name=name)
            self._read(self._target(reference), self._seen[reference], depth + 1)
        return self._seen[reference]

    def _target(self, reference: str) -> JsonObject:
        place: Json = self._document
        for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
            place = place.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(place, dict) else None
        return place if isinstance(place, dict) else {}

    def _read(self, schema: JsonObject, spec: Spec, depth: int) -> Spec:
        schema = self._merged(schema, depth)
        kinds = schema.get("type")
        words = {kinds} if isinstance(kinds, str) else set(kinds) if isinstance(kinds, list) else set()
        enum = schema["enum"] if isinstance(schema.get("enum"), list) else []
        if "const" in schema:
            enum = [schema["const"]]
        spec.nullable = "null" in words or None in enum
        spec.types = frozenset(words & JSON_TYPES) - {"null"}
        spec.enum = tuple(member for member in enum if member is not None)
        spec.format = str(schema.get("format") or "")
        spec.description = str(schema.get("description") or "")
        spec.minimum, spec.maximum = _bound(schema, "inimum"), _bound(schema, "aximum")
        self._read_nested(schema, spec, depth)
        self._read_choices(schema, spec, depth)
        _describe(spec)
        return spec

    def _merged(self, schema: JsonObject, depth: int) -> JsonObject:
        """A schema with its `allOf` parts laid over it; what differs is left to the validator."""
        parts = schema.get("allOf")
        if not isinstance(parts, list) or depth > LIMITS.nesting_max:
            return schema
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            if isinstance(part, dict):
                whole = self._target(part["$ref"]) if isinstance(part.get("$ref"), str) else part
                merged = _laid_over(merged, whole)
        return merged

    def _read_nested(self, schema: JsonObject, spec: Spec, depth: int) -> None:
        properties = schema.get("properties")
        if isinstance(properties, dict):
            spec.properties.update({key: self.spec(value, key, depth + 1) for key, value in properties.items()})
            if not spec.types and not spec.enum:
                spec.types = frozenset({"object"})
        required = schema.get("required")
        spec.required = (
            frozenset(filter(spec.properties.__contains__, required)) if isinstance(required, list) else frozenset()
        )
        more = schema.get("additionalProperties")
        spec.closed = more is False
        spec.additional = self.spec(more, "", depth + 1) if isinstance(more, dict) else None
        if isinstance(schema.get("items"), dict):
            spec.items = self.spec(schema["items"], spec.name, depth + 1)
        least = schema.get("minItems")
        spec.items_min = least if isinstance(least, int) else 0

    def _read_choices(self, schema: JsonObject, spec: Spec, depth: int) -> None:
        found = schema.get("anyOf") or schema.get("oneOf")
        if not isinstance(found, list):
            return
        options = [self.spec(option, spec.name, depth + 1) for option in found]
        spec.nullable |= any(isinstance(option, dict) and option.get("type") == "null" for option in found)
        options = [
            option for option, raw in zip(options, found, strict=True)
            if not (isinstance(raw, dict) and raw.get("type") == "null")
        ]  # fmt: skip
        if len(options) == 1 and not spec.types:
            _take_over(spec, options[0])
        elif options:
            spec.choices = tuple(options)


def _laid_over(below: JsonObject, above: JsonObject) -> JsonObject:
    merged = {**below, **above}
    for key in ("properties", "required"):
        one, two = below.get(key), above.get(key)
        if isinstance(one, dict) and isinstance(two, dict):
            merged[key] = {**one, **two}
        elif isinstance(one, list) and isinstance(two, list):
            merged[key] = one + two
    return merged


def _take_over(spec: Spec, only: Spec) -> None:
    for slot in (
        "types",
        "enum",
        "format",
        "minimum",
        "maximum",
        "required",
        "closed",
        "additional",
        "items",
        "items_min",
        "choices",
    ):
        setattr(spec, slot, getattr(only, slot))
    spec.nullable |= only.nullable
    spec.description = spec.description or only.description
    spec.properties.update(only.properties)


def _bound(schema: JsonObject, word: str) -> float | None:
    found = [schema.get("m" + word), schema.get("exclusiveM" + word)]
    numbers = [value for value in found if isinstance(value, int | float) and not isinstance(value, bool)]
    return (max if word == "inimum" else min)(numbers) if numbers else None


def _describe(spec: Spec) -> None:
    words = f"{spec.name} {spec.description}"
    if spec.enum:
        spec.index = index_of(spec.enum)
    spec.is_container = bool(spec.types) and not spec.enum and spec.types <= {"object", "array"}
    spec.is_plain_text = spec.types == {"string"} and not (spec.enum or spec.format or spec.choices)
    if spec.wants("string") and not spec.enum:
        spec.is_pattern = bool(_PATTERN.search(words))
        is_content = bool(_CONTENT & set(tokens(spec.name)))
        spec.is_path = not (spec.is_pattern or is_content) and bool(_PATH.search(words))
    if spec.types & {"number", "integer"}:
        spec.unit = WORDS.unit_of(spec.name, spec.description)
    for folded, member in zip(spec.index.folded, spec.index.texts, strict=True):
        spec.hints.setdefault(folded, member)
    members = dict(zip(spec.index.folded, spec.index.texts, strict=True))
    found = _HINT.findall(spec.description) + _HINT_BEHIND.findall(spec.description) if members else ()
    for word, meaning in found:
        for said, meant in ((word, meaning), (meaning, word)):
            if fold(meant) in members and fold(said) not in members:
                spec.hints[fold(said)] = members[fold(meant)]
    spec.inner_keys = frozenset(key for inner in spec.properties.values() for key in inner.properties)
    for key in spec.properties:
        spec.folded[fold(key)] = (*spec.folded.get(fold(key), ()), key)
