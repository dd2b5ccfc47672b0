"""Settings → the stage `retrospect`: contracts, tools and conditions around one worker."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from processors.attribution.context import Terms
from processors.dispatching.policy import ToolRule
from processors.learning.lifecycle import Approval
from processors.retrospection.contract import Contract, ContractError, read_contracts
from processors.retrospection.watch import Surveyed, Watch
from processors.snapshot import Snapshot
from streams.executing.load import load_tools
from streams.retrospect_worker import RetrospectWorker
from streams.settings import ConfigError, Settings
from streams.topics import Topology


def retrospect_stage(
    settings: Settings, topology: Topology, current: Callable[[], Snapshot], approval: Approval
) -> RetrospectWorker:
    """The stage as settings want it; raises ConfigError.

    current: the registry's snapshot in force, for the strategies in it.
    """
    return RetrospectWorker(settings, topology, Watch(surveyed(settings)), current, approval)


def surveyed(settings: Settings) -> Surveyed:
    """What settings say of tools: contracts, side effects and permissions, conditions of a defect."""
    terms = Terms(
        repeats_min=settings.retrospect_repeats_min, within_ms=settings.retrospect_within_s * 1000,
        conditions_min=settings.retrospect_conditions_min,
    )  # fmt: skip
    return Surveyed(contracts=contracts_of(settings), rules=rules_of(settings), terms=terms)


def contracts_of(settings: Settings) -> dict[str, Contract]:
    """The contracts that settings name; raises ConfigError for a file that holds none."""
    place = settings.retrospect_contracts
    if not place:
        return {}
    try:
        return read_contracts(Path(place).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"retrospect_contracts: {place}: {error.strerror}") from error
    except (ContractError, UnicodeDecodeError) as error:
        raise ConfigError(f"retrospect_contracts: {place}: {error}") from None


def rules_of(settings: Settings) -> dict[str, ToolRule]:
    """Rules of the dispatcher's tools, for what strategies may call; none where no tools are named."""
    if not settings.dispatch_tools:
        return {}
    permitted = {name.strip() for name in settings.dispatch_permit.split(",")}
    tools = load_tools(Path(settings.dispatch_tools))
    return {name: replace(tool.rule, is_permitted=name in permitted) for name, tool in tools.items()}
