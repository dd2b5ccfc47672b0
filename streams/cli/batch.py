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
from typing import BinaryIO, Literal, Self, TypeVar

import orjson
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from processors.pii.redact import redact
from schemas.jsonvalue import Json, JsonObject
from streams.settings import ConfigError

Answer = Callable[[JsonObject], JsonObject]
T = TypeVar("T")

GROUP_LINES_MAX = 64
"""Lines that travel to a worker process together: their sending costs less than their answers."""
GROUP_BYTES_MAX = 1_000_000
"""A group ends after this many bytes, so that a few long lines don't wait for 64."""
WINDOW_GROUPS_PER_JOB = 4
"""Groups under way for each job: enough to keep it busy, few enough to bound memory."""

NESTING_MAX = 500
"""Deepest request taken: half of what the encoders can write back, so that neither `jobs` nor the command decides."""
ERROR_CHARS_MAX = 300
"""Longest error told: what a library says about a value may hold the value."""
READ_CHARS_MAX = 10 * ERROR_CHARS_MAX
"""As much of it is looked at for personal data: enough that the end of what is told is whole."""


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
    except INVALID as error:
        why = reason_of(error)
    identity = request.get("id") if isinstance(request, dict) else None
    return Answered(write_line({"id": identity, "error": why}), why)


INVALID = (KeyError, TypeError, ValueError)
"""What a request raises that is none: a missing field, or one of another type or form; RequestError is one of them."""


def reason_of(error: Exception) -> str:
    """One line that says why a request is none, short and without personal data, which an error may quote."""
    if isinstance(error, KeyError):
        why = f"missing field {error.args[0]!r}" if error.args else "missing field"
    else:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return redact(why[:READ_CHARS_MAX]).text[:ERROR_CHARS_MAX]


def read_line(line: bytes) -> JsonObject:
    """A JSON object; raises RequestError. Lone surrogates, which orjson refuses, are read as Python holds them."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _read_leniently(line)
    if not isinstance(value, dict):
        raise RequestError("not a JSON object")
    if line.count(b"[") + line.count(b"{") > NESTING_MAX and _is_deep(value):
        raise RequestError(f"nested deeper than {NESTING_MAX}")
    return value


def read_lines(source: str, take: Callable[[JsonObject], T]) -> Iterator[tuple[T | None, str]]:
    """What `take` makes of each request of a path or `-`; None, its number and why where a line is not one."""
    with _opened(source, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield take(read_line(line)), ""
            except INVALID as error:
                yield None, f"line {number}: {reason_of(error)}"


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
        raise RequestError(f"nested deeper than {NESTING_MAX}") from None
    except RequestError:
        raise
    except ValueError:  # json reads an integer with int(), which has a limit
        raise RequestError(f"a number of more than {sys.get_int_max_str_digits()} digits") from None


def _is_deep(value: Json) -> bool:
    """Whether a value is nested deeper than a request may be; looks at one level after the other."""
    level = [value]
    for _ in range(NESTING_MAX):
        parts = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [part for items in parts for part in items]
    return bool(level)


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
