"""topics.yaml and the JSON Schemas → AsyncAPI 3, TypeScript types and the page of events (docs/reference-events.md)."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from streams.settings import Settings  # noqa: E402
from streams.topics import load_topology  # noqa: E402

ASYNCAPI = ROOT / "docs" / "asyncapi.json"
TYPES = ROOT / "docs" / "hermes-streams.d.ts"
EVENTS = ROOT / "docs" / "reference-events.md"
SCHEMAS = ROOT / "schemas" / "json"


def schemas() -> dict[str, dict]:
    """Event tag → its JSON Schema."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(SCHEMAS.glob("*.json"))]
    return {schema["$id"]: schema for schema in found}


def asyncapi() -> str:
    """One channel for each public topic, with its Kafka binding; payloads are the files in schemas/json."""
    channels, operations, messages = {}, {}, {}
    for address, topic in load_topology(Settings()).topics.items():
        if topic.access != "public":
            continue
        name = _camel(address)
        names = [_camel(tag.split("/")[0]) for tag in topic.schemas]
        config = {"cleanup.policy": [topic.cleanup], "retention.ms": topic.retention_hours * 3_600_000}
        channels[name] = {
            "address": address,
            "description": topic.description,
            "messages": {message: {"$ref": f"#/components/messages/{message}"} for message in names},
            "bindings": {
                "kafka": {"partitions": topic.partitions, "topicConfiguration": config, "bindingVersion": "0.5.0"}
            },
        }
        is_input = "applications" in topic.producers
        operations[f"{'send' if is_input else 'receive'}{name[0].upper()}{name[1:]}"] = {
            "action": "send" if is_input else "receive",
            "channel": {"$ref": f"#/channels/{name}"},
        }
        for tag, message in zip(topic.schemas, names, strict=True):
            key = {"type": "string", "description": topic.key}
            messages[message] = {
                "name": tag,
                "contentType": "application/json",
                "payload": {"$ref": f"../schemas/json/{tag.replace('/', '-')}.json"},
                "bindings": {"kafka": {"key": key, "bindingVersion": "0.5.0"}},
            }
    info = {"title": "Hermes Streams", "version": "1.0.0", "description": "Public topics, as an application sees them."}
    document = {
        "asyncapi": "3.0.0",
        "info": info,
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages},
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def typescript() -> str:
    """An interface for each event of a public topic and for what they hold."""
    public = [t for t in load_topology(Settings()).topics.values() if t.access == "public"]
    wanted = {tag for topic in public for tag in topic.schemas}
    found: dict[str, str] = {}
    for tag, schema in schemas().items():
        if tag in wanted:
            for name, inner in schema.get("$defs", {}).items():
                found[name] = _declaration(name, inner)
            found[schema["title"]] = _declaration(schema["title"], schema)
    head = "// Made by `python docs/contracts.py` from schemas/json; a test compares.\n"
    return head + "\n" + "\n".join(found[name] for name in sorted(found))


def events() -> str:
    """The page of events: where each travels, and its fields."""
    topics = load_topology(Settings()).topics
    parts = [
        (
            "# Events\n\nMade by `python docs/contracts.py` from `schemas/json`; a test compares. Readers ignore fields that they do not"
            " know; writers of `llm.tokens` and `llm.tool-results` may leave out what is not required.\n"
        )
    ]
    for tag, schema in schemas().items():
        found = [
            f"`{name}`{'' if topic.access == 'public' else ' (internal)'}"
            for name, topic in topics.items()
            if tag in topic.schemas
        ]
        where = f"On {', '.join(found)}." if found else ""
        parts.append(
            f"## {tag}\n\n{schema.get('description', '')} {where}\n\n| field | type | required |\n|---|---|---|"
        )
        required = set(schema.get("required", ()))
        parts += [
            f"| `{name}` | `{_type(inner)}` | {'yes' if name in required else ''} |".replace(' | "', ' \\| "').replace(
                " | null", " \\| null"
            )
            for name, inner in schema["properties"].items()
        ]
        parts.append("")
    return "\n".join(parts)


def _declaration(name: str, schema: dict) -> str:
    if "properties" not in schema:
        return f"export type {name} = {_type(schema)};\n"
    required = set(schema.get("required", ()))
    lines = [
        f"  {key}{'' if key in required or key == 'schema' else '?'}: {_type(inner)};"
        for key, inner in schema["properties"].items()
    ]
    return "\n".join([f"export interface {name} {{", *lines, "}", ""])


def _type(schema: dict) -> str:
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(inner) for inner in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(inner) for inner in schema['prefixItems'])}]"
        return f"Array<{_type(schema.get('items', {}))}>"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"Record<string, {_type(inner) if isinstance(inner, dict) else 'unknown'}>"
    return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}.get(
        str(kind), "unknown"
    )


def _camel(name: str) -> str:
    first, *rest = re.split(r"[.\-]", name)
    return first + "".join(word.capitalize() for word in rest)


if __name__ == "__main__":
    ASYNCAPI.write_text(asyncapi(), encoding="utf-8")
    TYPES.write_text(typescript(), encoding="utf-8")
    EVENTS.write_text(events(), encoding="utf-8")
