"""`retrospect call|strategies|alert|review`: why a call failed, what came of it, and what is told from outside."""

import asyncio
import time
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import orjson
import typer
from aiokafka.errors import KafkaError

from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import Pattern, PatternKind
from schemas.signal import Signal
from schemas.wire import encode
from streams.cli.registry import REGISTRY, run_with
from streams.cli.show import say, show
from streams.kafka_clients import start_producer
from streams.looking_back import Asked, looked_back
from streams.redis_client import redis_client
from streams.registry_changes import edit
from streams.retrospect_stage import surveyed
from streams.running_page import from_owner, store_dsn
from streams.settings import ConfigError, ServerAwayError, Settings, load
from streams.store import QueryError, Reader
from streams.strategy_changes import strategy_changes
from streams.strategy_figures import StrategyFigures
from streams.topics import load_topology
from streams.web.looking_back import approval_of

group = typer.Typer(help="Why calls failed, and the strategies that came of it.", no_args_is_help=True)
COLUMNS = ("strategy", "state", "used", "watched", "valid", "invalid", "title")
Contracts = Annotated[Path | None, typer.Option("--contracts", help="TOML file with the contracts of tools.")]


@group.command("call")
def look_back(
    name: Annotated[str, typer.Argument(metavar="ID", help="A stream, or a run.")],
    call: Annotated[str, typer.Option(help="Id of a call; the last one that failed if none is given.")] = "",
    why: Annotated[str, typer.Option(help="Kept in the evidence.")] = "",
    contracts: Contracts = None,
    apply: Annotated[bool, typer.Option("--apply", help="Put the strategy into the registry.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> int | None:
    """Look back at a call: chain, deviation, cause, strategy with its proof; exit code 1 when there is nothing to."""
    settings = load()
    if contracts is not None:
        settings = replace(settings, retrospect_contracts=str(contracts))
    asked: JsonObject = {"id": name, "call": call, "why": why, "apply": apply}
    try:
        # The page looks with the contracts that it was started with.
        answer = from_owner(settings, "/api/retrospect", asked) if contracts is None else None
        answer = answer or _own(settings, asked)
    except QueryError as error:
        raise ConfigError(f"retrospect: {error}") from None
    if as_json:
        print(orjson.dumps(answer).decode())
    else:
        print("\n".join(lines_of(answer)))
    return None if answer["retrospection"] else 1


@group.command("strategies")
def strategies(
    registry: Annotated[str | None, REGISTRY] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")] = False,
) -> None:
    """How strategies fare: one line for each."""
    snapshot = run_with(registry, lambda one: one.snapshot())
    told = {} if registry is not None else asyncio.run(_figures(load()))
    rows = []
    for entry in snapshot.entries.values():
        if entry.kind is PatternKind.STRATEGY and "trigger" in entry.definition:
            counts = {**entry.counters, **told.get(entry.id, {})}
            row = {name: counts.get(name, 0) for name in ("used", "watched", "valid", "invalid")}
            rows.append(
                {"strategy": entry.id, "state": str(entry.state), **row, "title": entry.definition.get("title", "")}
            )
    show(rows, COLUMNS, as_json=as_json)


@group.command("alert")
def alert(
    about: Annotated[str, typer.Argument(help="A tool, or what it depends on; an empty text: everything.")],
    text: Annotated[str, typer.Option(help="What was seen.")] = "",
) -> None:
    """Say that something is not well: a failure near it is a defect, and looked back at."""
    _tell(Signal(kind="alert", about=about, text=text, ts=time.time() * 1000))


@group.command("review")
def review(
    strategy: Annotated[str, typer.Argument(help="The strategy that held a call up.")],
    wrong: Annotated[bool, typer.Option("--wrong", help="The call should have been made.")] = False,
) -> None:
    """Say what a person decided about a call that a strategy held up; it counts for or against the strategy."""
    _tell(Signal(kind="review", about=strategy, is_right=not wrong, ts=time.time() * 1000))


def lines_of(answer: JsonObject) -> list[str]:
    """What came of looking back, to be read."""
    said = answer["retrospection"]
    if said is None:
        return ["nothing to look back at: no such call, no result, or nothing about it is out of order"]
    lines = [f"{said['tool']} {said['stream_id']}/{said['call_id']}: {said['deviation']}, {said['cause']}"]
    for number, step in enumerate(said["evidence_trace"], start=1):
        lines.append(f"{number}. {step['step']}")
        lines += [
            f"   {key}: {_short(value)}" for key, value in step["data"].items() if value not in ("", None, [], {})
        ]
    lines.append(f"strategy: {answer['strategy']['title']}" if answer["strategy"] else "no strategy")
    return [*lines, *answer["changed"]]


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= 300 else text[:300] + "…"


def _own(settings: Settings, asked: JsonObject) -> JsonObject:
    """The answer without a page."""
    with closing(Reader(store_dsn(settings))) as reader:
        wanted = Asked(id=asked["id"], call=asked["call"], why=asked["why"])
        found = looked_back(reader, wanted, surveyed(settings), approval_of(settings))
    entry = found.entry if found is not None else None
    changed: tuple[Pattern, ...] = ()
    if entry is not None and asked["apply"]:
        changed = run_with(None, lambda one: edit(one, lambda snapshot: strategy_changes(snapshot, (entry,))))
    return {
        "retrospection": orjson.loads(orjson.dumps(asdict(found.retrospection))) if found is not None else None,
        "strategy": entry.definition if entry is not None else None,
        "changed": [f"{one.kind}/{one.id}: {one.state}" for one in changed],
    }


async def _figures(settings: Settings) -> dict[str, JsonObject]:
    async with redis_client(settings.redis_url, "figures of strategies") as client:
        return await StrategyFigures(client, settings.topic_prefix).read()


def _tell(signal: Signal) -> None:
    asyncio.run(tell(load(), signal))
    say({"told": signal.kind, "about": signal.about}, f"told: {signal.kind} about {signal.about or 'everything'}")


async def tell(settings: Settings, signal: Signal) -> None:
    """Put a signal on its topic; raises ServerAwayError."""
    (topic,) = (name for name, one in load_topology(settings).topics.items() if one.schemas == (signal.schema,))
    try:
        producer = await start_producer(settings)
        try:
            await producer.send_and_wait(topic, encode(signal), key=signal.about.encode("utf-8", "replace"))
        finally:
            await producer.stop()
    except KafkaError as error:
        raise ServerAwayError(f"Kafka at {settings.kafka_bootstrap}: {error}") from None


def register(app: typer.Typer) -> None:
    """Add `retrospect` to the program."""
    app.add_typer(group, name="retrospect")
