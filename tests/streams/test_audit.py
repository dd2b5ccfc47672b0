"""The audit log: sealed by the clean stage, revealed with the key and a reason, erased with the key."""

import asyncio
import json
from dataclasses import replace

import orjson
import pytest
from aiokafka import AIOKafkaProducer

from processors.knowledge import knowledge_of
from processors.snapshot import snapshot_of
from schemas.audit import AuditKey, AuditRecord, Original, Originals
from schemas.output import Output
from schemas.segment import Closed, Opened, Segment, SegmentKind
from schemas.token import Meta
from schemas.trajectory import Step
from schemas.wire import decode, encode
from streams.access_log import Access, AccessLog
from streams.audit import Sealer, SealError, audited, load_masters, opened, read_ring, ring_text, with_new_key
from streams.audit_store import AuditStore
from streams.audit_topics import audit_topics, erase_keys, read_audit
from streams.cli.app import main
from streams.client_options import kafka_options
from streams.settings import ConfigError
from streams.topics import apply, load_topology, read_topology

PHONE, MAIL = "13800138001", "lin.tao@example.com"
RING = with_new_key(None)


def originals(stream_id: str = "s", *texts: str) -> Originals:
    entries = tuple(
        Original(where="segment/1/text", span=(0, len(text)), type="PHONE", rule="r", original=text)
        for text in texts or (PHONE,)
    )
    return Originals(stream_id=stream_id, entries=entries)


def sealed(*streams: Originals) -> list[AuditKey | AuditRecord]:
    sealers = {one.stream_id: Sealer(RING) for one in streams}
    return [item for one in streams for item in sealers[one.stream_id].seal(one)]


def parts(items: list[AuditKey | AuditRecord]) -> tuple[list[AuditRecord], list[AuditKey]]:
    return [item for item in items if isinstance(item, AuditRecord)], [
        item for item in items if isinstance(item, AuditKey)
    ]


def test_originals_come_back_with_the_ring() -> None:
    items = sealed(originals("s", PHONE), originals("s", MAIL, "\ud83d1"))
    assert not any(value in encode(item) for item in items for value in (PHONE.encode(), MAIL.encode()))
    items = [decode(encode(item)) for item in items]
    assert [entry.original for entry in opened(*parts(items), RING)] == [PHONE, MAIL, "?1"]
    assert opened(*parts(items), with_new_key(RING)) == opened(*parts(items), RING)


def test_nothing_opens_with_another_ring_or_after_a_change() -> None:
    records, keys = parts(sealed(originals()))
    with pytest.raises(SealError):
        opened(records, keys, with_new_key(None))
    flipped = "A" if records[0].sealed[20] != "A" else "B"
    for record in (
        replace(records[0], sealed=records[0].sealed[:20] + flipped + records[0].sealed[21:]),
        replace(records[0], number=1),
        replace(records[0], stream_id="other"),
        replace(records[0], sealed="no base64 at all"),
    ):
        with pytest.raises(SealError):
            opened([record], keys, RING)
    with pytest.raises(SealError):
        opened(records, [replace(keys[0], stream_id="other")], RING)


def test_after_a_replay_the_last_seal_counts() -> None:
    first, again = sealed(originals("s", PHONE)), sealed(originals("s", PHONE))
    assert len(opened(*parts([*first, *again]), RING)) == 1


def test_without_its_key_a_record_stays_closed() -> None:
    records, _ = parts(sealed(originals()))
    assert opened(records, [], RING) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"current": "a", "keys": {}}',
        '{"current": "a", "keys": {"a": "c2hvcnQ="}}',
        '{"current": "a", "keys": {"a": 1}}',
    ],
)
def test_a_ring_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        read_ring(text)


def test_the_ring_comes_from_a_file_the_environment_or_a_command(tmp_path, monkeypatch) -> None:
    path = tmp_path / "ring.json"
    path.write_text(ring_text(RING))
    monkeypatch.setenv("RING", ring_text(RING))
    for source in (f"file:{path}", "env:RING", f"command:cat {path}"):
        assert load_masters(source) == RING
    assert load_masters("") is None
    for source in ("file:/does/not/exist", "env:NOT_SET_AT_ALL", "command:false", "vault:x"):
        with pytest.raises(ConfigError):
            load_masters(source)


def test_the_clean_stage_seals_before_it_publishes() -> None:
    stage = audited(knowledge_of(snapshot_of((), 0)), RING)
    events = [
        Opened(stream_id="s", meta=Meta()),
        Segment(stream_id="s", order=0, kind=SegmentKind.RESPONSE, text=f"Call {PHONE}", span=(0, 16)),
        Closed(stream_id="s", chars=16, tokens=1),
    ]
    out = [found for event in events for found in stage.feed(event)] + list(stage.close())
    kinds = [type(event) for event in out]
    assert kinds.index(AuditKey) < kinds.index(AuditRecord) < kinds.index(Step) < kinds.index(Output)
    assert not any(PHONE.encode() in encode(event) for event in out)
    records, keys = parts([event for event in out if isinstance(event, AuditKey | AuditRecord)])
    assert [(entry.where, entry.original) for entry in opened(records, keys, RING)] == [("segment/0/text", PHONE)]


