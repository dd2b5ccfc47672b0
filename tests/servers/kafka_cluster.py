"""A folder → an Apache Kafka cluster in KRaft mode, each broker a process that can be killed and started again.

The jars come from Maven (pom.xml beside this file) into `~/.cache`-like storage that `JARS` names, once; after that no
network is needed. Every broker is controller and broker at the same time; all end with the process that started them.

    python -m tests.servers.kafka_cluster    gets the jars; says what is missing and exits with 1 if it can't
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from streams import leash

POM = Path(__file__).with_name("pom.xml")
JARS = Path(os.environ.get("HERMES_KAFKA_JARS", Path.home() / ".cache" / "hermes-streams" / "kafka-4.1.0"))
START_S_MAX = 60.0
FETCH_S_MAX = 300.0
JAVA_MIN = 17
HEAP = "-Xms192m -Xmx384m"
CLUSTER_ID = "hermesTestsAAAAAAAAAAA"


def missing() -> str | None:
    """What this machine lacks for tests on real servers; None if nothing. Servers that are named are used as they are."""
    if "KAFKA_BOOTSTRAP" not in os.environ:
        if _java_version() < JAVA_MIN:
            return f"java {JAVA_MIN} is not installed, and KAFKA_BOOTSTRAP names no broker"
        if not jars_are_there() and not _fetched():
            return "mvn is not installed or could not get Apache Kafka's jars"
    if "REDIS_URL" not in os.environ and not (shutil.which("redis-server") or shutil.which("valkey-server")):
        return "redis-server is not installed, and REDIS_URL names none"
    return None


def _java_version() -> int:
    if (java := shutil.which("java")) is None:
        return 0
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


def _fetched() -> bool:
    try:
        fetch_jars()
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def jars_are_there() -> bool:
    return any(JARS.glob("kafka_2.13-*.jar"))


def fetch_jars() -> None:
    """Have Maven copy the broker's jars, unless they are there."""
    if not jars_are_there():
        command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={JARS}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=FETCH_S_MAX)


@dataclass
class Broker:
    """One node: its ports, its folder and, while it runs, its process."""

    node: int
    port: int
    controller_port: int
    folder: Path
    process: subprocess.Popen | None = field(default=None)

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def start(self) -> None:
        """Start the process; `wait` says when it answers."""
        command = [_java(), *HEAP.split(), *_classpath(), "kafka.Kafka", str(self.folder / "server.properties")]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-S", leash.__file__, str(os.getpid()), *command],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> None:
        """Until it takes connections."""
        deadline = time.monotonic() + START_S_MAX
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise RuntimeError(f"broker {self.node} did not start: {self.log.read_text(errors='replace')[-2000:]}")

    def kill(self) -> None:
        """As a crash does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@dataclass
class Cluster:
    brokers: list[Broker]

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers)


@contextmanager
def cluster(folder: Path, count: int = 1) -> Iterator[Cluster]:
    """Format and start `count` brokers; they have ended when the context has."""
    fetch_jars()
    ports = free_ports(2 * count)
    brokers = [Broker(node, ports[2 * node], ports[2 * node + 1], folder / f"broker{node}") for node in range(count)]
    for broker in brokers:
        broker.folder.mkdir(parents=True)
        (broker.folder / "server.properties").write_text(_properties(broker, brokers), encoding="ascii")
        _format(broker)
    try:
        for broker in brokers:
            broker.start()
        for broker in brokers:
            broker.wait()
        yield Cluster(brokers)
    finally:
        for broker in brokers:
            broker.kill()


def _properties(broker: Broker, brokers: list[Broker]) -> str:
    copies = min(3, len(brokers))
    values = {
        "process.roles": "broker,controller",
        "node.id": broker.node,
        "controller.quorum.voters": ",".join(f"{b.node}@127.0.0.1:{b.controller_port}" for b in brokers),
        "listeners": f"PLAINTEXT://127.0.0.1:{broker.port},CONTROLLER://127.0.0.1:{broker.controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{broker.port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": broker.folder / "data",
        "auto.create.topics.enable": "false",
        "default.replication.factor": copies,
        "min.insync.replicas": max(1, copies - 1),
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": 8,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": max(1, copies - 1),
        "transaction.state.log.num.partitions": 8,
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": 1000,
        "log.segment.bytes": 64_000_000,
    }
    return "".join(f"{key}={value}\n" for key, value in values.items())


def _format(broker: Broker) -> None:
    command = [_java(), *_classpath(), "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID]
    command += ["-c", str(broker.folder / "server.properties")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"formatting broker {broker.node}: {done.stdout[-1000:]}{done.stderr[-1000:]}")


def _java() -> str:
    java = shutil.which("java")
    assert java is not None
    return java


def _classpath() -> list[str]:
    return ["-cp", f"{JARS}/*", "-Dlog4j2.level=WARN", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


def free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


if __name__ == "__main__":
    lack = missing()
    if lack is not None:
        sys.stdout.write(lack + "\n")
    sys.exit(lack is not None)
