"""Calls that could not be read → the same calls, mended by a language model where its answer can be trusted.

Off unless configured: what it asks about leaves the machine, with placeholders for personal data unless `send` is
`raw`. Any endpoint that speaks OpenAI's chat completions does. An answer takes at most `timeout_s`; what a day may cost
is bounded before each question, by what it could cost at most; after `failures_max` failures in a row nothing is asked
for `rest_s`, then one question tries again. Whatever goes wrong, the call stays what it was and a warning on it says
why.
"""

import asyncio
import os
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
import orjson

from processors.pii.redact import redact
from processors.repair import ToolSchema
from processors.tools.llm_answer import can_ask, mended, question, unmended
from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import ToolCall
from streams.settings import ConfigError

DAY_S = 86_400.0
ANSWER_BYTES_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions:
    """How a language model is asked; read from the TOML file that the setting `llm_repair` names."""

    url: str
    """Base address of the endpoint, `/v1` included."""
    model: str
    key_variable: str = ""
    """Environment variable that holds the key; empty: no key."""
    timeout_s: float = 10.0
    answer_tokens_max: int = 1_024
    at_once_max: int = 4
    day_usd_max: float = 1.0
    usd_per_million_in: float = 0.0
    usd_per_million_out: float = 0.0
    failures_max: int = 5
    rest_s: float = 30.0
    send: str = "clean"
    """`clean`: personal data goes out as placeholders; a call that needs such a value stays unmended. `raw`: as is."""


