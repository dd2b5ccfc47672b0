"""`periods`: what people say about time, in JSON lines → their periods, settled or with the readings they have."""

from typing import Annotated

import typer

from processors.periods.answer import answer_periods
from streams.cli.batch import run_batch


def read_texts(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests, one a line; - for stdin.")],
    target: Annotated[str, typer.Option("-o", "--output", help="Answers, one a line; - for stdout.")] = "-",
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
) -> int:
    """Dates and periods in people's words, read from `now`; nothing is guessed.

    Request: `user` (the text), `now` (ISO 8601), and if wanted `id`, `policy`. Answer: `id`, `kind` (none, date, range,
    datetime, ambiguous, unread, impossible), `start`, `end`, `text`, `candidates`, and each place as one of `items`.
    """
    return run_batch(source, target, answer_periods, jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add `periods` to the program."""
    app.command("periods")(read_texts)
