"""Settings → the stage `dispatch`: tools, bounds and leases around one dispatch worker."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from processors.dispatching.bounds import Bounds
from processors.dispatching.errors import ErrorRule, read_rules
from processors.snapshot import Snapshot
from processors.strategies.match import StrategyIndex
from schemas.toolcall import ToolResult
from schemas.wire import encode
from streams.dispatch import Dispatcher, DispatchOptions
from streams.dispatch_worker import DispatchWorker
from streams.executing.load import load_tools
from streams.executing.protocol import Tool
from streams.leases import leases
from streams.settings import ConfigError, Settings
from streams.strategies_in_use import StrategiesInUse
from streams.topics import Topology

MODES = ("execute", "dry_run")


@dataclass(slots=True)
class DispatchStage:
    """One dispatcher with the leases it works under."""

    settings: Settings
    topology: Topology
    tools: dict[str, Tool]
    options: DispatchOptions
    strategies: Callable[[], StrategyIndex]
    group: str = field(init=False)
    is_ready: asyncio.Event = field(default_factory=asyncio.Event)
    _worker: DispatchWorker | None = None

    def __post_init__(self) -> None:
        self.group = f"{self.settings.group_prefix}.{self.topology.stages['dispatch'].group}"

    def figures(self) -> dict[str, float]:
        """Figures for Prometheus."""
        return {"llm_dispatched_outputs_total": self.outputs}

    @property
    def outputs(self) -> int:
        """Outputs whose calls were dispatched."""
        return self._worker.outputs if self._worker else 0

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; raises ServerAwayError."""
        settings = self.settings
        async with leases(settings.redis_url, settings.topic_prefix) as kept:
            show = _show if self.options.is_dry_run else None
            dispatcher = Dispatcher(self.tools, kept, self.options, self.strategies)
            worker = DispatchWorker(settings, self.topology, dispatcher, show=show)
            worker.is_ready = self.is_ready
            self._worker = worker
            await worker.run(stop)


def dispatch_stage(settings: Settings, topology: Topology, current: Callable[[], Snapshot]) -> DispatchStage:
    """The stage as settings want it; raises ConfigError.

    current: the registry's snapshot in force, for the strategies in it.
    """
    if not settings.dispatch_tools:
        raise ConfigError("dispatch_tools: no tools to call; give --tools FILE or HERMES_DISPATCH_TOOLS")
    tools = load_tools(Path(settings.dispatch_tools))
    options = options_of(settings)
    if unknown := sorted(options.permitted - tools.keys()):
        raise ConfigError(f"dispatch_permit: there is no tool {unknown[0]!r} in {settings.dispatch_tools}")
    return DispatchStage(settings, topology, tools, options, StrategiesInUse(current))


def options_of(settings: Settings) -> DispatchOptions:
    """How settings want calls dispatched; raises ConfigError."""
    if settings.dispatch_mode not in MODES:
        raise ConfigError(f"dispatch_mode: {settings.dispatch_mode!r} is none of {', '.join(MODES)}")
    bounds = Bounds(
        steps_max=settings.dispatch_steps_max, tokens_max=settings.dispatch_tokens_max,
        step_s_max=settings.dispatch_step_s_max, parallel_max=settings.dispatch_parallel_max,
        cost_usd_max=settings.dispatch_cost_usd_max,
    )  # fmt: skip
    permitted = frozenset(name.strip() for name in settings.dispatch_permit.split(",") if name.strip())
    return DispatchOptions(
        bounds=bounds, permitted=permitted, is_dry_run=settings.dispatch_mode == "dry_run",
        error_rules=_error_rules(settings.dispatch_error_rules),
    )  # fmt: skip


def _error_rules(path: str) -> tuple[ErrorRule, ...]:
    if not path:
        return ()
    try:
        return read_rules(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # no file; no TOML, no rule, or one that fails its own examples
        raise ConfigError(f"dispatch_error_rules: {path}: {error}") from error


def _show(result: ToolResult) -> None:
    print(encode(result).decode(), flush=True)  # noqa: T201 - a dry run's answer
