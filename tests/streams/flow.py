"""A small chain, records as the client gives them, and topics of one's own, for tests of what surrounds processors."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output
from schemas.segment import Closed
from schemas.token import Token
from schemas.wire import Event, encode
from streams.settings import Settings
from streams.stage import Chain
from streams.topics import Topology, apply, load_topology


class Joiner:
    """Tokens of one stream → one Output with their text; raises on a delta that says so."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._next = 0

    def feed(self, token: Token) -> Iterator[Event]:
        if "BOOM" in token.text:
            raise RuntimeError("the model wrote 13800138000")
        if token.seq > self._next:
            yield Failure(
                stream_id=token.stream_id,
                code=FailureCode.MISSING_SEQ,
                stage=Stage.SEGMENT,
                found=f"{self._next}..{token.seq - 1}",
            )
        self._next = token.seq + token.count
        self._stream_id = token.stream_id
        self._texts.append(token.text)
        if token.done:
            yield from self._end(token.ts, truncated=False)

    def cut(self, code: FailureCode, ts: float | None = None) -> Iterable[Event]:
        yield Failure(stream_id=self._stream_id, code=code, stage=Stage.SEGMENT)
        yield from self._end(ts, truncated=True)

    def close(self) -> Iterable[Event]:
        return ()

    def _end(self, ts: float | None, *, truncated: bool) -> Iterator[Event]:
        text = "".join(self._texts)
        yield Output(stream_id=self._stream_id, response=text, ts=ts)
        yield Closed(stream_id=self._stream_id, chars=len(text), tokens=self._next, truncated=truncated, ts=ts)


def chain_of(prefix: str = "", group: str = "joiner", **fields: object) -> Chain:
    writes = {"output/1": f"{prefix}llm.outputs", "failure/1": f"{prefix}llm.pattern-discovery"}
    chain = Chain(
        names=("join",), reads=(f"{prefix}llm.tokens",), builds=(Joiner,), writes=(writes,), reads_tokens=True,
        is_transactional=False, group=prefix + group,
    )  # fmt: skip
    return replace(chain, **fields)


@dataclass
class Read:
    """A record as the client gives it."""

    offset: int
    value: bytes | None
    topic: str = "llm.tokens"
    partition: int = 0
    timestamp: int = 1_000
    key: bytes | None = b"k"
    headers: tuple[tuple[str, bytes], ...] = field(default=())


def reads(*tokens: Token | bytes, start: int = 0) -> list[Read]:
    return [Read(start + i, t if isinstance(t, bytes) else encode(t)) for i, t in enumerate(tokens)]


def stream(stream_id: str, *texts: str, start: int = 0) -> list[Token]:
    last = len(texts) - 1
    return [Token(stream_id=stream_id, seq=start + i, text=text, done=i == last) for i, text in enumerate(texts)]


def interleaved(*streams: list[Token]) -> list[Token]:
    longest = max(map(len, streams))
    return [tokens[i] for i in range(longest) for tokens in streams if i < len(tokens)]


async def prepared(settings: Settings, prefix: str) -> tuple[Settings, Topology]:
    """Settings with a topic prefix of one's own, whose topics exist."""
    own = replace(settings, topic_prefix=prefix, group_prefix=prefix + "hermes")
    topology = load_topology(own)
    await apply(own, topology)
    return own, topology


async def produce(settings: Settings, topic: str, values: Iterable[tuple[str, bytes]]) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=settings.kafka_bootstrap, linger_ms=5, max_request_size=20_000_000
    ) as producer:
        await asyncio.gather(
            *[await producer.send(topic, value, key=key.encode("utf-8", "replace")) for key, value in values]
        )


async def produce_tokens(settings: Settings, tokens: Iterable[Token]) -> None:
    await produce(
        settings, settings.topic_prefix + "llm.tokens", [(token.stream_id, encode(token)) for token in tokens]
    )


async def consumed(settings: Settings, topic: str, count: int, wait_s: float = 60.0, extra_s: float = 0.5) -> list:
    """Records of a topic: until there are `count` and none came for `extra_s`, or the time is up."""
    consumer = AIOKafkaConsumer(
        settings.topic_prefix + topic, bootstrap_servers=settings.kafka_bootstrap, auto_offset_reset="earliest",
        isolation_level="read_committed", max_partition_fetch_bytes=20_000_000, fetch_max_bytes=50_000_000,
    )  # fmt: skip
    records: list = []
    async with consumer:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_s
        while loop.time() < deadline:
            wait = extra_s if len(records) >= count else 0.2
            batch = await consumer.getmany(timeout_ms=int(wait * 1000))
            records += [record for part in batch.values() for record in part]
            if len(records) >= count and not batch:
                break
    return records


def outputs(records: list) -> list[dict]:
    return [orjson.loads(record.value) for record in records]
