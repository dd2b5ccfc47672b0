"""How strategies fare, in Redis: counts for whoever asks, and when each was last used, kept over a restart."""

from collections.abc import Iterable

import orjson
import redis.asyncio as redis

from processors.strategies.fares import Figures
from schemas.jsonvalue import JsonObject


class StrategyFigures:
    """One hash: id of the strategy → its figures as JSON."""

    def __init__(self, client: "redis.Redis", prefix: str = "") -> None:
        self._client = client
        self._key = f"{prefix}strategies:figures"
        self._spoken = f"{prefix}strategies:spoken"

    async def write(self, figures: Iterable[Figures], now_ms: float) -> None:
        """Put down what was seen of strategies, and until when it was spoken about failures."""
        await self._client.set(self._spoken, int(now_ms))
        values = {one.pattern.id: orjson.dumps(shown(one)) for one in figures}
        if values:
            await self._client.hset(self._key, mapping=values)  # type: ignore[arg-type]  # redis-py wants text for keys and values alike

    async def spoken_ms(self) -> float:
        """Until when; 0 if nobody spoke yet."""
        return float(await self._client.get(self._spoken) or 0)

    async def read(self) -> dict[str, JsonObject]:
        """What was put down, by strategy."""
        found = await self._client.hgetall(self._key)
        return {_as_text(name): orjson.loads(value) for name, value in found.items()}


def shown(figures: Figures) -> JsonObject:
    """Figures of one strategy for a person."""
    return {
        "state": str(figures.pattern.state), "version": figures.pattern.version, **figures.counters,
        "score": round(figures.trial.score, 3), "used_ms": figures.used_ms,
    }  # fmt: skip


def _as_text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")
