"""`learn`: raw outputs through pipeline and learner, as a running system would; what was learned to a registry."""

import asyncio
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import orjson
import typer

from processors.catalog import load_formats
from processors.knowledge import knowledge_of
from processors.learn import Attempt, Learner
from processors.learning.rehearse import Rehearsal
from processors.learning.sample import Sample, sample
from processors.learning.shadowing import literals_of
from processors.pipeline import run
from processors.snapshot import Snapshot, to_json
from schemas.jsonvalue import JsonObject
from schemas.pattern import Pattern, PatternState
from schemas.token import Meta
from streams.chunking import Chunker, Chunking
from streams.cli.batch import read_lines
from streams.cli.parse import meta_of, pieces_of
from streams.pattern_registry import opened
from streams.registry_changes import Registry, edit, following
from streams.settings import ConfigError


class Approval(StrEnum):
    """Who lets a proven pattern in."""

    AUTO = "auto"
    """The proof does."""
    MANUAL = "manual"
    """A person does, with `registry approve`; until then it is a candidate."""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("learn")(learn)


def learn(
    source: Annotated[str, typer.Argument(metavar="IN.jsonl", help="Requests as for parse; - for standard input.")],
    registry: Annotated[str, typer.Option(metavar="FILE|URL", help="Where to write what was learned.")],
    approve: Annotated[Approval, typer.Option(help="auto: a proven pattern is active at once.")] = Approval.AUTO,
) -> int:
    """Learn formats from raw outputs: one JSON line for each candidate, with state, signature, support and evidence."""
    _make_file(registry)
    return asyncio.run(_learn(source, registry, approve))


def _make_file(where: str) -> None:
    """An empty file where none is: `parse` reads it also when nothing was learned; a wrong place is told at once."""
    if "://" in where or Path(where).exists():
        return
    try:
        Path(where).write_bytes(to_json(Snapshot()))
    except OSError as error:
        raise ConfigError(f"--registry: {where}: {error.strerror}") from None


async def _learn(source: str, where: str, approve: Approval) -> int:
    invalid = 0
    async with opened(where) as registry:
        session = _Session(await registry.snapshot(), approve)
        for request, error in read_lines(source, _read):
            if request is None:
                invalid += 1
                typer.echo(error, err=True)
                continue
            for attempt in session.take(*request):
                await _write(registry, attempt)
        for attempt in session.finish():
            await _write(registry, attempt)
    return 1 if invalid else 0


def _read(request: JsonObject) -> tuple[Sample, Meta]:
    meta = meta_of(request)
    pieces_of(request, Chunker(Chunking.WHOLE, 0, []))  # refuses what has no text
    return sample(request), meta


async def _write(registry: Registry, attempt: Attempt) -> None:
    pattern = attempt.pattern
    await edit(registry, lambda snapshot: (following(snapshot, pattern),))
    shown = {
        "id": pattern.id,
        "kind": pattern.kind,
        "state": pattern.state,
        "signature": _signature(pattern),
        "support": pattern.counters["support"],
        "evidence": [{"step": step.step, **step.data} for step in pattern.evidence],
    }
    print(orjson.dumps(shown).decode(), flush=True)


def _signature(pattern: Pattern) -> str:
    call = pattern.definition["calls"][0]
    return f"{call['body']}:{''.join(call.get('section_open', ()))}{''.join(call['open'])}"


class _Session:
    """One run of the command: each request is parsed with what has been learned so far."""

    def __init__(self, snapshot: Snapshot, approve: Approval) -> None:
        self._rehearsal = Rehearsal(knowledge_of(snapshot))
        self._approve = approve
        self._learner = Learner(self._rehearsal.run, literals_of(load_formats()))
        self._named: set[str] = set()

    def take(self, item: Sample, meta: Meta) -> list[Attempt]:
        """Parse one request; gives what could be learned now."""
        output = run(item.id, [item.text], meta, self._rehearsal.knowledge)
        return self._told(self._learner.take(item, output))

    def finish(self) -> list[Attempt]:
        """The last attempts, on all that came."""
        return self._told(self._learner.finish())

    def _told(self, attempts: list[Attempt]) -> list[Attempt]:
        """Attempts worth a line: accepted ones, and each candidate once."""
        found = []
        for attempt in attempts:
            pattern = attempt.pattern
            if attempt.accepted and self._approve is Approval.MANUAL:
                pattern = replace(pattern, state=PatternState.CANDIDATE)
            if attempt.accepted:
                self._rehearsal.adopt(pattern.definition)
            if attempt.accepted or pattern.id not in self._named:
                self._named.add(pattern.id)
                found.append(replace(attempt, pattern=pattern))
        return found
