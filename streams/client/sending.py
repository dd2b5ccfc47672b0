"""Tokens → `llm.tokens`, each until the broker has it: what failed goes again, before anything that follows it."""

import asyncio
import logging

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from schemas.token import Token
from schemas.wire import encode
from streams.kafka_clients import start_producer
from streams.settings import ServerAwayError, Settings

AGAIN_S_MIN, AGAIN_S_MAX = 0.2, 10.0
"""Pause before a server that was away is asked again: doubled each time, up to the second."""
log = logging.getLogger(__name__)


class Sender:
    """The Kafka client of one producer; it may be away from the start."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topic = f"{settings.topic_prefix}llm.tokens"
        self._producer: AIOKafkaProducer | None = None
        self._last: asyncio.Future[object] | None = None
        self.refused = 0
        """Tokens that the broker refused for their size."""

    async def start(self, *, must_connect: bool) -> None:
        """Connect; a server that is away is asked again with the first tokens, or raises ServerAwayError if it must."""
        try:
            self._producer = await start_producer(self._settings)
        except (KafkaError, OSError) as error:
            if must_connect:
                raise self._away() from error
            log.warning("Kafka does not answer; tokens wait", extra={"address": self._settings.kafka_bootstrap})

    async def send(self, token: Token) -> None:
        """One token, once; waits while the client's buffer is full, raises ServerAwayError or the client's errors."""
        if self._producer is None:
            raise self._away()
        self._last = await self._producer.send(self._topic, encode(token), key=_key(token))

    async def flush(self) -> None:
        """Wait until all that was sent is acknowledged; raises the client's errors for tokens of `send`."""
        if self._producer is not None:
            await self._producer.flush()
        if self._last is not None:
            await self._last

    async def deliver(self, tokens: list[Token]) -> None:
        """Until the broker has them all, however long it is away."""
        left, pause_s = tokens, AGAIN_S_MIN
        while left := await self._attempt(left):
            await asyncio.sleep(pause_s)
            pause_s = min(AGAIN_S_MAX, pause_s * 2)

    async def stop(self, s_max: float) -> None:
        """Close the client, in this time."""
        if self._producer is not None:
            try:
                await asyncio.wait_for(self._producer.stop(), s_max)
            except (KafkaError, TimeoutError) as error:  # the server is away: nothing more can be said to it
                log.warning("the Kafka client did not close in order", extra={"error": type(error).__name__})

    async def _attempt(self, tokens: list[Token]) -> list[Token]:
        """Tokens that have to go again."""
        try:
            if self._producer is None:
                self._producer = await start_producer(self._settings)
            sends = [await self._producer.send(self._topic, encode(token), key=_key(token)) for token in tokens]
        except MessageSizeTooLargeError:
            self.refused += 1
            return tokens[1:] if len(tokens) == 1 else await self._one_by_one(tokens)
        except (KafkaError, OSError) as error:
            log.warning("Kafka does not take tokens; they wait", extra={"error": type(error).__name__})
            return tokens
        found = await asyncio.gather(*sends, return_exceptions=True)
        self.refused += sum(isinstance(error, MessageSizeTooLargeError) for error in found)
        return [
            token
            for token, error in zip(tokens, found, strict=True)
            if isinstance(error, BaseException) and not isinstance(error, MessageSizeTooLargeError)
        ]

    async def _one_by_one(self, tokens: list[Token]) -> list[Token]:
        return [left for token in tokens for left in await self._attempt([token])]

    def _away(self) -> ServerAwayError:
        return ServerAwayError(f"Kafka at {self._settings.kafka_bootstrap} does not answer")


def _key(token: Token) -> bytes:
    return token.stream_id.encode("utf-8", "replace")
