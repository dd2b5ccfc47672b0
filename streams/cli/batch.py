"""JSON lines in → one JSON line for each, in order: the frame of every batch command.

Memory is constant: one line at a time, or with several jobs a bounded window of line groups that worker processes
answer. A line that is not a valid request is answered with an `error` field and reported on stderr with its number.
"""

import json
import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import BinaryIO, Literal, Self

import orjson
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from schemas.jsonvalue import Json, JsonObject
from streams.settings import ConfigError

Answer = Callable[[JsonObject], JsonObject]

GROUP_LINES_MAX = 64
"""Lines that travel to a worker process together: their sending costs less than their answers."""
GROUP_BYTES_MAX = 1_000_000
"""A group ends after this many bytes, so that a few long lines don't wait for 64."""
WINDOW_GROUPS_PER_JOB = 4
"""Groups under way for each job: enough to keep it busy, few enough to bound memory."""


class RequestError(ValueError):
    """A line that is not a valid request; the message says which field and why."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One output line; `error` is set when its input line was not a valid request."""

    line: bytes
    error: str | None = None


def run_batch(source: str, target: str, answer: Answer, *, jobs: int = 1) -> int:
    """Answer each line of `source` (a path or `-`) with one line of `target`; gives the exit code, 0 or 1.

    A request that `answer` cannot take is whatever raises RequestError, KeyError, TypeError or ValueError there.
    """
    if source != "-" and target != "-" and Path(source).resolve() == Path(target).resolve():
        raise ConfigError(f"{target}: output would overwrite the input")
    invalid = 0
    with ExitStack() as stack:
        lines = stack.enter_context(_opened(source, "rb"))
        out = stack.enter_context(_opened(target, "wb"))
        size = 0 if source == "-" else os.fstat(lines.fileno()).st_size
        progress = stack.enter_context(_Bar(size))
        answers = _in_order(lines, answer) if jobs == 1 else _in_processes(lines, answer, jobs)
        for number, (length, answered) in enumerate(answers, start=1):
            out.write(answered.line)
            progress.add(length)
            if answered.error is not None:
                invalid += 1
                print(f"line {number}: {answered.error}", file=sys.stderr)
    return 1 if invalid else 0


def answered(line: bytes, answer: Answer) -> Answered:
    """One input line → its output line."""
    request: Json = None
    try:
        request = read_line(line)
        return Answered(write_line(answer(request)))
    except KeyError as error:
        why = f"missing field {error.args[0]!r}" if error.args else "missing field"
    except (TypeError, ValueError) as error:  # a field of another type than the command takes; RequestError is one
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
    identity = request.get("id") if isinstance(request, dict) else None
    return Answered(write_line({"id": identity, "error": why}), why)


def read_line(line: bytes) -> JsonObject:
    """A JSON object; raises RequestError. Lone surrogates, which orjson refuses, are read as Python holds them."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _read_leniently(line)
    if not isinstance(value, dict):
        raise RequestError("not a JSON object")
    return value


def read_lines(source: str) -> Iterator[tuple[JsonObject | None, str]]:
    """Requests of a path or `-`, one by one; a line that is not one is None with what is wrong and its number."""
    with _opened(source, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield read_line(line), ""
            except RequestError as error:
                yield None, f"line {number}: {error}"


def write_line(value: JsonObject) -> bytes:
    """One line of JSON; what orjson has no bytes for (lone surrogates, integers over 64 bits) goes out escaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(value, separators=(",", ":"), default=_plain).encode() + b"\n"


def _read_leniently(line: bytes) -> Json:
    try:
        return json.loads(line.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise RequestError(f"not UTF-8: byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise RequestError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise RequestError("not JSON: nested too deep") from None


def _refuse_constant(name: str) -> Json:
    raise RequestError(f"not JSON: {name}")


def _plain(value: object) -> Json:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _in_order(lines: BinaryIO, answer: Answer) -> Iterator[tuple[int, Answered]]:
    for line in lines:
        yield len(line), answered(line, answer)


def _in_processes(lines: BinaryIO, answer: Answer, jobs: int) -> Iterator[tuple[int, Answered]]:
    # Forked workers inherit `answer` with all it has loaded, so it need not be picklable.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_Worker.start, initargs=(answer,)) as pool:
        window: deque[tuple[list[int], Future[list[Answered]]]] = deque()
        for group in _groups(lines):
            window.append(([len(line) for line in group], pool.submit(_Worker.work, group)))
            if len(window) >= jobs * WINDOW_GROUPS_PER_JOB:
                yield from _first(window)
        while window:
            yield from _first(window)


def _first(window: deque[tuple[list[int], Future[list[Answered]]]]) -> Iterator[tuple[int, Answered]]:
    lengths, future = window.popleft()
    return zip(lengths, future.result(), strict=True)


def _groups(lines: BinaryIO) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line)
        if len(group) >= GROUP_LINES_MAX or size >= GROUP_BYTES_MAX:
            yield group
            group, size = [], 0
    if group:
        yield group


class _Worker:
    """What a worker process holds: the answer function it was forked with."""

    answer: Answer

    @classmethod
    def start(cls, answer: Answer) -> None:
        cls.answer = answer

    @classmethod
    def work(cls, group: list[bytes]) -> list[Answered]:
        return [answered(line, cls.answer) for line in group]


@contextmanager
def _opened(path: str, mode: Literal["rb", "wb"]) -> Iterator[BinaryIO]:
    if path == "-":
        stream = sys.stdin.buffer if mode == "rb" else sys.stdout.buffer
        yield stream
        if mode == "wb":
            stream.flush()
        return
    try:
        file = Path(path).open(mode)  # noqa: SIM115 - closed by the `with` below; only the opening may fail here
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    with file:
        yield file


class _Bar:
    """Progress in bytes on stderr, when that is a terminal; else nothing."""

    def __init__(self, size: int) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.fields[lines]} lines"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._task = self._progress.add_task("lines", total=size or None, lines=0)
        self._lines = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def add(self, length: int) -> None:
        self._lines += 1
        if not self._progress.disable:
            self._progress.update(self._task, advance=length, lines=self._lines)
