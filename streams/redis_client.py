"""One way to open Redis: short waits, and a server that is away said in our words."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import redis.asyncio as redis
from redis.exceptions import ConnectionError as RedisAwayError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from streams.settings import ConfigError, ServerAwayError

AWAY = (RedisAwayError, RedisTimeoutError, ResponseError)
"""ResponseError: a server that refuses, because it is a replica, full, or holds other things under the same keys."""


@asynccontextmanager
async def redis_client(url: str, what: str) -> AsyncIterator["redis.Redis"]:
    """A client for `redis://`, `rediss://` or `unix://`; while it is open, a server away is a ServerAwayError.

    what: what is kept there, for the message. Raises ConfigError for an address that is none.
    """
    try:
        client = redis.from_url(url, socket_connect_timeout=3, socket_timeout=10, health_check_interval=15)
    except ValueError as error:
        raise ConfigError(f"{what}: Redis address: {error}") from None
    try:
        yield client
    except AWAY as error:
        raise ServerAwayError(f"{what}: Redis: {error}") from error
    finally:
        await client.aclose()
