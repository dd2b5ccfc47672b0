"""How fast does the segmenter read, by format, piece size and stream length, and what does an open stream hold?

CPU time of one process, best of the passes; the machine's other load shows in the spread, so ratios are from one run.

    python benchmarks/bench_segment.py [--corpus FILE.jsonl] [--peer MODULE.py] [--formats]

--corpus: lines with `text`, `tools`, `format`, `reasoning_open`; the formats' own examples without.
--peer: a module with `FORMATS`, a set of format ids, and `stream(case, pieces)`, which reads a case of the corpus with the
other parser, a new one for each case. It is run on the same pieces in the same run.
"""

import argparse
import importlib.util
import json
import platform
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from processors.catalog import load_catalog, load_formats
from processors.segment import Segmenter
from schemas.segment import Opened
from schemas.token import Meta

CATALOG = load_catalog()
PASSES = 5
WORDS = ["the", "quick", "orbit", "of", "maple", "and", "a", "careful", "river", "with", "simple", "words", "that", "nobody", "reads", "twice", "今天", "天气", "很好"]  # fmt: skip


def prose(size: int) -> str:
    rng, parts, length = random.Random(1), [], 0
    while length < size:
        sentence = " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 16))).capitalize() + rng.choice(
            [". ", "? ", ".\n\n"]
        )
        parts.append(sentence)
        length += len(sentence)
    return "".join(parts)[:size]


def long_argument(size: int) -> str:
    return (
        '<tool_call>\n{"name": "save", "arguments": {"text": "' + prose(size).replace("\n", "\\n") + '"}}\n</tool_call>'
    )


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def own_cases() -> list[dict]:
    cases = []
    for entry in load_formats():
        for example in entry.examples:
            tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in example.tools]
            cases.append(
                {"format": entry.id, "text": example.text, "tools": tools, "reasoning_open": example.reasoning_open}
            )
    return cases


def opened(case: dict) -> Opened:
    return Opened(stream_id="s", meta=Meta(tools=tuple(case["tools"]), reasoning_open=bool(case.get("reasoning_open"))))


def read(start: Opened, pieces: Iterable[str]) -> None:
    segmenter = Segmenter(CATALOG, start)
    feed = segmenter.feed
    for piece in pieces:
        feed(piece)
    segmenter.close()


def seconds(work: Callable[[], None], passes: int = PASSES) -> list[float]:
    times = []
    for _ in range(passes):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return sorted(times)


def mixed(cases: list[dict], size: int) -> tuple[int, list[float]]:
    work = [(opened(case), cut(case["text"], size)) for case in cases]

    def run() -> None:
        for start, pieces in work:
            read(start, pieces)

    run()
    return sum(len(pieces) for _, pieces in work), seconds(run)


def row(name: str, pieces: int, characters: int, times: list[float]) -> float:
    best, middle = times[0], statistics.median(times)
    print(
        f"{name:34s} {pieces:9d} {pieces / best:12,.0f} {pieces / middle:12,.0f} {characters / best / 1e6:9.2f} "
        f"{best / pieces * 1e6:9.3f}"
    )
    return pieces / best


def head(title: str) -> None:
    print(f"\n{title}\n{'':34s} {'pieces':>9s} {'pieces/s':>12s} {'median':>12s} {'Mchar/s':>9s} {'µs/piece':>9s}")


def by_size(cases: list[dict]) -> None:
    characters = sum(len(case["text"]) for case in cases)
    head("mixed formats, by piece size")
    for size in (1, 4, 16, 64, 1_000_000):
        row(f"mixed, {size} characters" if size < 1_000_000 else "mixed, whole", *_with(mixed(cases, size), characters))
    head("plain prose, by piece size")
    for size in (1, 4, 16, 64):
        pieces = cut(prose(400_000), size)
        row(
            f"prose, {size} characters",
            len(pieces),
            400_000,
            seconds(lambda pieces=pieces: read(opened(PLAIN), pieces)),
        )


PLAIN = {"tools": [], "reasoning_open": False}


def _with(result: tuple[int, list[float]], characters: int) -> tuple[int, int, list[float]]:
    return result[0], characters, result[1]


def by_length() -> None:
    head("by stream length, 4-character pieces")
    for name, make in (("prose", prose), ("one argument", long_argument)):
        first = 0.0
        for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000):
            pieces = cut(make(size), 4)
            repeat = max(1, 300_000 // size)

            def run(pieces: list[str] = pieces, repeat: int = repeat) -> None:
                for _ in range(repeat):
                    read(opened(PLAIN), pieces)

            times = [moment / repeat for moment in seconds(run, 3)]
            speed = row(f"{name}, {size:,} characters", len(pieces), size, times)
            first = first or speed
            print(f"{'':34s} cost per piece against 1,000 characters: {first / speed:.2f}")


def memory() -> None:
    """Bytes of open streams beyond the characters that they have not given yet."""
    print("\nmemory of an open stream, mean of 2,000")
    for name, text in (
        ("just opened", ""),
        ("in prose, 1,000 characters", prose(1_000)),
        ("in an argument", long_argument(1_000)[:900]),
    ):
        pieces = cut(text, 4)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        streams = []
        for _ in range(2_000):
            segmenter = Segmenter(CATALOG, opened(PLAIN))
            for piece in pieces:
                segmenter.feed(piece)
            streams.append(segmenter)
        used = (tracemalloc.get_traced_memory()[0] - before) / len(streams)
        tracemalloc.stop()
        print(f"{name:34s} {used:9,.0f} bytes, text not given {len(text):6d} characters")


def by_format(cases: list[dict]) -> None:
    head("by format, 4-character pieces")
    for name in sorted({case["format"] for case in cases}):
        group = [case for case in cases if case["format"] == name]
        row(name, *_with(mixed(group, 4), sum(len(case["text"]) for case in group)))


def against(path: str, cases: list[dict]) -> None:
    """The peer reads the same pieces of the formats that it knows."""
    spec = importlib.util.spec_from_file_location("peer", path)
    assert spec is not None
    assert spec.loader is not None
    peer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peer)
    head("side by side, 4-character pieces: ours, the peer, ratio")
    ratios, theirs = [], []
    for name in sorted(peer.FORMATS & {case["format"] for case in cases}):
        group = [case for case in cases if case["format"] == name]
        pieces, ours = mixed(group, 4)
        work = [(case, cut(case["text"], 4)) for case in group]

        def run(work: list[tuple[dict, list[str]]] = work) -> None:
            for case, parts in work:
                peer.stream(case, parts)

        run()
        other = seconds(run, 3)
        ratios.append(other[0] / ours[0])
        theirs.append(pieces / other[0])
        print(f"{name:34s} {pieces:9d} {pieces / ours[0]:12,.0f} {pieces / other[0]:12,.0f} {ratios[-1]:9.1f}")
    print(f"median of the peer {statistics.median(theirs):,.0f} pieces/s, median ratio {statistics.median(ratios):.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus")
    parser.add_argument("--peer")
    parser.add_argument("--formats", action="store_true", help="also each format by itself")
    args = parser.parse_args()
    cases = own_cases()
    if args.corpus:
        cases = [json.loads(line) for line in Path(args.corpus).read_text(encoding="utf-8").splitlines()]
    print(
        f"{platform.machine()}, CPython {platform.python_version()}, {len(cases)} texts of {len({c['format'] for c in cases})} formats"
    )
    if args.peer:
        against(args.peer, cases)
        return
    by_size(cases)
    by_length()
    memory()
    if args.formats:
        by_format(cases)


if __name__ == "__main__":
    main()
