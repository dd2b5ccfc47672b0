"""Environment or file → one frozen Settings: addresses and sizes. Nothing else reads the environment.

Each field may be set by the environment variable `HERMES_<FIELD>` (addresses also by their usual names, see `NAMES`)
or in a TOML file named by `HERMES_CONFIG`; the environment wins. An unknown key or a wrong value is a ConfigError that
names the place and the key.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit


class ConfigError(ValueError):
    """Configuration is wrong; the message names the place and the key. Exit code 2."""


class ServerAwayError(RuntimeError):
    """A server that is needed does not answer; the message names it and its address. Exit code 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the engines are and how large things may get."""

    kafka_bootstrap: str = "127.0.0.1:9092"
    """Comma-separated `host:port` of brokers."""
    kafka_security: str = ""
    """TOML file with SASL/TLS options for the Kafka client; empty: plain text."""
    redis_url: str = "redis://127.0.0.1:6379/0"
    """`redis://` or `rediss://` (TLS), user and password included."""
    clickhouse_dsn: str = "http://127.0.0.1:8123/hermes"
    """`http(s)://user:password@host:port/database`, or `chdb:///path/to/data` for the embedded engine."""
    topic_prefix: str = ""
    """Put before each topic name, so that several pipelines share one cluster."""
    topics_file: str = ""
    """A topics.yaml of one's own; empty: the shipped one."""
    data_dir: str = ".hermes-streams"
    """Where embedded engines keep the registry and ClickHouse data, and keys lie."""
    group_prefix: str = "hermes"
    """Consumer groups are `<prefix>.<stages>`."""
    batch_records_max: int = 5_000
    """Most records of one poll: about 20 ms of work, so heartbeats and shutdown are never far away."""
    stream_idle_s_max: float = 300.0
    """A stream without a token for this long is closed as truncated: longer than any model server's own timeout."""
    streams_open_max: int = 200_000
    """Most streams open in one worker; beyond it the one idle for longest is closed as truncated."""
    session_timeout_ms: int = 10_000
    """Kafka session timeout: a killed worker's partitions move on after this time."""
    learn_approval: str = "auto"
    """`auto`: a format proven on 12 outputs is active at once, one on fewer after 2 further ones. `canary`: after a
    sequential test beside the hot path and one on 5 % of streams. `manual`: it waits for `registry approve`."""
    learn_canary_share: float = 0.05
    """Share of streams that a learned format in canary serves, 0 to 1; the same for all workers of a pipeline."""
    learn_unused_days: int = 90
    """A learned format that served no stream for this many days retires."""
    server_away_s_max: float = 300.0
    """How long a worker waits in place for a server before it exits non-zero."""
    metrics_address: str = ""
    """`host:port` for /metrics, /healthz and /readyz of a worker; empty: none."""
    otel_endpoint: str = ""
    """Base address of an OTLP/HTTP collector that gets a span for each output; empty: none. Needs the extra `otel`."""
    web_host: str = "127.0.0.1"
    """Address of the page; any other than loopback needs a token."""
    web_port: int = 8080
    """Port of the page; when it is in use, one of the next."""
    web_token: str = ""
    """Asked for by the page before it shows anything; empty: none, loopback only."""
    audit_keys: str = ""
    """Where master keys of the audit log are: `file:PATH`, `env:NAME` or `command:…`; empty: originals are not kept."""
    audit_readers: str = ""
    """Comma-separated names of users who may reveal originals; empty: whoever holds the master key."""
    pii_placeholders: str = "plain"
    """`plain`: `[PHONE_REDACTED]`; `numbered`: the same value of a stream has the same number, `[PHONE_1_REDACTED]`."""
    dispatch_tools: str = ""
    """Python file with the tools that the stage `dispatch` may call; it does not start without."""
    dispatch_permit: str = ""
    """Comma-separated names of tools whose side effects may happen."""
    dispatch_mode: str = "execute"
    """`execute`, or `dry_run`: print what would be done, execute and publish nothing."""
    dispatch_error_rules: str = ""
    """TOML file with rules of one's own about errors of tools; they come before the shipped ones."""
    dispatch_steps_max: int = 15
    """Calls of one task that are executed; a task is a run, or a stream that belongs to none."""
    dispatch_tokens_max: int = 50_000
    """Tokens of one task's model responses, as their servers counted them."""
    dispatch_step_s_max: float = 60.0
    """Longest time of one call in seconds; a call that takes longer is given up and ends its task."""
    dispatch_parallel_max: int = 4
    """Most calls that run at once in one dispatcher."""
    dispatch_cost_usd_max: float = 1.0
    """What the calls of one task may cost, as the tools report it."""
    retrospect_contracts: str = ""
    """TOML file with the contracts of tools that the stage `retrospect` looks back at failures against."""
    retrospect_repeats_min: int = 3
    """Failures of a tool within `retrospect_within_s` that are a defect and not jitter."""
    retrospect_within_s: float = 300.0
    """Time in which failures are counted, in seconds."""
    retrospect_conditions_min: int = 1
    """How many of the conditions (repeated, upstream unhealthy, outside alert) make a defect, 1 to 3."""