def test_the_store_appends_once_and_finds_changes(tmp_path) -> None:
    store = AuditStore(tmp_path)
    items = sealed(originals("a", PHONE), originals("b", MAIL))
    assert (store.add(items), store.add(items)) == (2, 0)
    assert [entry.original for entry in opened(*store.of("a"), RING)] == [PHONE]
    assert store.problems() == []
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for changed in (
        lines[1],
        whole.replace(b'"number":0', b'"number":7', 1),
        b"x" + whole,
        whole.replace(b"before", b"begore"),
    ):
        path.write_bytes(changed)
        assert store.problems()
    path.write_bytes(whole)
    assert (store.erase_keys("a"), store.erase_keys("a")) == (1, 0)
    assert opened(*store.of("a"), RING) == []
    assert [entry.original for entry in opened(*store.of("b"), RING)] == [MAIL]


def test_the_access_log_shows_each_change(tmp_path) -> None:
    log = AccessLog(tmp_path, RING)
    for reason in ("one", "two", "three"):
        log.append(Access(ts="2026-01-01T00:00:00+00:00", who="me", action="reveal", stream_id="s", reason=reason))
    assert [entry.reason for entry in log.entries()] == ["one", "two", "three"]
    assert log.problems() == []
    path = tmp_path / "access.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for changed in (
        whole.replace(b"two", b"why"),
        lines[0] + lines[2],
        lines[0] + lines[1],
        lines[1] + lines[0] + lines[2],
        whole + b"x\n",
        b"",
    ):
        path.write_bytes(changed)
        assert log.problems(), changed
    path.write_bytes(whole)
    assert AccessLog(tmp_path, with_new_key(RING)).problems() == []
    assert AccessLog(tmp_path, with_new_key(None)).problems()


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["audit", *arguments])
    return leaving.value.code or 0


def test_commands_reveal_verify_and_shred(tmp_path, monkeypatch, capsys) -> None:
    ring, store = tmp_path / "ring.json", tmp_path / "store"
    assert command("keys", "new", str(ring)) == 0
    assert command("keys", "new", str(ring)) == 2
    assert ring.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("HERMES_AUDIT_KEYS", f"file:{ring}")
    monkeypatch.setenv("HERMES_DATA_DIR", str(tmp_path / "data"))
    sealer = Sealer(load_masters(f"file:{ring}"))
    AuditStore(store).add(sealer.seal(originals("s-1", PHONE)))
    capsys.readouterr()
    assert command("keys", "rotate", str(ring)) == 0
    assert command("keys", "list") == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert command("reveal", "--stream", "s-1", "--reason", "request 17", "--store", str(store)) == 0
    assert json.loads(capsys.readouterr().out) == {
        "where": "segment/1/text",
        "span": [0, 11],
        "type": "PHONE",
        "rule": "r",
        "original": PHONE,
    }
    assert command("reveal", "--stream", "s-1", "--reason", "request 17", "--type", "email", "--store", str(store)) == 1
    assert command("reveal", "--stream", "s-1", "--reason", " ", "--store", str(store)) == 2
    assert command("verify", "--store", str(store)) == 0
    assert command("shred", "--stream", "s-1", "--reason", "asked for", "--store", str(store)) == 0
    capsys.readouterr()
    assert command("reveal", "--stream", "s-1", "--reason", "again", "--store", str(store)) == 1
    assert PHONE not in capsys.readouterr().out
    log = [orjson.loads(line) for line in (tmp_path / "data" / "audit" / "access.jsonl").read_bytes().splitlines()]
    assert [(line["action"], line["reason"], line["count"]) for line in log] == [
        ("reveal", "request 17", 1), ("reveal", "request 17", 0), ("shred", "asked for", 0), ("reveal", "again", 0),
    ]  # fmt: skip
    monkeypatch.setenv("HERMES_AUDIT_READERS", "somebody-else")
    assert command("reveal", "--stream", "s-1", "--reason", "x", "--store", str(store)) == 2


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('{"*": llm.reasoned}', '{"*": llm.reasoned, "failure/1": llm.steps}', "public"),
        ("reads: [llm.steps, llm.outputs, llm.tool-results, llm.executions, llm.patterns]", "reads: [llm.steps, llm.outputs, llm.tool-results, llm.executions, llm.patterns, llm.parsed]", "cleaned"),
        ("reads: [llm.pattern-discovery, ", "reads: [llm.tokens, llm.pattern-discovery, ", "cleaned"),
    ],
    ids=["public topic", "sink", "learner"],
)  # fmt: skip
def test_a_wiring_that_goes_round_clean_is_refused(old: str, new: str, why: str) -> None:
    from streams.topics import _shipped

    assert old in _shipped()
    with pytest.raises(ConfigError, match=why):
        read_topology(_shipped().replace(old, new), "topics.yaml")


@pytest.mark.engines
def test_the_topics_give_records_back_until_their_key_is_erased(running) -> None:
    settings = replace(running.settings, topic_prefix="audit.")
    topology = load_topology(settings)

    async def flow() -> None:
        await apply(settings, topology)
        records, keys = audit_topics(topology)
        producer = AIOKafkaProducer(**kafka_options(settings))
        await producer.start()
        for item in sealed(originals("a", PHONE), originals("b", MAIL)):
            topic = keys if isinstance(item, AuditKey) else records
            await producer.send_and_wait(topic, encode(item), key=item.stream_id.encode())
        await producer.stop()
        found = await read_audit(settings, topology)
        mine = [item for item in found if item.stream_id == "a"]
        assert [entry.original for entry in opened(*parts(mine), RING)] == [PHONE]
        assert await erase_keys(settings, topology, "a") == 1
        assert await erase_keys(settings, topology, "nobody") == 0
        found = await read_audit(settings, topology)
        assert {item.stream_id for item in found if isinstance(item, AuditKey)} == {"b"}

    asyncio.run(asyncio.wait_for(flow(), 60))
