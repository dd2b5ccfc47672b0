"""The topic of steps → steps as they come, for a terminal: no group, nothing committed, from the end or a time ago."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaConnectionError, KafkaError
from rich.text import Text

from schemas.trajectory import Step
from schemas.wire import UndecodableError, decode
from streams.client_options import kafka_options
from streams.settings import ServerAwayError, Settings

TEXT_CHARS = 160
COLOURS = {
    "reasoning": "magenta", "tool_call": "blue", "tool_result": "cyan", "state": "yellow", "response": "default",
    "failure": "red",
}  # fmt: skip
FINE = frozenset({"ok", "superseded"})
MENDED = frozenset({"repaired", "renamed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which steps are shown; empty fields don't narrow. `status` may be `error`: all that is not fine or mended."""

    status: str = ""
    run: str = ""
    kind: str = ""
    tenant: str = ""

    def has(self, step: Step) -> bool:
        """Whether a step is one of them."""
        is_error = step.status not in FINE and step.status not in MENDED
        return (
            (not self.status or self.status == step.status or (self.status == "error" and is_error))
            and (not self.run or self.run in {step.run_id, step.stream_id})
            and (not self.kind or self.kind == step.kind)
            and (not self.tenant or self.tenant == step.tenant)
        )


async def steps(settings: Settings, topic: str, wanted: Wanted, since_ms: int | None) -> AsyncIterator[Step]:
    """Steps as they come, for ever; raises ServerAwayError."""
    consumer = AIOKafkaConsumer(topic, auto_offset_reset="latest", enable_auto_commit=False, **kafka_options(settings))
    try:
        await consumer.start()
        if since_ms is not None:
            await _go_back(consumer, since_ms)
        async for record in consumer:
            step = _step_of(record.value)
            if step is not None and wanted.has(step):
                yield step
    except (KafkaConnectionError, KafkaError) as error:
        raise ServerAwayError(f"Kafka at {settings.kafka_bootstrap}: {error}") from None
    finally:
        await consumer.stop()


def line_of(step: Step, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Text:
    """One step as a line."""
    moment = datetime.fromtimestamp(step.ts / 1000, UTC) if step.ts else now()
    name = str(step.detail.get("name") or step.detail.get("label") or step.detail.get("stage") or "")
    status = "red" if Wanted(status="error").has(step) else "yellow" if step.status in MENDED else "green"
    shown = " ".join(step.text[: TEXT_CHARS * 2].split())[:TEXT_CHARS]
    visible = "".join(character if character.isprintable() else "·" for character in shown)
    run = (step.run_id or step.stream_id)[:20]
    return Text.assemble(
        (f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03} {run:20} #{step.order:<3} ", "dim"),
        (f"{step.kind:11} ", COLOURS.get(step.kind, "default")),
        (f"{step.status:14} ", status),
        (f"{name} ", "bold"),
        visible,
    )


def _step_of(value: bytes | None) -> Step | None:
    with suppress(UndecodableError):  # dead letters tell about it
        event = decode(value)
        return event if isinstance(event, Step) else None
    return None


async def _go_back(consumer: AIOKafkaConsumer, since_ms: int) -> None:
    places = consumer.assignment()
    found = await consumer.offsets_for_times(dict.fromkeys(places, since_ms))
    for place, offset in found.items():
        if offset is not None:
            consumer.seek(place, offset.offset)