def read_options(path: Path) -> LlmOptions:
    """Options from a file; raises ConfigError, which names file and key."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    kinds = {one.name: (int, float) if one.type in {int, float} else str for one in fields(LlmOptions)}
    for key, value in table.items():
        if key not in kinds:
            raise ConfigError(f"{path}: unknown key {key!r}; known are {', '.join(sorted(kinds))}")
        if not isinstance(value, kinds[key]) or isinstance(value, bool) or (not isinstance(value, str) and value < 0):
            raise ConfigError(f"{path}: {key}: {value!r} is not what is wanted")
    if missing := {"url", "model"} - table.keys():
        raise ConfigError(f"{path}: {min(missing)} is missing")
    if not table["url"].startswith(("http://", "https://")):
        raise ConfigError(f"{path}: url: not an http address")
    if table.get("send", "clean") not in {"clean", "raw"}:
        raise ConfigError(f"{path}: send: `clean` or `raw`")
    return LlmOptions(**table)


class LlmError(RuntimeError):
    """The endpoint gave no usable answer; the message holds nothing of the question."""


@dataclass(slots=True)
class Breaker:
    """Lets questions through until several in a row failed, then one after each rest."""

    failures_max: int
    rest_s: float
    failures: int = 0
    closed_at: float = 0.0
    """Before this time nothing is asked."""

    def may_ask(self, now: float) -> bool:
        """Whether to ask now; a question after a rest closes the way for the others until it is answered."""
        if self.failures < self.failures_max:
            return True
        if now < self.closed_at:
            return False
        self.closed_at = now + self.rest_s
        return True

    def answered(self) -> None:
        """A question was answered."""
        self.failures = 0

    def failed(self, now: float) -> None:
        """A question was not answered."""
        self.failures += 1
        self.closed_at = now + self.rest_s


@dataclass(slots=True)
class Budget:
    """What may be spent in a day, and what was or might be."""

    day_usd_max: float
    spent: float = 0.0
    since: float = 0.0

    def reserve(self, usd: float, now: float) -> bool:
        """Set aside what a question may cost; False if the day's money doesn't reach."""
        if now - self.since >= DAY_S:
            self.spent, self.since = 0.0, now
        if self.spent + usd > self.day_usd_max:
            return False
        self.spent += usd
        return True

    def settle(self, reserved: float, usd: float) -> None:
        """Replace what was set aside by what it was."""
        self.spent += usd - reserved


@dataclass(slots=True)
class LlmClient:
    """Asks one endpoint, within its limits."""

    options: LlmOptions
    now: Callable[[], float] = time.monotonic
    breaker: Breaker = field(init=False)
    budget: Budget = field(init=False)
    _session: aiohttp.ClientSession | None = field(init=False, default=None)
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.breaker = Breaker(self.options.failures_max, self.options.rest_s)
        self.budget = Budget(self.options.day_usd_max, since=self.now())
        self._slots = asyncio.Semaphore(self.options.at_once_max)

    async def __aenter__(self) -> Self:
        key = os.environ.get(self.options.key_variable, "") if self.options.key_variable else ""
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=aiohttp.ClientTimeout(total=self.options.timeout_s),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session:
            await self._session.close()

    async def ask(self, messages: list[JsonObject]) -> str:
        """The endpoint's answer; raises LlmError. Personal data is taken out of the messages unless `send` is `raw`."""
        if self.options.send == "clean":
            messages = [{**message, "content": redact(message["content"]).text} for message in messages]
        # No text has more tokens than bytes, so this is what the question can cost at most.
        most = self._usd(sum(len(message["content"].encode()) for message in messages))
        async with self._slots:
            if not self.breaker.may_ask(self.now()):
                raise LlmError(f"not asked: {self.breaker.failures} failures in a row")
            if not self.budget.reserve(most, self.now()):
                raise LlmError(f"not asked: the day's {self.options.day_usd_max} USD are spent")
            try:
                answer, usd = _answer(await self._post(messages)), most
            except (aiohttp.ClientError, TimeoutError, LlmError) as error:
                self.breaker.failed(self.now())
                raise LlmError(f"not answered: {_why(error)}") from None
        self.breaker.answered()
        text, usage = answer
        if isinstance(usage.get("prompt_tokens"), int) and isinstance(usage.get("completion_tokens"), int):
            usd = self._usd(usage["prompt_tokens"], usage["completion_tokens"])
        self.budget.settle(most, usd)
        return text

    def _usd(self, tokens_in: float, tokens_out: float | None = None) -> float:
        most = self.options.answer_tokens_max if tokens_out is None else tokens_out
        return (tokens_in * self.options.usd_per_million_in + most * self.options.usd_per_million_out) / 1e6

    async def _post(self, messages: list[JsonObject]) -> bytes:
        assert self._session, "LlmClient is a context manager"
        body = {
            "model": self.options.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": self.options.answer_tokens_max,
        }
        url = f"{self.options.url.rstrip('/')}/chat/completions"
        headers = {"Content-Type": "application/json"}
        data = orjson.dumps(body)
        async with self._session.post(url, data=data, headers=headers, allow_redirects=False) as response:
            if response.status != 200:
                raise LlmError(f"HTTP status {response.status}")
            data = await response.content.read(ANSWER_BYTES_MAX + 1)
            while len(data) <= ANSWER_BYTES_MAX and (more := await response.content.read(ANSWER_BYTES_MAX)):
                data += more
        if len(data) > ANSWER_BYTES_MAX:
            raise LlmError(f"longer than {ANSWER_BYTES_MAX} bytes")
        return data


class LlmRepairer:
    """Mends calls through a client."""

    def __init__(self, client: LlmClient) -> None:
        self._client = client

    async def mend(self, call: ToolCall, schema: ToolSchema | None, conversation: str = "") -> ToolCall:
        """The call with arguments that the model found in its text; as it was, where that can't be."""
        if schema is None or not can_ask(call):
            return call
        try:
            answer = await self._client.ask(question(call, schema, conversation))
        except LlmError as error:
            return unmended(call, str(error))
        return mended(call, schema, conversation, answer)


def _answer(data: bytes) -> tuple[str, JsonObject]:
    try:
        value: Json = orjson.loads(data)
        choice = value["choices"][0]
        text, usage = choice["message"]["content"], value.get("usage") or {}
    except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError):  # not the shape of a completion
        raise LlmError("not a chat completion") from None
    if choice.get("finish_reason") == "length":
        raise LlmError("the answer was cut off")
    if not isinstance(text, str) or not isinstance(usage, dict):
        raise LlmError("not a chat completion")
    return text, usage


def _why(error: Exception) -> str:
    if isinstance(error, LlmError):
        return str(error)
    return "no answer in time" if isinstance(error, TimeoutError) else type(error).__name__
