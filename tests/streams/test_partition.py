"""One partition's records → what is published and what may be committed."""

from dataclasses import replace

import orjson
import pytest

from schemas.failure import FailureCode
from schemas.output import Output
from schemas.token import Meta, Token
from schemas.wire import encode
from streams.open_stream import DeadLetter, Poisoned, Publish
from streams.partition import Partition
from streams.progress import KEPT_MAX, NAMES_MAX, Finished
from tests.streams.flow import Joiner, chain_of, interleaved, reads, stream


class Clock:
    def __init__(self) -> None:
        self.s = 1_000.0

    def __call__(self) -> float:
        return self.s


def partition(offset: int = 0, metadata: str = "", **fields) -> Partition:
    return Partition(chain_of(**fields), offset, metadata, Poisoned(), Clock())


def responses(partition: Partition) -> dict[str, str]:
    events = [item.event for item in partition.out if isinstance(item, Publish)]
    found = [event for event in events if isinstance(event, Output)]
    assert len(found) == len({output.stream_id for output in found})
    return {output.stream_id: output.response for output in found}


def letters(partition: Partition) -> list[tuple[int, FailureCode]]:
    return [(item.record.offset, item.code) for item in partition.out if isinstance(item, DeadLetter)]


def test_interleaved_streams_are_kept_apart() -> None:
    part = partition()
    part.take(reads(*interleaved(stream("a", *"one two"), stream("b", *"three"), stream("c", "4"))))
    assert responses(part) == {"a": "one two", "b": "three", "c": "4"}
    assert part.commit_point().offset == 13


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_size_of_polls_changes_nothing(size) -> None:
    part = partition()
    records = reads(*interleaved(stream("a", *"one two"), stream("b", *"three")))
    for start in range(0, len(records), size):
        part.take(records[start : start + size])
    assert responses(part) == {"a": "one two", "b": "three"}


def test_offset_of_the_oldest_open_stream_is_committed_and_a_replay_skips_the_finished() -> None:
    tokens = interleaved(stream("open", *"abcdef"), stream("done", *"xy"))
    part = partition()
    part.take(reads(*tokens[:6]))
    assert responses(part) == {"done": "xy"}
    point = part.commit_point()
    assert point.offset == 0
    again = partition(point.offset, point.names)
    again.take(reads(*tokens))
    assert responses(again) == {"open": "abcdef"}
    assert again.commit_point().offset == len(tokens)


def test_repeated_deltas_are_ignored_and_a_gap_is_passed_on() -> None:
    one, two, three = stream("a", "x", "y", "z")
    part = partition()
    part.take(reads(one, one, two, one, three, three, two))
    assert responses(part) == {"a": "xyz"}
    gap = partition()
    gap.take(reads(one, three))
    codes = [item.event.code for item in gap.out if isinstance(item, Publish) and not isinstance(item.event, Output)]
    assert codes == [FailureCode.MISSING_SEQ]


def test_delta_after_the_end_is_a_dead_letter() -> None:
    part = partition()
    part.take(reads(*stream("a", "x", "y"), Token(stream_id="a", seq=2, text="late"), *stream("b", "1")))
    assert responses(part) == {"a": "xy", "b": "1"}
    assert letters(part) == [(2, FailureCode.AFTER_END)]


@pytest.mark.parametrize(
    "value",
    [
        b"\xff\xfe", b"", None, b"[]", b"null", b"{", b'{"schema":"token/2","stream_id":"a","seq":0,"text":""}',
        b'{"seq":0,"text":""}', b'{"stream_id":"","seq":0,"text":""}', b'{"stream_id":"a","seq":"one","text":""}',
        b'{"stream_id":"a","seq":0,"text":["\\ud83d"]}', b'"\\ud83d"', b"[" * 10_000,
    ],
)  # fmt: skip
def test_record_that_is_no_token_is_a_dead_letter_and_harms_nobody(value) -> None:
    records = reads(*stream("a", "x", "y"))
    records[1].offset = 2
    bad = reads(b"", start=1)
    bad[0].value = value
    part = partition()
    part.take([records[0], *bad, records[1]])
    assert letters(part) == [(1, FailureCode.UNDECODABLE)]
    assert responses(part) == {"a": "xy"}


def raw(stream_id: str, seq: int, text: str, done: bool = False) -> bytes:
    return f'{{"stream_id":"{stream_id}","seq":{seq},"text":"{text}","done":{str(done).lower()}}}'.encode()


def test_surrogate_pair_cut_in_two_is_made_whole() -> None:
    part = partition()
    part.take(
        reads(
            raw("a", 0, "x\\ud83d"), raw("a", 1, "\\ude00y"), raw("a", 2, "\\ud83d"), raw("a", 3, "z\\u0000", done=True)
        )
    )
    assert responses(part) == {"a": "x😀y�z\0"}


def test_surrogate_pair_cut_by_a_poll_is_made_whole() -> None:
    part = partition()
    for record in reads(
        raw("a", 0, "x"), raw("a", 1, "\\ud83d"), raw("a", 2, "\\ude00"), raw("a", 3, "\\ud83d", done=True)
    ):
        part.take([record])
    assert responses(part) == {"a": "x😀�"}


def test_first_record_may_carry_meta_and_the_time_is_that_of_the_record() -> None:
    part = partition()
    part.take(
        reads(
            Token(stream_id="a", seq=0, text="x", meta=Meta(model="m")),
            Token(stream_id="a", seq=1, text="y", done=True),
        )
    )
    (published,) = part.out
    assert (published.event.ts, published.event.latency_ms) == (1_000.0, 999_000.0)


