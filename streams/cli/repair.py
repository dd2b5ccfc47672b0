"""`repair`: damaged argument texts in JSON lines → arguments that fit their tool, or a refusal with its reason."""

import asyncio
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Annotated

import typer

from processors.periods.answer import moment_of
from processors.periods.reading import read_policy
from processors.repair import NO_RULES, Rules, ToolSchema, compile_tool, rules_of, spans_of
from processors.tools.arguments import read_arguments, said_in, settled
from processors.tools.links import canonical
from processors.tools.toolbox import loaded
from schemas.jsonvalue import JsonObject
from schemas.segment import CallDraft
from schemas.token import Meta
from streams.cli.batch import RequestError, run_batch
from streams.pattern_registry import snapshot_at


@lru_cache(maxsize=256)
def _compiled(tool: bytes) -> ToolSchema:
    return compile_tool(loaded(tool))


def answer_repair(request: JsonObject, rules: Rules = NO_RULES, *, has_spans: bool = False) -> JsonObject:
    """A raw text with its tool and what the user said → arguments that fit, or a refusal."""
    raw, tool = request["raw"], request.get("tool")
    if not isinstance(raw, str):
        raise RequestError("raw: not a string")
    if tool is not None and not isinstance(tool, dict):
        raise RequestError("tool: not an object")
    for key in ("user", "now"):
        if not isinstance(request.get(key, ""), str | None):
            raise RequestError(f"{key}: not a string")
    if request.get("now"):
        moment_of(request["now"])
    read_policy(request.get("policy"))
    schema = _compiled(canonical(tool)) if tool is not None else None
    draft = CallDraft(dialect="", arguments_text=raw)
    reading = read_arguments(draft, schema, rules)
    said = said_in(Meta(user=request.get("user"), now=request.get("now"), policy=request.get("policy")))
    if said and schema:
        reading = settled(reading, draft, schema, said, rules)
    status = "refused" if reading.refusal else "repaired" if reading.repairs else "ok"
    return {
        "id": request.get("id"),
        "status": status,
        "arguments": reading.arguments,
        "confidence": round(reading.confidence, 4),
        "repairs": [one.code for one in reading.repairs],
        "refusal": asdict(reading.refusal) if reading.refusal else None,
        **({"spans": spans_of(reading.arguments or {}, raw, reading.repairs)} if has_spans else {}),
    }


def _rules_in(registry: str | None) -> Rules:
    if registry is None:
        return NO_RULES
    return rules_of(asyncio.run(snapshot_at(registry)).rules)


def repair_texts(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests, one a line; - for stdin.")],
    target: Annotated[str, typer.Option("-o", "--output", help="Answers, one a line; - for stdout.")] = "-",
    registry: Annotated[str | None, typer.Option(help="Learned rules: a registry file or a Redis URL.")] = None,
    spans: Annotated[bool, typer.Option("--spans", help="Say where each value stands in `raw`.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
) -> int:
    """Damaged argument texts → arguments that fit their tool, or a refusal that says why.

    Request: `raw` (the text), `tool` (its definition), and if known `id`, `user`, `now`, `policy`. Answer: `id`,
    `status` (ok, repaired, refused), `arguments`, `confidence`, `repairs`, `refusal`; with --spans also `spans`: JSON
    pointer of each value → its start and end in `raw`, or the code that says why it does not stand there.
    """
    return run_batch(source, target, partial(answer_repair, rules=_rules_in(registry), has_spans=spans), jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add `repair` to the program."""
    app.command("repair")(repair_texts)
