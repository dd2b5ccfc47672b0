"""`classify`, `gaps`, `feedback`: sentences and step lists of reasoning → labels, breaks, a better model."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import orjson
import typer

from processors.reasoning.classify import LABELS, classify
from processors.reasoning.feedback import Labelled
from processors.reasoning.gaps import find_gaps
from schemas.jsonvalue import JsonObject
from schemas.reasoning import Label
from streams.cli.batch import RequestError, read_line, reason_of, run_batch
from streams.cli.registry import run_with
from streams.feedback import give_feedback
from streams.settings import ConfigError


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
    """Reasoning sentences → what each does: planning, self_correction, evaluation, …, with a confidence.

    Request: `text` (one sentence), and if known `id`, `lang`. Answer: `id`, `label`, `confidence`, `scores`.
    """
    return run_batch(source, target, answer_classify, jobs=jobs)


def gaps_of_lines(source: Source, target: Target = "-", jobs: Jobs = 1) -> int:
    """Lists of reasoning steps → how well each follows from those before, and where the chain breaks.

    Request: `steps` (texts in order), and if wanted `id`. Answer: `id`, `similarity` (a number for each joint), `gaps`
    (numbers of joints, from 0).
    """
    return run_batch(source, target, answer_gaps, jobs=jobs)


def feedback(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help='Lines of {"text", "label"}; - for stdin.')],
    registry: Annotated[
        str | None, typer.Option(help="A file or a redis:// address; the configured Redis if none is given.")
    ] = None,
) -> int | None:
    """Labelled sentences → a new version of the registry's delta; refused where the guard set would lose."""
    rows = [_labelled(number, line) for number, line in enumerate(_lines(source), start=1)]
    try:
        outcome, version = run_with(registry, lambda one: give_feedback(one, rows))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    told: JsonObject = {
        "accepted": outcome.is_accepted,
        "registry_version": version,
        "sentences": len(rows),
        "step": outcome.step,
    }
    told |= {"guard_before": asdict(outcome.before), "guard_after": asdict(outcome.after)}
    print(orjson.dumps(told).decode())
    return None if outcome.is_accepted else 1


def _lines(source: str) -> list[bytes]:
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise ConfigError(f"{source}: {error.strerror}") from error
    return data.splitlines()


def _labelled(number: int, line: bytes) -> Labelled:
    try:
        row = read_line(line)
        return Labelled(text=str(row["text"]), label=Label(row["label"]))
    except (KeyError, ValueError) as error:  # not JSON, no text or label, or none of the labels
        raise ConfigError(f"line {number}: {reason_of(error)}") from None


def register(app: typer.Typer) -> None:
    """Add `classify`, `gaps` and `feedback` to the program."""
    app.command("classify")(classify_lines)
    app.command("gaps")(gaps_of_lines)
    app.command()(feedback)