def test_idle_stream_is_cut_and_its_late_deltas_are_dead_letters() -> None:
    part = partition()
    part.take(reads(*stream("idle", "x", "y")[:1]))
    part._now.s += 10
    part.take(reads(*stream("busy", "x", "y")[:1], start=1))
    part.cut_idle(5)
    assert responses(part) == {"idle": "x"}
    assert part.commit_point().offset == 1
    part.take(reads(*stream("idle", "x", "y")[1:], *stream("busy", "x", "y")[1:], start=2))
    assert letters(part) == [(2, FailureCode.AFTER_END)]
    assert responses(part) == {"idle": "x", "busy": "xy"}


def test_streams_above_the_limit_are_cut_oldest_first() -> None:
    part = partition()
    for place, name in enumerate("abc"):
        part._now.s += 1
        part.take(reads(stream(name, name, "")[0], start=place))
    part.cut_oldest(2)
    assert responses(part) == {"a": "a", "b": "b"}
    assert len(part) == 1


def crash(part: Partition, records) -> None:
    try:
        part.take(records)
    except RuntimeError as error:
        part._poisoned.add(part.feeding, error)
    else:
        raise AssertionError("did not raise")


def test_record_that_raises_twice_is_a_dead_letter_without_content() -> None:
    poisoned = Poisoned()
    records = reads(*interleaved(stream("bad", "x", "BOOM", "z", "end"), stream("good", *"abcd")))
    for _ in range(2):
        crash(Partition(chain_of(), 0, "", poisoned, Clock()), records)
    part = Partition(chain_of(), 0, "", poisoned, Clock())
    part.take(records)
    assert responses(part) == {"bad": "", "good": "abcd"}
    assert (2, FailureCode.CRASHED) in letters(part)
    assert not any("13800138000" in item.message for item in part.out if isinstance(item, DeadLetter))
    assert part.commit_point().offset == len(records)


def test_events_wait_for_the_end_of_their_stream_when_delivery_is_exactly_once() -> None:
    one, _, three = stream("a", "x", "y", "z")
    part = partition(is_transactional=True)
    part.take(reads(one, three)[:1])
    part.take(reads(Token(stream_id="a", seq=5, text="gap"), start=1))
    assert part.out == []
    part.take(reads(Token(stream_id="a", seq=6, text="", done=True), start=2))
    assert [type(item.event).__name__ for item in part.out] == ["Failure", "Output"]


class Echo(Joiner):
    """Events of an inner topic → the same."""

    def feed(self, event):
        yield event

    cut = None


def test_reader_of_an_inner_topic_drops_what_its_writer_sent_again() -> None:
    source = Partition(chain_of(writes=({"*": "inner"},)), 0, "", Poisoned(), Clock())
    source.take(reads(Token(stream_id="a", seq=0, text="x"), Token(stream_id="a", seq=3, text="", done=True)))
    sent = [(encode(item.event), item.number) for item in source.out]
    records = reads(*(value for value, _ in [*sent, *sent]))
    for record, (_, number) in zip(records, [*sent, *sent], strict=True):
        record.headers = (("n", b"%d" % number),)
    part = Partition(chain_of(builds=(Echo,), writes=({"*": "out"},), reads_tokens=False), 0, "", Poisoned(), Clock())
    part.take(records)
    assert len(part.out) == len(sent) == 3
    assert part.commit_point().offset == 6


def test_names_of_the_finished_survive_in_metadata_up_to_its_limit() -> None:
    finished = Finished()
    for i in range(NAMES_MAX + 10):
        finished.add(f"s{i}", i, 1)
    point = finished.point(0, is_behind=False)
    again = Finished(point.names)
    assert len(point.names) <= 4096
    assert (point.passed, point.is_named) == (0, False)
    point = finished.point(10, is_behind=False)
    assert (point.passed, point.is_named) == (10, True)
    assert [f"s{i}" in again for i in (0, 9, 10, NAMES_MAX + 9)] == [False, False, True, True]
    assert "other" not in again
    assert again.point(0, is_behind=True).names
    assert "x" not in Finished("1:!!!")
    assert "x" not in Finished("of another program")


def test_memory_for_finished_streams_is_bounded() -> None:
    finished = Finished()
    for i in range(KEPT_MAX + 5):
        finished.add(str(i), i, 1)
    assert "0" not in finished
    assert str(KEPT_MAX) in finished


def test_records_of_other_producers_become_streams_beside_our_own() -> None:
    ours = reads(*stream("ours", "one ", "two"))
    chunks = [orjson.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}) for text in ("three ", "four")]
    end = orjson.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    others = [replace(read, key=b"theirs") for read in reads(*chunks, end, chunks[0])]
    records = [ours[0], others[0], ours[1], *others[1:]]
    part = partition()
    part.take([replace(record, offset=offset) for offset, record in enumerate(records)])
    assert responses(part) == {"ours": "one two", "theirs": "three four"}
    assert letters(part) == [(5, FailureCode.AFTER_END)]
    assert part.commit_point().offset == 6


def test_several_answers_to_one_request_are_streams_of_their_own() -> None:
    def chunk(index: int, text: str, **more: str) -> bytes:
        return orjson.dumps({"choices": [{"index": index, "delta": {"content": text}, **more}]})

    part = partition()
    part.take(
        reads(chunk(0, "a"), chunk(1, "b"), chunk(1, "c", finish_reason="stop"), chunk(0, "d", finish_reason="x"))
    )
    assert responses(part) == {"k": "ad", "k#1": "bc"}


def test_a_record_of_no_known_shape_is_a_dead_letter_that_says_what_is_known() -> None:
    part = partition()
    part.take(reads(b'{"prompt": "13800138000"}'))
    (letter,) = part.out
    assert "choices" in letter.message
    assert "138" not in letter.message
