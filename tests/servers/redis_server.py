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


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Start it; gives its URL. REDIS_URL, if set, is used instead."""
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        raise RuntimeError("redis-server is not installed: apt-get install redis-server, or set REDIS_URL")
    (port,), password = free_ports(1), secrets.token_hex(8)
    configuration = folder / "redis.conf"
    configuration.write_text(
        f'port {port}\nbind 127.0.0.1\ndir {folder}\nappendonly yes\nsave ""\nrequirepass {password}\n'
    )
    command = [sys.executable, "-S", leash.__file__, str(os.getpid()), program, str(configuration)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait(port)
        yield f"redis://:{password}@127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


def _wait(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("redis-server did not start")
