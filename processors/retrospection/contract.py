"""What a tool promises and asks for, as its owner wrote it down: a TOML file → contracts.

A contract says what must hold of arguments and answers, what must have been called before, what has to follow a
failure, and which lists the tool looks values up in and how old they may be. Nothing is guessed that stands in none.
"""

import tomllib
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from processors.strategies.conditions import Condition
from processors.strategies.strategy import OtherCall

REVIEW = "review"
"""`after_failure` that is no tool: a person decides."""
_CLOSED = ConfigDict(frozen=True, extra="forbid")


class LookedUp(BaseModel):
    """A list that the tool looks one of its arguments up in."""

    model_config = _CLOSED
    name: str
    argument: str
    """Path of the argument."""
    check: OtherCall
    """A call without side effects that says how the list is."""
    expect: tuple[Condition, ...] = Field(min_length=1)
    """What holds of its answer while the list can be trusted."""


class Contract(BaseModel):
    """The contract of one tool."""

    model_config = _CLOSED
    tool: str
    upstream: str = ""
    """What it depends on; tools of one upstream fall ill together."""
    input: tuple[Condition, ...] = ()
    output: tuple[Condition, ...] = ()
    needs: tuple[str, ...] = ()
    """Tools that must have answered before it in the same run."""
    after_failure: str = ""
    """What has to follow a failure: a tool, or `review`."""
    after_arguments: dict[str, str] = Field(default_factory=dict)
    """Arguments of that tool, `$path` for the call's own."""
    latency_ms_max: float | None = None
    lists: tuple[LookedUp, ...] = ()


class _File(BaseModel):
    """What a file of contracts holds."""

    contract: tuple[Contract, ...] = ()


class ContractError(ValueError):
    """A text that holds no contracts; the message says where."""


def read_contracts(text: str) -> dict[str, Contract]:
    """TOML with `[[contract]]` → contracts by tool; raises ContractError."""
    try:
        found = _File.model_validate(tomllib.loads(text)).contract
    except tomllib.TOMLDecodeError as error:
        raise ContractError(str(error)) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ContractError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return {contract.tool: contract for contract in found}


def lookups(contracts: Mapping[str, Contract]) -> frozenset[str]:
    """Tools that say how a list is."""
    return frozenset(one.check.tool for contract in contracts.values() for one in contract.lists)


def upstreams(contracts: Mapping[str, Contract]) -> dict[str, str]:
    """Tool → what it depends on."""
    return {tool: contract.upstream for tool, contract in contracts.items() if contract.upstream}
