"""Who may run a call, in Redis: one lease for each place in a stream, fenced; results kept for those who ask again.

`take` says `go` at most once for a call with side effects, whatever dies when: if its lease ran out, nobody knows
whether it happened, so it is `lost` and not run again. A call without side effects is run again. A worker whose lease
was lost is fenced: what it brings after that is not kept. Each answer is one Lua script, so one atomic step, and all
times are the server's.

That holds as long as Redis keeps what it was told: it needs an append-only file and must not evict. A replica that was
promoted may not have seen the last lease.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

import redis.asyncio as redis

from processors.dispatch import Plan, Planned
from processors.dispatching.bounds import Bounds, Spent
from schemas.jsonvalue import JsonObject
from streams.circuits import Circuits
from streams.redis_client import AWAY, redis_client

KEEP_MS = 15 * 24 * 3_600_000
"""How long results are kept: longer than `llm.outputs` (336 h) can be read again."""
DONE_MAX = 200
"""Calls of one task that a handover lists, the last ones."""
Word = Literal["go", "busy", "done", "lost", "other", "bound"]

_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local execution, lease, keep, effects, stream = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local call = redis.call('HMGET', KEYS[1], 'execution', 'state', 'until', 'result')
local word = 'go'
if call[1] then
  if call[1] ~= execution then return {'other'} end
  if call[2] == 'done' then return {'done', call[4]} end
  if now < tonumber(call[3]) then return {'busy', tostring(tonumber(call[3]) - now)} end
  if effects == '1' then word = 'lost' end
else
  if redis.call('HSETNX', KEYS[2], 'stream:' .. stream, ARGV[6]) == 1 then
    redis.call('HINCRBY', KEYS[2], 'tokens', ARGV[6])
  end
  redis.call('PEXPIRE', KEYS[2], keep)
  local spent = redis.call('HMGET', KEYS[2], 'steps', 'tokens', 'cost', 'over')
  local steps, tokens, cost = tonumber(spent[1] or 0), tonumber(spent[2] or 0), tonumber(spent[3] or 0)
  local is_over = tonumber(spent[4] or 0) >= tonumber(ARGV[10])
  if is_over or steps >= tonumber(ARGV[7]) or tokens > tonumber(ARGV[8]) or cost >= tonumber(ARGV[9]) then
    return {'bound'}
  end
  redis.call('HINCRBY', KEYS[2], 'steps', 1)
end
local fence = redis.call('HINCRBY', KEYS[1], 'fence', 1)
redis.call('HSET', KEYS[1], 'execution', execution, 'state', 'running', 'until', now + lease)
redis.call('PEXPIRE', KEYS[1], keep)
return {word, tostring(fence)}
"""
_RENEW = """
local call = redis.call('HMGET', KEYS[1], 'fence', 'state')
if call[1] ~= ARGV[1] or call[2] ~= 'running' then return 0 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'until', time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2]))
return 1
"""
_FINISH = """
local call = redis.call('HMGET', KEYS[1], 'fence', 'state', 'result')
if call[1] ~= ARGV[1] then return call[3] or '' end
if call[2] == 'done' then return call[3] end
redis.call('HSET', KEYS[1], 'state', 'done', 'result', ARGV[2])
redis.call('HINCRBYFLOAT', KEYS[2], 'cost', ARGV[3])
if tonumber(redis.call('HGET', KEYS[2], 'over') or 0) < tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[2], 'over', ARGV[4])
end
redis.call('RPUSH', KEYS[3], ARGV[5])
redis.call('LTRIM', KEYS[3], -tonumber(ARGV[6]), -1)
redis.call('PEXPIRE', KEYS[3], ARGV[7])
return ARGV[2]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came of asking for a call."""

    word: Word
    fence: str = ""
    """With `go` and `lost`: what `finish` must show."""
    result: bytes = b""
    """With `done`: what was kept."""
    wait_ms: int = 0
    """With `busy`: when its lease runs out."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a call that ended."""

    result: bytes
    cost_usd: float = 0.0
    over_s: float = 0.0
    """The time after which it was given up; 0: it was not."""
    snapshot: JsonObject = field(default_factory=dict)
    """What a handover says of it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which bounds and for how long a call is taken."""

    bounds: Bounds
    lease_ms: int


class Leases:
    """Leases of calls, and what tasks used."""

    def __init__(self, client: "redis.Redis", prefix: str = "") -> None:
        self._client = client
        # Braces keep all keys in one slot of a Redis Cluster, which the scripts need.
        self._prefix = f"{{{prefix}dispatch}}"
        self.circuits = Circuits(client, self._prefix)
        """Which endpoints may be called."""

    async def take(self, planned: Planned, plan: Plan, terms: Terms) -> Taken:
        """Ask to run a call of a plan."""
        bounds = terms.bounds
        answer: list[bytes] = await self._client.eval(
            _TAKE, 2, *self._keys(planned, plan)[:2], planned.execution_id, terms.lease_ms, KEEP_MS,
            int(planned.has_side_effects), _bytes(planned.call.stream_id), plan.tokens,
            bounds.steps_max, bounds.tokens_max, bounds.cost_usd_max, bounds.step_s_max,
        )  # fmt: skip
        word, *more = answer
        match word:
            case b"go":
                return Taken(word="go", fence=more[0].decode())
            case b"lost":
                return Taken(word="lost", fence=more[0].decode())
            case b"done":
                return Taken(word="done", result=more[0])
            case b"busy":
                return Taken(word="busy", wait_ms=int(float(more[0])))
            case b"bound":
                return Taken(word="bound")
        return Taken(word="other")

    async def renew(self, planned: Planned, plan: Plan, fence: str, lease_ms: int) -> bool:
        """Keep a lease; False: it is somebody else's by now. A server that is away may be back before it runs out."""
        try:
            return bool(await self._client.eval(_RENEW, 1, self._keys(planned, plan)[0], fence, lease_ms))
        except AWAY:
            return True

    async def finish(self, planned: Planned, plan: Plan, fence: str, kept: Kept) -> bytes:
        """Keep a result and its cost; gives the result that counts, which is another one if the lease was lost.

        Empty: whoever has the lease now has not finished.
        """
        answer: bytes = await self._client.eval(
            _FINISH, 3, *self._keys(planned, plan), fence, kept.result, kept.cost_usd, kept.over_s,
            json.dumps(kept.snapshot), DONE_MAX, KEEP_MS,
        )  # fmt: skip
        return answer

    async def spent(self, plan: Plan) -> Spent:
        """What the plan's task has used, and its calls that ended."""
        task, done = self._of_task(plan)
        steps, tokens, cost, over = await self._client.hmget(task, ["steps", "tokens", "cost", "over"])
        ended = await self._client.lrange(done, 0, -1)
        return Spent(
            steps=int(steps or 0), tokens=int(tokens or 0), cost_usd=float(cost or 0), step_s=float(over or 0),
            done=tuple(map(json.loads, ended)),
        )  # fmt: skip

    def _keys(self, planned: Planned, plan: Plan) -> tuple[bytes, bytes, bytes]:
        return f"{self._prefix}:call:{planned.key}".encode(), *self._of_task(plan)

    def _of_task(self, plan: Plan) -> tuple[bytes, bytes]:
        return _bytes(f"{self._prefix}:task:{plan.task}"), _bytes(f"{self._prefix}:done:{plan.task}")


@asynccontextmanager
async def leases(url: str, prefix: str = "") -> AsyncIterator[Leases]:
    """Leases at a Redis URL; a server that is away is a ServerAwayError."""
    async with redis_client(url, "leases of calls") as client:
        yield Leases(client, prefix)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
