"""Clean events → rows in ClickHouse or chDB: the last stage.

`Sink.write` is given a batch and returns when it is stored; the worker commits after that. A batch that fails because
the server is away raises ServerAwayError and is given again. What makes a replay harmless is the tables' keys: they are
made from the data, and reads use FINAL. The insert token only spares the server work when the very same batch comes
again. A row that the tables don't take is found by bisection and put into quarantine; it never holds up the rest.
Events whose stream isn't known yet (tool results, failures: their topics may be ahead) wait in quarantine, durable.
"""

import gc
import marshal
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b

from schemas.execution import Execution, Handover
from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output
from schemas.pattern import Pattern
from schemas.toolcall import ToolResult
from schemas.trajectory import Step
from schemas.wire import decode, encode
from streams import rows
from streams.columns import COLUMNS, StageStat
from streams.execution_rows import TABLE_OF, dispatched_row
from streams.migrations import migrate
from streams.places import Places
from streams.record_rows import record_row
from streams.rows import Place, Row
from streams.store import Columns, columns_of, full_disk_is_away, insert, open_client

BATCH_ROWS_MAX = 20_000
"""Events of one insert; a write may be given more, it is cut. 10,000 make more parts to merge (a tenth slower), 40,000
leave nothing to overlap."""
BATCH_AGE_MS = 250
"""Longest that a worker should wait to fill a batch, so that an event can be seen within a second."""
STEPS_MAX = (1 << 32) - 1
"""What the column for a stream's number of steps holds."""

SinkEvent = Step | Output | Failure | ToolResult | Pattern | Execution | Handover


@dataclass(slots=True)
class _Batch:
    tables: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    blobs: dict[tuple[str, str], str] = field(default_factory=dict)
    touched: dict[str, Place] = field(default_factory=dict)


