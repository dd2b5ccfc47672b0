"""`classify`, `gaps`: sentences and step lists of reasoning in JSON lines → labels, similarities and breaks."""

from typing import Annotated

import typer

from processors.reasoning.classify import LABELS, classify
from processors.reasoning.gaps import find_gaps
from schemas.jsonvalue import JsonObject
from streams.cli.batch import RequestError, run_batch


def answer_classify(request: JsonObject) -> JsonObject:
    """`{"id", "text", "lang"?}` → `{"id", "label", "confidence", "scores"}`."""
    text, lang = request["text"], request.get("lang")
    if not isinstance(text, str):
        raise RequestError("text: not a string")
    if lang is not None and not isinstance(lang, str):
        raise RequestError("lang: not a string")
    (answer,) = classify([text], [lang])
    scores = {str(label): share for label, share in zip(LABELS, answer.scores, strict=True)}
    return {"id": request.get("id"), "label": answer.label, "confidence": answer.confidence, "scores": scores}


def answer_gaps(request: JsonObject) -> JsonObject:
    """`{"id", "steps"}` → `{"id", "similarity", "gaps"}`."""
    steps = request["steps"]
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise RequestError("steps: not a list of strings")
    found = find_gaps(steps)
    return {"id": request.get("id"), "similarity": found.similarity, "gaps": found.gaps}


Source = Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests, one a line; - for stdin.")]
Target = Annotated[str, typer.Option("-o", "--output", help="Answers, one a line; - for stdout.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes.")]


def classify_lines(source: Source, target: Target = "-", jobs: Jobs = 1) -> int:
    """Reasoning sentences → what each does: planning, self_correction, evaluation, …, with a confidence."""
    return run_batch(source, target, answer_classify, jobs=jobs)


def gaps_of_lines(source: Source, target: Target = "-", jobs: Jobs = 1) -> int:
    """Lists of reasoning steps → how well each follows from those before, and where the chain breaks."""
    return run_batch(source, target, answer_gaps, jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add `classify` and `gaps` to the program."""
    app.command("classify")(classify_lines)
    app.command("gaps")(gaps_of_lines)
