"""Embedded engines, started once a session."""

import pytest

from streams.embedded import Engines, engines
from streams.settings import Settings


@pytest.fixture(scope="session")
def running(tmp_path_factory) -> Engines:
    """Engines of this test session; each test takes its own topic and group prefix, see `settings`."""
    settings = Settings(data_dir=str(tmp_path_factory.mktemp("engines")), session_timeout_ms=6_000)
    with engines(settings) as started:
        yield started
