"""Whether an endpoint may be called, in Redis, shared by all dispatchers: what is broken is left alone for a while.

An endpoint is what breaks as one: a server of several tools, or one tool. While it works, nothing is in the way. After
a system error only as many calls are under way at once as failures are left; the others wait. When the last one is
used up, all are skipped for a rest; then one call tries it, and its answer opens the way again.

A dispatcher that was told that an endpoint works does not ask again for a second: it learns of its own calls' failures
at once, so it lets no more through than were under way.
"""

import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import redis.asyncio as redis

from streams.redis_client import AWAY

KEEP_MS = 3_600_000
"""Failures older than this are forgotten."""
WELL_S = 1.0
"""How long an answer that an endpoint works is believed."""
Word = Literal["go", "wait", "rest"]

_ENTER = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most, until_ms, keep = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local health = redis.call('HMGET', KEYS[1], 'failures', 'rests_until')
local failures = tonumber(health[1] or 0)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local running = redis.call('ZCARD', KEYS[2]) + tonumber(ARGV[5])
local word = 'go'
if failures >= most then
  if now < tonumber(health[2] or 0) or running > 0 then word = 'rest' end
elseif failures > 0 and running + failures >= most then
  word = 'wait'
end
if word == 'go' then
  redis.call('ZADD', KEYS[2], now + until_ms, ARGV[1])
  redis.call('PEXPIRE', KEYS[2], keep)
end
return {word, failures}
"""
_LEAVE = """
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[2] == '1' then
  redis.call('DEL', KEYS[1])
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'rests_until', now + tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return redis.call('HINCRBY', KEYS[1], 'failures', 1)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When an endpoint is left alone."""

    failures_max: int = 3
    """System errors in a row after which it is skipped."""
    rest_ms: int = 30_000
    """How long it is skipped; then one call tries it."""
    call_ms: int = 60_000
    """After this time a call is taken as over, should its dispatcher have died."""


class Circuits:
    """The health of endpoints."""

    def __init__(self, client: "redis.Redis", prefix: str) -> None:
        self._client, self._prefix = client, prefix
        self._well_until: dict[str, float] = {}
        self._unasked: dict[str, set[str]] = defaultdict(set)
        """Calls under way that were let in without asking, by endpoint: the server does not know of them."""

    async def enter(self, endpoint: str, execution_id: str, limits: Limits) -> tuple[Word, int]:
        """Ask to call an endpoint; and how many system errors in a row it had."""
        unasked = self._unasked[endpoint]
        if time.monotonic() < self._well_until.get(endpoint, 0.0):
            unasked.add(execution_id)
            return "go", 0
        word, failures = await self._client.eval(
            _ENTER, 2, *self._keys(endpoint), execution_id, limits.failures_max, limits.call_ms, KEEP_MS, len(unasked)
        )
        if not failures:
            self._well_until[endpoint] = time.monotonic() + WELL_S
        words: dict[bytes, Word] = {b"go": "go", b"wait": "wait", b"rest": "rest"}
        return words[word], int(failures)

    async def leave(self, endpoint: str, execution_id: str, limits: Limits, *, is_well: bool) -> None:
        """Say how a call that was let in ended. A server that is away is not told: the call's own result counts."""
        unasked = self._unasked[endpoint]
        is_known = execution_id not in unasked
        unasked.discard(execution_id)
        if is_well and not is_known and endpoint in self._well_until:
            return
        if not is_well:
            self._well_until.pop(endpoint, None)
        with suppress(*AWAY):
            await self._client.eval(
                _LEAVE, 2, *self._keys(endpoint), execution_id, int(is_well), limits.rest_ms, KEEP_MS
            )

    def _keys(self, endpoint: str) -> tuple[bytes, bytes]:
        name = endpoint.encode("utf-8", "surrogatepass")
        prefix = self._prefix.encode()
        return prefix + b":health:" + name, prefix + b":under-way:" + name
