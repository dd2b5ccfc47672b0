"""JSON values: the one alias under which untyped data travels."""

from typing import Any

Json = Any
JsonObject = dict[str, Any]
