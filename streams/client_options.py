"""Settings → options of a Kafka client: address, and SASL/TLS from a TOML file of their own.

The file has the client library's own names (`security_protocol`, `sasl_mechanism`, `sasl_plain_username`,
`sasl_plain_password`) and `cafile`, `certfile`, `keyfile` for TLS.
"""

import logging
import ssl
import tomllib
from pathlib import Path
from typing import Any

from streams.settings import ConfigError, Settings

logging.getLogger("aiokafka").setLevel(logging.INFO)
"""At DEBUG the client writes whole responses of the broker to the log: text that was not cleaned."""

PASSED = frozenset({"security_protocol", "sasl_mechanism", "sasl_plain_username", "sasl_plain_password"})
TLS = frozenset({"cafile", "certfile", "keyfile"})


def kafka_options(settings: Settings) -> dict[str, Any]:
    """Keyword arguments that every Kafka client takes; raises ConfigError."""
    options: dict[str, Any] = {"bootstrap_servers": settings.kafka_bootstrap}
    if not settings.kafka_security:
        return options
    table = _read(settings.kafka_security)
    if unknown := sorted(table.keys() - PASSED - TLS):
        raise ConfigError(f"{settings.kafka_security}: unknown key {unknown[0]!r}")
    options |= {key: value for key, value in table.items() if key in PASSED}
    if table.get("security_protocol", "").endswith("SSL"):
        options["ssl_context"] = _context(settings.kafka_security, table)
    return options


def _read(place: str) -> dict[str, str]:
    try:
        return tomllib.loads(Path(place).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{place}: {error}") from error


def _context(place: str, table: dict[str, str]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=table.get("cafile"))
        if "certfile" in table:
            context.load_cert_chain(table["certfile"], table.get("keyfile"))
    except OSError as error:
        raise ConfigError(f"{place}: TLS files: {error}") from error
    return context
