"""Faults by name, one after the other from a seed, against worker processes and servers that are started again."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from streams.settings import Settings, environment_of

CHAIN = ("segment", "reason", "tool", "clean")
VISIT_S = 4.0
"""How long a further worker stays in the group: the group forms anew when it comes and when it goes."""
PAUSE_S = 4.0
"""How long a member is stopped: longer than the session timeout."""
END_S_MAX = 60.0


class Processes:
    """Worker processes by name."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._environment = {**os.environ, **environment_of(settings)}
        self._folder = folder
        self._stages: dict[str, tuple[str, ...]] = {}
        self.running: dict[str, subprocess.Popen] = {}

    def start(self, name: str, *stages: str) -> None:
        self._stages[name] = stages
        with (self._folder / f"{name}.log").open("ab") as log:
            command = [sys.executable, "-m", "streams", "run", *stages]
            self.running[name] = subprocess.Popen(command, env=self._environment, stderr=log, stdout=subprocess.DEVNULL)

    def end(self, name: str, number: int) -> None:
        process = self.running[name]
        process.send_signal(signal.SIGCONT)
        process.send_signal(number)
        try:
            process.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def again(self, name: str, number: int) -> None:
        """End it with a signal and start another in its place."""
        self.end(name, number)
        self.start(name, *self._stages[name])

    def supervise(self) -> list[str]:
        """Start again what ended by itself; gives their names."""
        ended = [name for name, process in self.running.items() if process.poll() is not None]
        for name in ended:
            self.start(name, *self._stages[name])
        return ended

    def end_all(self) -> None:
        for process in self.running.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for name in self.running:
            self.end(name, signal.SIGTERM)


class Faults:
    """What may go wrong, and how often each did."""

    def __init__(self, processes: Processes, servers: dict[str, Callable[[], None]], seed: int) -> None:
        self._processes = processes
        self._servers = servers
        self._source = random.Random(seed)
        self._waiting: set[asyncio.Task] = set()
        self._busy: dict[str, asyncio.Task] = {}
        self._visitors = 0
        self.counts: Counter = Counter()
        self.ended_by_themselves = 0

    async def inject(self, count: int, pause_s: float, producing: asyncio.Task) -> None:
        """That many faults, with a pause of about that long before each."""
        kinds = ["kill worker", "kill worker", "pause worker", "restart worker", "kill sink", "join", *self._servers]
        if "learner" in self._processes.running:
            kinds.append("kill learner")
        for _ in range(count):
            await asyncio.sleep(pause_s * self._source.uniform(0.5, 1.5))
            self.ended_by_themselves += len(self._processes.supervise())
            kind = self._source.choice(kinds)
            await self._inject(kind)
            self.counts[kind] += 1
            if producing.done():
                producing.result()
        await asyncio.gather(*self._waiting, *self._busy.values())

    async def _inject(self, kind: str) -> None:
        chains = sorted(name for name in self._processes.running if name.startswith("chain"))
        name = self._source.choice(chains)
        if kind in self._servers:
            if (before := self._busy.get(kind)) is not None:  # one broker is away at a time
                await before
            self._busy[kind] = asyncio.create_task(asyncio.to_thread(self._servers[kind]))
        elif kind == "pause worker":
            process = self._processes.running[name]
            process.send_signal(signal.SIGSTOP)
            self._later(PAUSE_S, lambda: process.send_signal(signal.SIGCONT))
        elif kind == "join":
            self._visitors += 1
            visitor = f"visitor{self._visitors}"
            self._processes.start(visitor, *CHAIN)
            self._later(VISIT_S, lambda: self._leave(visitor))
        else:
            name = {"kill sink": "sink", "kill learner": "learner"}.get(kind, name)
            number = signal.SIGTERM if kind == "restart worker" else signal.SIGKILL
            await asyncio.to_thread(self._processes.again, name, number)

    def _leave(self, visitor: str) -> None:
        self._processes.end(visitor, signal.SIGTERM)
        del self._processes.running[visitor]

    def _later(self, wait_s: float, act: Callable[[], None]) -> None:
        async def wait() -> None:
            await asyncio.sleep(wait_s)
            await asyncio.to_thread(act)

        task = asyncio.create_task(wait())
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
