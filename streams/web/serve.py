"""Settings → the page on their store, with the registry if it answers; closed in every case."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing

from streams.pattern_registry import opened
from streams.registry_changes import Registry
from streams.settings import ServerAwayError, Settings
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from streams.web.app import Web, start_web


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Web]:
    """The running page; its tables are made first. Raises ServerAwayError when the store is away."""
    with closing(Sink(settings.clickhouse_dsn)) as sink:
        sink.migrate()
    async with AsyncExitStack() as stack:
        reader = stack.enter_context(closing(Reader(settings.clickhouse_dsn)))
        page = await start_web(reader, settings, await _registry(stack, settings))
        try:
            yield page
        finally:
            await page.close()


async def _registry(stack: AsyncExitStack, settings: Settings) -> Registry | None:
    try:
        async with opened(settings.redis_url, settings.topic_prefix) as registry:
            await registry.snapshot()
    except ServerAwayError:  # the page shows all the same; decisions about patterns need the registry
        return None
    return await stack.enter_async_context(opened(settings.redis_url, settings.topic_prefix))
