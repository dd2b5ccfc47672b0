"""Engines, started once a session: embedded ones, or with HERMES_TEST_ENGINES=servers real ones from tests/servers."""

import os
from contextlib import ExitStack
from dataclasses import replace

import pytest

from streams.embedded import Engines, engines
from streams.settings import Settings
from tests.servers.kafka_cluster import cluster
from tests.servers.redis_server import redis_server

IS_SERVERS = os.environ.get("HERMES_TEST_ENGINES") == "servers"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that need real servers are chosen on real servers only; otherwise they are not part of the run."""
    if not IS_SERVERS:
        left_out = [item for item in items if item.get_closest_marker("servers")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    """Engines of this test session; each test takes its own topic and group prefix."""
    settings = Settings(data_dir=str(tmp_path_factory.mktemp("engines")), session_timeout_ms=2_000)
    with ExitStack() as stack:
        if not IS_SERVERS:
            yield stack.enter_context(engines(settings))
            return
        bootstrap = os.environ.get("KAFKA_BOOTSTRAP", "")
        if not bootstrap:
            bootstrap = stack.enter_context(cluster(tmp_path_factory.mktemp("kafka"))).bootstrap
        redis_url = stack.enter_context(redis_server(tmp_path_factory.mktemp("redis")))
        yield Engines(replace(settings, kafka_bootstrap=bootstrap, redis_url=redis_url))
