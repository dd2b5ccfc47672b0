"""A folder → the distribution's redis-server on a free port, with a password and an append-only file."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streams import leash
from tests.servers.kafka_cluster import free_ports


class RedisServer:
    """One server that can be killed and started again on its data."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            raise RuntimeError("redis-server is not installed: apt-get install redis-server, or set REDIS_URL")
        (self._port,), password = free_ports(1), secrets.token_hex(8)
        configuration = folder / "redis.conf"
        lines = (
            f"port {self._port}",
            "bind 127.0.0.1",
            f"dir {folder}",
            "appendonly yes",
            'save ""',
            f"requirepass {password}",
        )
        configuration.write_text("\n".join(lines) + "\n", encoding="ascii")
        self._command = [sys.executable, "-S", leash.__file__, str(os.getpid()), program, str(configuration)]
        self._process: subprocess.Popen | None = None
        self.url = f"redis://:{password}@127.0.0.1:{self._port}/0"

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True
        )
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("redis-server did not start")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.kill()
        self.start()


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Start it; gives its URL. REDIS_URL, if set, is used instead."""
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    server = RedisServer(folder)
    try:
        server.start()
        yield server.url
    finally:
        server.kill()