NAMES = {
    "kafka_bootstrap": "KAFKA_BOOTSTRAP",
    "redis_url": "REDIS_URL",
    "clickhouse_dsn": "CLICKHOUSE_DSN",
}
"""Environment names that are usual for an address; all others are `HERMES_<FIELD>`."""


def variable(field: str) -> str:
    """Name of the environment variable that sets a field."""
    return NAMES.get(field, f"HERMES_{field.upper()}")


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment over the file named by HERMES_CONFIG; raises ConfigError."""
    environment = os.environ if environment is None else environment
    given: dict[str, object] = {}
    kinds = {field.name: type(field.default) for field in fields(Settings)}
    if path := environment.get("HERMES_CONFIG"):
        given |= _from_file(Path(path), kinds)
    for name, kind in kinds.items():
        if (text := environment.get(variable(name))) is not None:
            given[name] = _typed(text, kind, variable(name))
    settings = Settings(**given)  # type: ignore[arg-type]  # each value was made by its field's own type
    for name, kind in kinds.items():
        if kind is not str and not getattr(settings, name) > 0:
            raise ConfigError(f"{variable(name)}: must be greater than 0")
    return settings


def sources(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Where each field's value comes from: `environment`, the file's path, or `default`."""
    environment = os.environ if environment is None else environment
    kinds = {field.name: type(field.default) for field in fields(Settings)}
    path = environment.get("HERMES_CONFIG")
    in_file = _from_file(Path(path), kinds).keys() if path else frozenset()
    return {
        name: "environment" if variable(name) in environment else path if path and name in in_file else "default"
        for name in kinds
    }


def environment_of(settings: Settings) -> dict[str, str]:
    """The variables that give a child process the same settings."""
    return {variable(field.name): str(getattr(settings, field.name)) for field in fields(settings)}


def shown(settings: Settings) -> dict[str, object]:
    """Fields for people to read: passwords in addresses are replaced by `***`."""
    values = {field.name: _without_password(getattr(settings, field.name)) for field in fields(settings)}
    return values | {"web_token": "***" if settings.web_token else ""}


def _from_file(path: Path, kinds: Mapping[str, type]) -> dict[str, object]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"HERMES_CONFIG: {path}: {error}") from error
    if unknown := sorted(table.keys() - kinds.keys()):
        raise ConfigError(f"{path}: unknown key {unknown[0]!r}; known are {', '.join(sorted(kinds))}")
    return {key: _typed(str(value), kinds[key], f"{path}: {key}") for key, value in table.items()}


def _typed(text: str, kind: type, place: str) -> object:
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"{place}: {text!r} is not of type {kind.__name__}") from None


def _without_password(value: object) -> object:
    if not isinstance(value, str) or "://" not in value:
        return value
    parts = urlsplit(value)
    if parts.password is None:
        return value
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{host}"))
