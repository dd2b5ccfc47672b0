"""A topic of events → the events one wants, and a commit of what the loop's body is done with.

An offset is committed after the body came back for its record, so a body that raises, or a program that dies in it,
gets the same event again (at least once). Commits go out at most once a second, and when the context is left.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable
from typing import Generic, TypeVar

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaConnectionError, KafkaError

from schemas.wire import Event, UndecodableError, decode
from streams.client_options import kafka_options
from streams.settings import ServerAwayError, Settings

SEEN_MAX = 100_000
"""Identities remembered, to give each revision once."""
COMMIT_S = 1.0
E = TypeVar("E", bound=Event)
log = logging.getLogger(__name__)


class Following(Generic[E]):
    """Reads one topic."""

    def __init__(
        self,
        topic: str,
        wanted: Callable[[Event], E | None],
        identity: Callable[[E], tuple[Hashable, int]],
        options: dict[str, object],
    ) -> None:
        """wanted: the event if it is one to give. identity: what it is a revision of, and its revision."""
        self._wanted = wanted
        self._identity = identity
        self._is_group = options.get("group_id") is not None
        self._consumer = AIOKafkaConsumer(topic, enable_auto_commit=False, **options)
        self._seen: OrderedDict[Hashable, int] = OrderedDict()
        self._done: dict[TopicPartition, int] = {}
        self._committed_at = time.monotonic()

    async def start(self, address: str) -> None:
        """Connect; raises ServerAwayError."""
        try:
            await self._consumer.start()
        except KafkaConnectionError as error:
            await self._consumer.stop()
            raise ServerAwayError(f"Kafka at {address} does not answer") from error

    async def stop(self) -> None:
        """Commit what was done, and leave the group."""
        try:
            await self._commit()
        finally:
            await self._consumer.stop()

    async def events(self) -> AsyncIterator[E]:
        """Events as they come, for ever."""
        while True:
            batch = await self._consumer.getmany(timeout_ms=1_000, max_records=1_000)
            for place, record in [(place, record) for place, records in batch.items() for record in records]:
                event = self._event(record.value)
                if event is not None:
                    yield event
                self._done[place] = record.offset + 1
                await self._commit_if_due()
            await self._commit_if_due()

    def _event(self, data: bytes | None) -> E | None:
        try:
            event = self._wanted(decode(data))
        except UndecodableError:  # another program's record on a public topic: nothing that was promised here
            return None
        if event is None:
            return None
        identity, rev = self._identity(event)
        if self._seen.get(identity, -1) >= rev:
            return None
        self._seen[identity] = rev
        self._seen.move_to_end(identity)
        if len(self._seen) > SEEN_MAX:
            self._seen.popitem(last=False)
        return event

    async def _commit_if_due(self) -> None:
        if self._done and time.monotonic() - self._committed_at >= COMMIT_S:
            await self._commit()

    async def _commit(self) -> None:
        self._committed_at = time.monotonic()
        ours = self._consumer.assignment()
        done = {place: offset for place, offset in self._done.items() if place in ours}
        self._done.clear()
        if not done or not self._is_group:
            return
        try:
            await self._consumer.commit(done)
        except (IllegalStateError, KafkaError) as error:  # the group changed: whoever has them now reads them again
            log.warning("offsets were not committed", extra={"error": type(error).__name__})


def options_of(settings: Settings, group: str | None, start: str) -> dict[str, object]:
    """What a reading client is told."""
    return {
        "group_id": group,
        "auto_offset_reset": start,
        "isolation_level": "read_committed",
        "session_timeout_ms": settings.session_timeout_ms,
        "max_partition_fetch_bytes": 20_000_000,
        **kafka_options(settings),
    }
