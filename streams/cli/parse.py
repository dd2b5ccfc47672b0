"""`parse`: raw outputs in JSON lines → structured, clean outputs."""

import asyncio
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, Any

import orjson
import typer
from pydantic import TypeAdapter, ValidationError

from processors.knowledge import Knowledge, knowledge_of, shipped_knowledge, with_placeholders
from processors.periods.answer import moment_of
from processors.periods.reading import read_policy
from processors.pipeline import PipelineOptions, run
from processors.repair import spans_of
from schemas.jsonvalue import JsonObject
from schemas.output import Output
from schemas.token import Meta
from schemas.wire import encode
from streams.chunking import Chunker, Chunking
from streams.cli.batch import RequestError, reason_of, run_batch
from streams.pattern_registry import snapshot_at
from streams.settings import ConfigError

_META = TypeAdapter(Meta)
_META_FIELDS = ("model", "user", "now", "format", "policy", "tenant")


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """What the command line says; picklable, so that each process of `--jobs` builds its own knowledge."""

    registry: str
    chunking: Chunking
    seed: int
    is_clean: bool
    has_spans: bool = False
    is_consistent: bool = False


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("parse")(parse)


def parse(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests, one a line; - for standard input.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="OUT.jsonl", help="Answers.")] = "-",
    no_clean: Annotated[bool, typer.Option("--no-clean", help="Leave personal data in.")] = False,
    registry: Annotated[str, typer.Option(metavar="FILE|URL", help="Learned patterns and tools.")] = "",
    chunk: Annotated[Chunking, typer.Option(help="How `text` is cut before it is fed.")] = Chunking.WHOLE,
    seed: Annotated[int, typer.Option(help="Draws the cuts.")] = 0,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="The same value has the same number: [PHONE_1_REDACTED].")
    ] = False,
    spans: Annotated[bool, typer.Option("--spans", help="Say where each value of a call stands in its `raw`.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> int:
    """Parse recorded raw outputs: reasoning, tool calls, state and response of each, without personal data.

    Request: `id`, `text` or `chunks`, and what is known: `tools` (definitions), `user`, `now` (ISO 8601), `model`,
    `reasoning_open`, `format`. Answer: an output as on `llm.outputs`.
    """
    options = ParseOptions(registry, chunk, seed, not no_clean, spans, consistent)
    _prepared(options)  # a registry that can't be read ends the command before the first line
    return run_batch(source, output, partial(answer_parse, options=options), jobs=jobs)


def answer_parse(request: JsonObject, *, options: ParseOptions) -> JsonObject:
    """One request of `parse` → its answer."""
    knowledge, chunker = _prepared(options)
    stream_id = str(request["id"])
    pieces = pieces_of(request, chunker)
    found = run(stream_id, pieces, meta_of(request), knowledge, PipelineOptions(is_clean=options.is_clean))
    answer = {"id": request["id"], **answer_of(found)}
    for shown, call in zip(answer["tool_calls"], found.tool_calls, strict=True) if options.has_spans else ():
        shown["spans"] = spans_of(call.arguments or {}, call.raw, call.repairs)
    return answer


def answer_of(output: Output) -> JsonObject:
    """An output as batch commands print it: without what only a running system knows."""
    answer: JsonObject = orjson.loads(encode(replace(output, meta=None)))
    for name in ("meta", "ts", "latency_ms", "extra", "rev"):
        answer.pop(name, None)
    return answer


def meta_of(request: JsonObject) -> Meta:
    """What a request says about its stream; a field of another type is a RequestError."""
    given: dict[str, Any] = {name: request.get(name) for name in _META_FIELDS}
    given["tools"] = request.get("tools") or ()
    given["reasoning_open"] = bool(request.get("reasoning_open"))
    try:
        meta = _META.validate_python(given)
    except ValidationError as error:
        raise RequestError(_why(error)) from None
    if meta.now:
        moment_of(meta.now)  # raises ValueError: a time that can't be read would leave dates unchecked without a word
    read_policy(meta.policy)  # raises ValueError or TypeError for the same reason
    return meta


def _why(error: ValidationError) -> str:
    """Field and reason in JSON's words, without the value."""
    first = error.errors(include_url=False, include_input=False)[0]
    reason = first["msg"].replace("tuple", "list").replace("dictionary", "object")
    return f"{'.'.join(map(str, first['loc']))}: {reason}"


def pieces_of(request: JsonObject, chunker: Chunker) -> list[str]:
    """A request's text in the pieces in which it is fed; a RequestError where there is none."""
    chunks, text = request.get("chunks"), request.get("text")
    if isinstance(chunks, list) and all(isinstance(piece, str) for piece in chunks):
        return chunks or [""]
    if not isinstance(text, str):
        raise RequestError("neither `text` nor `chunks` is there as text")
    return chunker.cut(text)


@lru_cache(maxsize=4)
def _prepared(options: ParseOptions) -> tuple[Knowledge, Chunker]:
    knowledge = asyncio.run(_loaded(options.registry)) if options.registry else shipped_knowledge()
    markers: list[str] = []
    return with_placeholders(knowledge, is_consistent=options.is_consistent), Chunker(
        options.chunking, options.seed, markers
    )


async def _loaded(where: str) -> Knowledge:
    snapshot = await snapshot_at(where)
    try:
        return knowledge_of(snapshot)
    except ValueError as error:  # an active entry that nothing can be built from
        raise ConfigError(f"{where}: {reason_of(error)}") from None
