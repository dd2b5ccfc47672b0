"""`topics apply|check|show`: what topics.yaml declares, on a cluster."""

import asyncio
from typing import Annotated

import typer

from streams import topics as declared
from streams.cli.show import say, show
from streams.permissions import permissions
from streams.settings import load

group = typer.Typer(help="The topics that topics.yaml declares.", no_args_is_help=True)


@group.command("apply")
def apply_topics(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be created.")] = False,
) -> None:
    """Create the topics that the cluster lacks."""
    settings = load()
    topology = declared.load_topology(settings)
    if dry_run:
        found = asyncio.run(declared.drift(settings, topology))
        names = [line.partition(":")[0] for line in found if line.endswith("does not exist")]
    else:
        names = asyncio.run(declared.apply(settings, topology))
    verb = "would create" if dry_run else "created"
    for name in names:
        say({"topic": name, "is_dry_run": dry_run}, f"{verb} {name}")
    if not names:
        say({"topic": None, "is_dry_run": dry_run}, "all topics exist")


@group.command("check")
def check_topics() -> int:
    """Say where the cluster differs from topics.yaml; exit code 1 if it does."""
    settings = load()
    found = asyncio.run(declared.drift(settings, declared.load_topology(settings)))
    for difference in found:
        say({"difference": difference}, difference)
    if not found:
        say({"difference": None}, "the cluster is as topics.yaml says")
    return 1 if found else 0


@group.command("show")
def show_topics(
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")] = False,
) -> None:
    """Each topic with who writes and who reads it."""
    topology = declared.load_topology(load())
    rows = [
        {
            "topic": name,
            "writers": [*topic.producers, *(s for s, e in topology.stages.items() if name in e.writes.values())],
            "readers": [*topic.consumers, *(s for s, e in topology.stages.items() if name in e.reads)],
            **topic.model_dump(include={"key", "schemas", "access", "partitions", "retention_hours", "cleanup"}),
        }
        for name, topic in topology.topics.items()
    ]
    show(rows, ("topic", "access", "partitions", "retention_hours", "cleanup", "writers", "readers"), as_json=as_json)


@group.command("permissions")
def show_permissions(
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a table.")] = False,
) -> None:
    """The least that each stage must be allowed on Kafka, for its ACLs."""
    settings = load()
    rows = permissions(settings, declared.load_topology(settings))
    show(rows, ("principal", "resource", "name", "operations"), as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add `topics` to the program."""
    app.add_typer(group, name="topics")
