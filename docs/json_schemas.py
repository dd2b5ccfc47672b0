"""Event types → one JSON Schema file each, under schemas/json, for producers and consumers in any language."""

import json
from pathlib import Path
from typing import get_args

from pydantic import TypeAdapter

from schemas.wire import Event

TARGET = Path(__file__).parent.parent / "schemas" / "json"


def documents() -> dict[str, str]:
    """File name → its text; `token/1` is in `token-1.json`."""
    found = {}
    for event in get_args(Event):
        (tag,) = get_args(event.__annotations__["schema"])
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": tag,
            **TypeAdapter(event).json_schema(),
        }
        found[f"{tag.replace('/', '-')}.json"] = json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return found


if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    for old in TARGET.glob("*.json"):
        old.unlink()
    for name, text in documents().items():
        (TARGET / name).write_text(text, encoding="utf-8")
