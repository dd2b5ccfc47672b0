"""Tokens on disk: in order, the same again after a death, bounded; and the producer that writes them there."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.token import Meta, Token
from streams.client import Limits, SyncTokenProducer, TokenProducer
from streams.client.disk import DiskBuffer
from streams.settings import ConfigError, Settings, environment_of
from tests.streams.flow import consumed, prepared

ROOT = Path(__file__).parent.parent.parent
AWAY = Settings(kafka_bootstrap="127.0.0.1:9")
WRITER = """
import asyncio, sys
from streams.client import Limits, TokenProducer

async def main(folder, stream_id):
    async with TokenProducer(limits=Limits(folder=folder, close_s_max=0.1)) as producer:
        async def words():
            for number in range(1_000_000):
                await asyncio.sleep(0.001)
                yield f"{number} "

        async for word in producer.tee(words(), stream_id=stream_id):
            print(word, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def token(stream_id: str, seq: int, text: str, **fields) -> Token:
    return Token(stream_id=stream_id, seq=seq, text=text, **fields)


def drained(disk: DiskBuffer) -> list[Token]:
    found = []
    while batch := disk.batch():
        found += batch
        disk.advance()
    return found


def read(tokens) -> dict[str, str]:
    """What a reader makes of tokens that may come again: a number it has had is passed over, none is missing."""
    texts, expected = {}, {}
    for item in tokens:
        if item.seq < expected.get(item.stream_id, 0):
            continue
        assert item.seq == expected.get(item.stream_id, 0)
        expected[item.stream_id] = item.seq + item.count
        texts[item.stream_id] = texts.get(item.stream_id, "") + item.text
    return texts


def test_tokens_of_a_stream_are_joined_and_a_batch_is_the_same_until_it_is_delivered(tmp_path) -> None:
    disk = DiskBuffer(tmp_path, 1_000_000)
    disk.append([token("a", 0, "1", meta=Meta(user="u")), token("b", 0, "x")])
    disk.append([token("a", 1, "2", count=3), token("a", 4, "3", done=True, finish_reason="stop", usage={"n": 1})])
    first = disk.batch()
    assert [(item.stream_id, item.text, item.seq, item.count) for item in first] == [
        ("a", "123", 0, 5),
        ("b", "x", 0, 1),
    ]
    assert (first[0].meta.user, first[0].finish_reason, first[0].usage, first[0].done) == ("u", "stop", {"n": 1}, True)
    disk.append([token("b", 1, "y")])
    assert disk.batch() == first
    disk.close()
    again = DiskBuffer(tmp_path, 1_000_000)
    assert again.batch() == first
    again.advance()
    assert [(item.text, item.done, item.finish_reason) for item in drained(again)] == [("y", True, "abandoned")]
    assert again.bytes == 0
    again.close()


def test_files_are_deleted_when_all_of_them_is_delivered(tmp_path) -> None:
    disk = DiskBuffer(tmp_path, 4_000)
    for seq in range(100):
        disk.append([token("a", seq, "word " * 4)])
    assert disk.is_full
    assert len([*tmp_path.glob("*.jsonl")]) > 5
    assert read(drained(disk)) == {"a": "word " * 400}
    assert not disk.is_full
    assert len([*tmp_path.glob("*.jsonl")]) == 1
    disk.close()


@pytest.mark.parametrize("rest", [b'{"schema":"token/1","stream_id":"a","seq":1,"te', b"\x00" * 70_000, b"{"])
def test_a_line_that_was_being_written_is_cut_off(tmp_path, rest) -> None:
    disk = DiskBuffer(tmp_path, 1_000_000)
    disk.append([token("a", 0, "whole")])
    disk.close()
    with (tmp_path / f"{1:012}.jsonl").open("ab") as file:
        file.write(rest)
    again = DiskBuffer(tmp_path, 1_000_000)
    assert [(item.text, item.finish_reason) for item in drained(again)] == [("whole", "abandoned")]
    again.close()


@pytest.mark.parametrize("position", [b"", b"nonsense", b"9 9 9", b"1 99999999 99999999", b"\xff\x00", b"1 2 3 4"])
def test_a_position_that_can_not_be_true_loses_nothing_before_it(tmp_path, position) -> None:
    disk = DiskBuffer(tmp_path, 1_000_000)
    disk.append([token("a", 0, "one"), token("a", 1, "two")])
    disk.close()
    (tmp_path / "position").write_bytes(position)
    again = DiskBuffer(tmp_path, 1_000_000)
    assert len(drained(again)) <= 2
    again.append([token("b", 0, "later")])
    assert [item.text for item in drained(again)] == ["later"]
    again.close()


def test_lines_that_are_no_tokens_are_counted_and_passed_over(tmp_path) -> None:
    (tmp_path / f"{3:012}.jsonl").write_bytes(b'garbage\n{"schema":"output/1"}\n\n' + b"[" * 10_000 + b"\n")
    disk = DiskBuffer(tmp_path, 1_000_000)
    disk.append([token("a", 0, "one", done=True)])
    assert [item.text for item in drained(disk)] == ["one"]
    assert disk.damaged >= 4
    disk.close()


def test_a_folder_is_of_one_process_and_must_be_writable(tmp_path) -> None:
    disk = DiskBuffer(tmp_path / "a", 1_000)
    with pytest.raises(ConfigError, match="folder of its own"):
        DiskBuffer(tmp_path / "a", 1_000)
    disk.close()
    DiskBuffer(tmp_path / "a", 1_000).close()
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file"):
        DiskBuffer(tmp_path / "file", 1_000)


@given(
    st.lists(st.sampled_from(["add", "add", "add", "read", "die", "deliver", "deliver and die"]), max_size=40),
    st.randoms(),
)
def test_whenever_it_dies_a_reader_gets_everything_in_order(tmp_path_factory, acts, chance) -> None:
    folder = tmp_path_factory.mktemp("buffer")
    disk = DiskBuffer(folder, 10_000)
    seqs, wrote, got = {}, {}, []
    for number, act in enumerate(acts):
        if act == "add":
            tokens = []
            for name in chance.sample("abc", chance.randint(1, 3)):
                stream_id = f"{name}{sum(a in {'die', 'deliver and die'} for a in acts[:number])}"
                count = chance.randint(1, 3)
                tokens.append(token(stream_id, seqs.get(stream_id, 0), f"{number},", count=count))
                seqs[stream_id] = seqs.get(stream_id, 0) + count
                wrote[stream_id] = wrote.get(stream_id, "") + f"{number},"
            disk.append(tokens)
        elif act == "read":
            disk.batch()
        elif act == "deliver":
            got += disk.batch()
            disk.advance()
        elif act == "deliver and die":
            got += disk.batch()
        if act in {"die", "deliver and die"}:
            disk.close()
            disk = DiskBuffer(folder, 10_000)
    got += drained(disk)
    disk.close()
    assert read(got) == wrote


def test_a_full_disk_makes_way_for_memory(tmp_path) -> None:
    program = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from pathlib import Path
from schemas.token import Token
from streams.client.disk import DiskBuffer
disk = DiskBuffer({str(tmp_path)!r}, 1_000_000)
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
kept = 0
for seq in range(5):
    try:
        disk.append([Token(stream_id="a", seq=seq, text="x" * 50)])
        kept += 1
    except OSError as error:
        print(error.strerror)
        break
print(kept, sum(token.count for token in disk.batch()))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    reason, counts = ran.stdout.splitlines()
    assert reason
    kept, read_again = map(int, counts.split())
    assert 0 < kept == read_again < 5


def test_full_folder_slows_nothing_until_memory_is_full_too(tmp_path) -> None:
    async def main() -> None:
        limits = Limits(folder=str(tmp_path), folder_bytes_max=500, close_s_max=0.1)
        async with TokenProducer(AWAY, limits=limits) as producer:
            for number in range(20):
                assert list(producer.tee(iter(["word "] * 50), stream_id=f"s{number}")) == ["word "] * 50
                await asyncio.sleep(0.01)
            assert producer.waiting.chars > 0

    asyncio.run(main())
    assert sum(path.stat().st_size for path in tmp_path.glob("*.jsonl")) < 20_000


def written_and_killed(folder: Path, stream_id: str, environment: dict[str, str], words: int) -> int:
    """Run a program that tees a stream until it has said so many words, then kill it; the last word it said."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), stream_id],
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    last = -1
    for line in process.stdout:
        last = int(line)
        if last >= words:
            process.send_signal(signal.SIGKILL)
            break
    last = max([last, *(int(line) for line in process.stdout.read().splitlines())])
    process.wait()
    return last


@pytest.mark.engines
def test_what_was_written_while_kafka_was_away_outlives_a_kill(running, tmp_path) -> None:
    settings, _ = asyncio.run(prepared(running.settings, "buffer."))
    said = written_and_killed(tmp_path, "s", {"KAFKA_BOOTSTRAP": "127.0.0.1:9", "HERMES_TOPIC_PREFIX": "buffer."}, 300)
    with SyncTokenProducer(settings, limits=Limits(folder=str(tmp_path))) as producer:
        producer.flush()
        assert producer.inner.waiting.dropped == 0
    tokens = [Token(**orjson.loads(record.value)) for record in asyncio.run(consumed(settings, "llm.tokens", 1))]
    words = [int(word) for word in read(tokens)["s"].split()]
    assert words == [*range(len(words))]
    assert said - len(words) < 60  # what 5 ms of linger held, on a machine with other work
    assert (tokens[-1].done, tokens[-1].finish_reason) == (True, "abandoned")


@pytest.mark.engines
def test_killed_again_and_again_while_it_delivers_nothing_written_is_lost_or_out_of_order(running, tmp_path) -> None:
    settings, _ = asyncio.run(prepared(running.settings, "killed."))
    said = {}
    for number in range(5):
        said[f"s{number}"] = written_and_killed(
            tmp_path, f"s{number}", environment_of(settings), random.randint(1, 200)
        )
    with SyncTokenProducer(settings, limits=Limits(folder=str(tmp_path))) as producer:
        producer.flush()
        time.sleep(0.1)
    records = asyncio.run(consumed(settings, "llm.tokens", 5))
    texts = read(Token(**orjson.loads(record.value)) for record in records)
    assert set(texts) == set(said)
    for stream_id, text in texts.items():
        words = [int(word) for word in text.split()]
        assert words == [*range(len(words))]
        assert said[stream_id] - len(words) < 60
