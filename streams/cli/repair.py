"""`repair`: damaged argument texts in JSON lines → arguments that fit their tool, or a refusal with its reason."""

import asyncio
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Annotated

import orjson
import typer

from processors.repair import NO_RULES, Rules, ToolSchema, compile_tool, repair, rules_of
from processors.snapshot import Snapshot
from schemas.jsonvalue import JsonObject
from streams.cli.batch import RequestError, run_batch
from streams.pattern_registry import opened


@lru_cache(maxsize=256)
def _compiled(tool: bytes) -> ToolSchema:
    return compile_tool(orjson.loads(tool))


def answer_repair(request: JsonObject, rules: Rules = NO_RULES) -> JsonObject:
    """`{"id", "raw", "tool"?}` → `{"id", "status", "arguments", "confidence", "repairs", "refusal"}`."""
    raw, tool = request["raw"], request.get("tool")
    if not isinstance(raw, str):
        raise RequestError("raw: not a string")
    if tool is not None and not isinstance(tool, dict):
        raise RequestError("tool: not an object")
    schema = _compiled(orjson.dumps(tool)) if tool is not None else None
    repaired = repair(raw, schema, rules=rules)
    return {
        "id": request.get("id"),
        "status": repaired.status,
        "arguments": repaired.arguments,
        "confidence": repaired.confidence,
        "repairs": [one.code for one in repaired.repairs],
        "refusal": asdict(repaired.refusal) if repaired.refusal else None,
    }


def _rules_in(registry: str | None) -> Rules:
    if registry is None:
        return NO_RULES
    return rules_of(asyncio.run(_snapshot(registry)).rules)


async def _snapshot(registry: str) -> Snapshot:
    async with opened(registry) as entries:
        return await entries.snapshot()


def repair_texts(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests, one a line; - for stdin.")],
    target: Annotated[str, typer.Option("-o", "--output", help="Answers, one a line; - for stdout.")] = "-",
    registry: Annotated[str | None, typer.Option(help="Learned rules: a registry file or a Redis URL.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
) -> int:
    """Damaged argument texts → arguments that fit their tool, or a refusal that says why."""
    return run_batch(source, target, partial(answer_repair, rules=_rules_in(registry)), jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add `repair` to the program."""
    app.command("repair")(repair_texts)
