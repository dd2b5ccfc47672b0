"""A JSON Schema as tool catalogues write it → the same in JSON Schema's type words, or a SchemaError with its place."""

from processors.limits import LIMITS
from schemas.jsonvalue import Json

TYPE_WORDS = {
    "dict": "object", "map": "object", "struct": "object", "float": "number", "double": "number", "int": "integer",
    "long": "integer", "str": "string", "bool": "boolean", "tuple": "array", "list": "array", "set": "array",
}  # fmt: skip
JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
PLACE_CHARS_MAX = 80


class SchemaError(ValueError):
    """A tool definition that is no JSON Schema; the message names the place."""


def plain_types(schema: Json, tool: str, place: str = "", depth: int = 0) -> Json:
    """The schema with `dict`, `float` and their like as JSON Schema calls them; a word of no language is left out."""
    if depth > LIMITS.nesting_max:
        shown = place if len(place) <= PLACE_CHARS_MAX else place[:PLACE_CHARS_MAX].rstrip("/") + "/…"
        raise SchemaError(
            f"{tool or 'tool'}: its parameters are nested deeper than {LIMITS.nesting_max} levels, in {shown}"
        )
    if isinstance(schema, list):
        return [plain_types(item, tool, f"{place}/{at}", depth + 1) for at, item in enumerate(schema)]
    if not isinstance(schema, dict):
        return schema
    plain = {key: plain_types(value, tool, f"{place}/{key}", depth + 1) for key, value in schema.items()}
    kind = plain.get("type")
    if isinstance(kind, str) and kind not in JSON_TYPES:
        plain.pop("type")
        if TYPE_WORDS.get(kind.lower()) or kind.lower() in JSON_TYPES:
            plain["type"] = TYPE_WORDS.get(kind.lower(), kind.lower())
    return plain
