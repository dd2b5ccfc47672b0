"""`redact`: texts in JSON lines → the same texts with placeholders for personal data, and where it stood."""

from functools import partial
from typing import Annotated

import typer

from processors.pii.find import find_pii
from processors.pii.redact import Numbered, plain, replaced
from processors.pii.rules import SHIPPED, PiiRules
from schemas.jsonvalue import JsonObject
from streams.cli.batch import RequestError, run_batch
from streams.settings import ConfigError


def answer_redact(request: JsonObject, rules: PiiRules = SHIPPED, *, is_consistent: bool = False) -> JsonObject:
    """`{"id", "text"}` → `{"id", "text", "spans": [{"start", "end", "type"}]}`; offsets are of the text as given."""
    text = request["text"]
    if not isinstance(text, str):
        raise RequestError("text: not a string")
    spans = find_pii(text, rules)
    return {
        "id": request.get("id"),
        "text": replaced(text, spans, Numbered() if is_consistent else plain),
        "spans": [{"start": span.start, "end": span.end, "type": span.type} for span in spans],
    }


def _rules_for(types: str | None) -> PiiRules:
    if types is None:
        return SHIPPED
    wanted = {name.strip().lower() for name in types.split(",") if name.strip()}
    known = {rule.type for rule in SHIPPED.rules}
    if unknown := sorted(wanted - known) or (["(none)"] if not wanted else []):
        raise ConfigError(f"--types: no type {unknown[0]}; there are {', '.join(sorted(known))}")
    return SHIPPED.only(wanted)


def redact_texts(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests, one a line; - for stdin.")],
    target: Annotated[str, typer.Option("-o", "--output", help="Answers, one a line; - for stdout.")] = "-",
    types: Annotated[str | None, typer.Option(help="Only these, comma-separated: phone,email,…")] = None,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="The same value has the same number in a text: [PHONE_1_REDACTED].")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
) -> int:
    """Texts → the same without personal data and secrets, and where they stood.

    Request: `text`, and if wanted `id`. Answer: `id`, `text`, `spans` (`start`, `end` in the text as given, `type`).
    """
    answer = partial(answer_redact, rules=_rules_for(types), is_consistent=consistent)
    return run_batch(source, target, answer, jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add `redact` to the program."""
    app.command("redact")(redact_texts)