class Sink:
    """Writes batches of clean events; one for each process that writes, used by one thread at a time.

    While one part of a batch is being inserted (outside of Python's lock), the next is made into rows. So there are two
    handles: the one that inserts, and one that asks.
    """

    def __init__(self, dsn: str, now: Callable[[], float] = time.time) -> None:
        self._writer, self._asker, self._now = open_client(dsn), open_client(dsn), now
        self._writer.set_client_setting("optimize_on_insert", "0")  # rows of one key meet in merges: inserts cost half
        self._inserting = ThreadPoolExecutor(1, thread_name_prefix="sink")
        self._pending: list[Future[None]] = []
        self._places = Places(self._asker)
        self._waiting: Counter[str] | None = None
        self._columns: dict[str, Columns] = {}
        self.written: Counter[str] = Counter()
        """Rows written so far, by table; a live page watches it."""

    def migrate(self) -> list[str]:
        """Bring the tables to this version; names of the migrations applied."""
        with full_disk_is_away():
            return migrate(self._writer)

    def write(self, events: Sequence[SinkEvent]) -> None:
        """Store a batch; returns when it is durable. Raises ServerAwayError: give the same batch again."""
        try:
            with _no_collecting():
                for start in range(0, len(events), BATCH_ROWS_MAX):
                    batch = self._batch(events[start : start + BATCH_ROWS_MAX])
                    self._pending.append(self._inserting.submit(self._insert_all, batch.tables))
        finally:
            self._settle()

    def write_stats(self, stats: Iterable[StageStat]) -> None:
        """Store figures of the stages."""
        names = COLUMNS["stage_stats"]
        self._insert("stage_stats", [tuple(getattr(stat, name) for name in names) for stat in stats])

    def close(self) -> None:
        """Give the handles back."""
        self._inserting.shutdown()
        self._writer.close()
        self._asker.close()

    def _settle(self) -> None:
        """Wait until everything handed over is stored; raises what went wrong."""
        pending, self._pending = self._pending, []
        wait(pending)
        for insertion in pending:
            insertion.result()

    def _batch(self, events: Sequence[SinkEvent]) -> _Batch:
        batch, now_ms = _Batch(), int(self._now() * 1000)
        times = [event.ts for event in events if isinstance(event, Step | Output) and event.ts is not None]
        # a NaN makes the sum one
        if times and not (
            math.isfinite(sum(times)) and all(rows.is_time(end, now_ms) for end in (min(times), max(times)))
        ):
            events = self._without_impossible(events, batch, now_ms)
            times = [event.ts for event in events if isinstance(event, Step | Output) and event.ts is not None]
        self._find(events, times)
        steps = [event for event in events if isinstance(event, Step)]
        self._place_steps(steps, batch, now_ms)
        if len(steps) < len(events):
            for event in events:
                self._place(event, batch, now_ms)
        self._take_up_waiting(batch)
        self._close_off(batch)
        return batch

    def _find(self, events: Sequence[SinkEvent], times: Sequence[float]) -> None:
        """Bring the places of a batch's streams into memory: near the batch's times; without a time, from any time."""
        ids = {event.stream_id for event in events if isinstance(event, Step | Output | Failure | ToolResult)}
        if times:
            self._places.find(ids, (min(times), max(times)))
        timeless = {
            event.stream_id
            for event in events
            if isinstance(event, Failure | ToolResult) or (isinstance(event, Step | Output) and event.ts is None)
        }
        self._places.find(timeless - {""}, None)

    def _without_impossible(self, events: Sequence[SinkEvent], batch: _Batch, now_ms: int) -> list[SinkEvent]:
        """Events whose time can be true; the others are set aside and reported."""
        possible: list[SinkEvent] = []
        for event in events:
            if not isinstance(event, Step | Output) or rows.is_time(event.ts, now_ms):
                possible.append(event)
                continue
            self._set_aside("clock_skew", event, batch)
            failure = Failure(
                stream_id=event.stream_id, code=FailureCode.CLOCK_SKEW, stage=Stage.SINK, state=event.schema,
                found=str(event.ts)[:40], expected="a time in ms, at most 90 days old",
                signature=f"sink:{FailureCode.CLOCK_SKEW}:{event.schema}",
            )  # fmt: skip
            tenant = _tenant(event) or rows.DEFAULT_TENANT
            nowhere = Place(tenant=tenant, run_id=event.stream_id, hour_ms=now_ms, started_ms=now_ms)
            batch.tables["failures"].append(rows.failure_row(failure, nowhere))
        return possible

    def _place(self, event: SinkEvent, batch: _Batch, now_ms: int) -> None:
        match event:
            case Output():
                self._place_output(event, batch, now_ms)
            case Pattern():
                batch.tables["patterns"].append(rows.pattern_row(event, now_ms))
            case Execution() | Handover():
                batch.tables[TABLE_OF[type(event)]].append(dispatched_row(event))
            case Failure() if not event.stream_id:
                nowhere = Place(tenant=rows.DEFAULT_TENANT, run_id="", hour_ms=now_ms, started_ms=now_ms)
                batch.tables["failures"].append(rows.failure_row(event, nowhere))
            case Failure() | ToolResult():
                if not self._place_dependent(event, batch):
                    self._set_aside("waiting", event, batch)

    def _place_steps(self, steps: Sequence[Step], batch: _Batch, now_ms: int) -> None:
        touched, blobs, step_row, put = batch.touched, batch.blobs, rows.step_row, batch.tables["steps"].append
        for step in steps:
            place = touched.get(step.stream_id) or self._touched(step, batch, now_ms)
            if step.order >= place.steps:
                place.steps = min(step.order + 1, STEPS_MAX)
                place.format = step.format or place.format
            put(step_row(step, place, blobs))

    def _touched(self, step: Step, batch: _Batch, now_ms: int) -> Place:
        stream_id, started = step.stream_id, now_ms if step.ts is None else int(step.ts)
        place = self._places.of(stream_id, started, step.tenant or rows.DEFAULT_TENANT, step.run_id or stream_id)
        place.session_id = step.session_id or place.session_id
        place.goal_id = step.goal_id or place.goal_id
        place.model = step.model or place.model
        place.ended_ms = max(place.ended_ms, place.started_ms if step.ts is None else started)
        batch.touched[stream_id] = place
        return place

    def _place_output(self, output: Output, batch: _Batch, now_ms: int) -> None:
        meta, stream_id = output.meta, output.stream_id
        started = now_ms if output.ts is None else int(output.ts)
        tenant = (meta.tenant if meta else None) or rows.DEFAULT_TENANT
        place = self._places.of(stream_id, started, tenant, (meta.run_id if meta else None) or stream_id)
        if meta:
            place.session_id = meta.session_id or place.session_id
            place.goal_id = meta.goal_id or place.goal_id
            place.model = meta.model or place.model
        place.format = output.format.id or place.format
        for call in output.tool_calls:
            place.calls.setdefault(call.id, (call.order, call.name or call.requested_name or ""))
        place.rev = max(place.rev, rows.CLOSED_REV + output.rev)
        batch.tables["streams"].append(rows.output_row(output, place, batch.blobs))
        batch.tables["failures"].extend(rows.failure_row(failure, place) for failure in output.failures)
        if output.reasoning_record:
            batch.tables["reasoning_records"].append(record_row(output.reasoning_record, output, place))
        batch.touched[stream_id] = place

    def _place_dependent(self, event: Failure | ToolResult, batch: _Batch) -> bool:
        """Failures need their stream, tool results their call; False when it isn't known yet."""
        place = self._places.get(event.stream_id)
        if place is None:
            return False
        if isinstance(event, Failure):
            batch.tables["failures"].append(rows.failure_row(event, place))
            return True
        if event.call_id not in place.calls:
            self._settle()
            place.calls |= self._places.calls_of(event.stream_id)
        if event.call_id not in place.calls:
            return False
        batch.tables["steps"].append(rows.result_row(event, place, batch.blobs))
        return True

    def _set_aside(self, reason: str, event: SinkEvent, batch: _Batch, is_placed: bool = False) -> None:
        body = encode(event).decode()
        stream_id = "" if isinstance(event, Pattern) else event.stream_id
        batch.tables["quarantine"].append((reason, stream_id, rows.text_hash(body), body, int(is_placed)))
        if reason == "waiting":
            self._waiting_streams()[stream_id] += -1 if is_placed else 1

    def _take_up_waiting(self, batch: _Batch) -> None:
        """Events that waited for a stream of this batch become rows now."""
        waiting = self._waiting_streams()
        if not (ready := [stream_id for stream_id in batch.touched if waiting[stream_id] > 0]):
            return
        self._settle()
        found = self._asker.query(
            "SELECT event FROM quarantine FINAL WHERE reason = 'waiting' AND stream_id IN {ids:Array(String)}",
            parameters={"ids": ready},
        ).result_rows
        held = [row[3] for row in batch.tables["quarantine"] if row[0] == "waiting" and row[1] in batch.touched]
        for body in dict.fromkeys([*(row[0] for row in found), *held]):
            event = decode(body.encode())
            if isinstance(event, Failure | ToolResult) and self._place_dependent(event, batch):
                self._set_aside("waiting", event, batch, is_placed=True)

    def _waiting_streams(self) -> Counter[str]:
        if self._waiting is None:
            query = "SELECT stream_id, count() FROM quarantine FINAL WHERE reason = 'waiting' GROUP BY stream_id"
            self._waiting = Counter({row[0]: row[1] for row in self._asker.query(query).result_rows})
        return self._waiting

    def _close_off(self, batch: _Batch) -> None:
        """Provisional rows for streams still open, and the blobs that the rows refer to."""
        for stream_id, place in batch.touched.items():
            if place.rev < rows.CLOSED_REV:
                place.rev += 1
                batch.tables["streams"].append(rows.open_row(stream_id, place))
        batch.tables["blobs"] = [(tenant, key, text) for (tenant, key), text in batch.blobs.items()]
        # the last word on an event counts, and ClickHouse may see both in one block
        batch.tables["quarantine"] = list({row[:3]: row for row in batch.tables["quarantine"]}.values())

    def _insert_all(self, tables: dict[str, list[Row]]) -> None:
        for table in COLUMNS:
            if table in tables:
                self._insert(table, tables[table])

    def _insert(self, table: str, batch: list[Row]) -> None:
        """Insert; rows that the table doesn't take go to quarantine."""
        if not batch:
            return
        token = blake2b(marshal.dumps(batch, 2), digest_size=16).hexdigest()
        if table not in self._columns:
            self._columns[table] = columns_of(self._writer, table, COLUMNS[table])
        refused = insert(self._writer, self._columns[table], batch, f"{table}:{token}")
        self.written[table] += len(batch) - len(refused)
        aside = []
        for row in refused:
            record = dict(zip(COLUMNS[table], row, strict=True))
            body = rows.as_json({"table": table, "row": record})
            stream_id = str(record.get("stream_id", "")).encode("utf-8", "replace").decode()
            aside.append(("rejected", stream_id, rows.text_hash(body), body, 0))
        if aside:
            self._insert("quarantine", aside)


def _tenant(event: Step | Output) -> str | None:
    return event.tenant if isinstance(event, Step) else (event.meta.tenant if event.meta else None)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Rows live until they are inserted; looking through them for garbage again and again took a sixth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
