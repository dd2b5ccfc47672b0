"""`doctor`, `lag`, `dead-letters list|show|replay`, `replay`: for whoever runs a pipeline."""

import asyncio
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import orjson
import typer

from processors.snapshot import RegistryFormatError, Snapshot, from_json
from streams import dead_letters, doctor, lag, replay
from streams.cli.show import say, show
from streams.cli.times import time_of
from streams.pattern_registry import connected
from streams.settings import ConfigError, Settings, load
from streams.stage import chains
from streams.tokens_to_outputs import hot_path
from streams.topics import Topology, load_topology

letters = typer.Typer(help="Records that no stage could read.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")]
Since = Annotated[str, typer.Option("--since", "--from", help="A time ago (15m, 2h, 3d) or a time (2026-11-30).")]


def _since_ms(text: str) -> int | None:
    return int(time_of(text, datetime.now(UTC)).timestamp() * 1000) if text else None


def show_doctor(as_json: AsJson = False) -> int:
    """Look at each thing the pipeline needs: what is wrong and what to do; exit code 1 if something is."""
    settings = load()
    found = asyncio.run(doctor.findings(settings, load_topology(settings)))
    rows = [asdict(finding) | {"well": "yes" if finding.is_well else "NO", "to do": finding.to_do} for finding in found]
    show(rows, ("what", "well", "detail", "to do"), as_json=as_json)
    return 0 if all(finding.is_well for finding in found) else 1


def show_lag(as_json: AsJson = False) -> None:
    """How far each consumer group is behind."""
    settings = load()
    rows = asyncio.run(lag.lags(settings, load_topology(settings)))
    show(rows, ("group", "topic", "committed", "end", "lag"), as_json=as_json)


async def _letters(settings: Settings, topology: Topology, since: str, code: str) -> list[dead_letters.Letter]:
    found = dead_letters.letters(settings, topology, _since_ms(since))
    return [letter async for letter in found if not code or letter.row()["code"] == code]


@letters.command("list")
def list_letters(
    since: Since = "",
    code: Annotated[str, typer.Option("--code", help="Only letters with this failure code.")] = "",
    as_json: AsJson = False,
) -> int:
    """Each dead letter with its reason, without content; exit code 1 if there is none."""
    settings = load()
    found = asyncio.run(_letters(settings, load_topology(settings), since, code))
    show([letter.row() for letter in found], ("at", "code", "message", "origin", "bytes"), as_json=as_json)
    return 0 if found else 1


@letters.command("show")
def show_letter(
    at: Annotated[str, typer.Argument(help="partition:offset, as `list` says.")],
    as_json: Annotated[bool, typer.Option("--json", help="One object: reasons, and the bytes as text.")] = False,
) -> None:
    """Bytes of one dead letter as received (they may hold personal data); its reasons on standard error."""
    settings = load()
    place = dead_letters.place_of(at)
    letter = asyncio.run(dead_letters.letter_at(settings, load_topology(settings), place))
    if as_json:
        value = (letter.record.value or b"").decode("utf-8", "replace")
        show([letter.row() | {"reasons": letter.reasons, "value": value}], (), as_json=True)
        return
    print(orjson.dumps(letter.reasons, option=orjson.OPT_INDENT_2).decode(), file=sys.stderr)
    sys.stdout.buffer.write((letter.record.value or b"") + b"\n")


@letters.command("replay")
def replay_letters(
    at: Annotated[
        list[str] | None, typer.Argument(help="partition:offset …; none: all that the options choose.")
    ] = None,
    since: Since = "",
    code: Annotated[str, typer.Option("--code", help="Only letters with this failure code.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be sent back.")] = False,
) -> None:
    """Send dead letters back to the topics they came from."""
    settings = load()
    topology = load_topology(settings)
    places = [dead_letters.place_of(place) for place in at or ()]
    _since_ms(since)  # a wrong time is told before a server is asked

    async def run() -> int:
        found = (
            [await dead_letters.letter_at(settings, topology, place) for place in places]
            if at
            else await _letters(settings, topology, since, code)
        )
        return len(found) if dry_run else await dead_letters.send_back(settings, found)

    count = asyncio.run(run())
    done = "would send" if dry_run else "sent"
    say({"records": count, "is_dry_run": dry_run}, f"{done} back {count} records")


def replay_tokens(
    since: Since = "",
    registry: Annotated[Path | None, typer.Option(help="Registry file; by default the running registry.")] = None,
    topic: Annotated[str | None, typer.Option(help="Also write the new outputs to this topic.")] = None,
    as_json: AsJson = False,
) -> int:
    """Run all stages over stored tokens again and compare with the outputs there are; exit code 1 if some differ."""
    settings = load()
    topology = load_topology(settings)
    since_ms = _since_ms(since)

    async def run() -> replay.Difference:
        snapshot = await _snapshot(settings, registry)
        builds = hot_path(lambda: snapshot)
        names = [build.name for build in builds]
        (chain,) = chains(topology, builds, names, group_prefix=settings.group_prefix, publish_between=False)
        return await replay.replay(settings, chain, since_ms, topic)

    found = asyncio.run(run())
    show(found.changed, ("stream_id", "fields", "steps"), as_json=as_json)
    counts = (
        f"{found.streams} streams, {found.same} the same, {len(found.changed)} differ, {found.new} without an output"
    )
    print(counts, file=sys.stderr)
    return 1 if found.changed else 0


async def _snapshot(settings: Settings, file: Path | None) -> Snapshot:
    if file is None:
        async with connected(settings.redis_url, settings.topic_prefix) as registry:
            return await registry.snapshot()
    try:
        return from_json(await asyncio.to_thread(file.read_bytes))
    except (OSError, RegistryFormatError) as error:
        raise ConfigError(f"{file}: {error}") from None


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("doctor")(show_doctor)
    app.command("lag")(show_lag)
    app.command("replay")(replay_tokens)
    app.add_typer(letters, name="dead-letters")
