"""A broken endpoint is left alone by all dispatchers; one that works is never in the way."""

import asyncio
from dataclasses import dataclass, field, replace
from uuid import uuid4

import pytest

from processors.dispatching.bounds import Bounds
from processors.dispatching.errors import Fault
from processors.dispatching.policy import ToolRule
from streams.circuits import Limits
from streams.dispatch import Dispatcher, DispatchOptions
from streams.executing.protocol import Answer
from streams.leases import leases
from tests.streams.test_dispatching import output

pytestmark = pytest.mark.engines
READS = replace(ToolRule(), has_side_effects=False)


@dataclass
class Counted:
    """A tool on a server that may be down."""

    name: str
    endpoint: str = "http:shop"
    is_down: bool = True
    calls: list[str] = field(default_factory=list)
    rule: ToolRule = READS
    error_rules: tuple = ()

    def describe(self) -> dict:
        return {"name": self.name, "parameters": {}}

    def validate(self, _arguments: dict) -> str | None:
        return None

    async def execute(self, _arguments: dict, execution_id: str) -> Answer | Fault:
        self.calls.append(execution_id)
        await asyncio.sleep(0.02)
        return Fault(kind="http", code=503, text="down") if self.is_down else Answer("fine")


def dispatched(url: str, tools: dict, outputs: list, dispatchers: int = 1, **options) -> list:
    async def main():
        async with leases(url, f"{uuid4()}.") as kept:
            chosen = DispatchOptions(bounds=Bounds(steps_max=99), **options)
            every = [Dispatcher(tools, kept, chosen) for _ in range(dispatchers)]
            found = await asyncio.gather(*(every[n % dispatchers].dispatch(one) for n, one in enumerate(outputs)))
            return [result for results in found for result in results]

    return asyncio.run(main())


@pytest.mark.parametrize("dispatchers", [1, 2])
def test_a_broken_endpoint_is_not_called_eight_times(running, dispatchers) -> None:
    tools = {name: Counted(name) for name in ("stock", "price")}
    outputs = [output(f"s{n}", ("stock" if n % 2 else "price", {"n": n})) for n in range(40)]
    results = dispatched(running.settings.redis_url, tools, outputs, dispatchers)
    # Four at once are under way in each dispatcher before the first fails.
    assert len(tools["stock"].calls) + len(tools["price"].calls) <= 4 * dispatchers
    assert [result.status for result in results] == ["system_error"] * 40
    assert sum(result.content["rule"] == "breaker" for result in results) >= 40 - 4 * dispatchers
    assert results[-1].error.startswith("skipped: http:shop had ")


def test_an_endpoint_that_works_is_not_held_up_by_another(running) -> None:
    tools = {"stock": Counted("stock"), "mail": Counted("mail", "http:mail", is_down=False)}
    outputs = [output(f"s{n}", ("stock", {"n": n}), ("mail", {"n": n})) for n in range(12)]
    results = dispatched(running.settings.redis_url, tools, outputs)
    assert len(tools["mail"].calls) == 12
    assert sum(result.status == "ok" for result in results) == 12


def test_one_failure_is_not_a_broken_endpoint(running) -> None:
    tools = {"stock": Counted("stock")}

    async def main():
        async with leases(running.settings.redis_url, f"{uuid4()}.") as kept:
            dispatcher = Dispatcher(tools, kept, DispatchOptions(bounds=Bounds(steps_max=99, parallel_max=8)))
            first = await dispatcher.dispatch(output("first", ("stock", {})))
            tools["stock"].is_down = False
            later = [dispatcher.dispatch(output(f"s{n}", ("stock", {"n": n}))) for n in range(8)]
            return first, await asyncio.gather(*later)

    first, later = asyncio.run(main())
    assert first[0].status == "system_error"
    assert [results[0].status for results in later] == ["ok"] * 8


def test_after_a_rest_one_call_tries_and_opens_the_way(running) -> None:
    limits = Limits(failures_max=2, rest_ms=200, call_ms=1000)

    async def main():
        async with leases(running.settings.redis_url, f"{uuid4()}.") as kept:
            circuits, words = kept.circuits, []

            async def ask(name: str) -> None:
                words.append((await circuits.enter("e", name, limits))[0])

            await ask("a")
            await ask("b")
            await circuits.leave("e", "a", limits, is_well=False)
            await ask("c")  # b is still under way
            await circuits.leave("e", "b", limits, is_well=False)
            await ask("d")
            await asyncio.sleep(0.25)
            await ask("e")
            await ask("f")
            await circuits.leave("e", "e", limits, is_well=True)
            await ask("g")
            await ask("h")
            return words

    assert asyncio.run(main()) == ["go", "go", "wait", "rest", "go", "rest", "go", "go"]


def test_a_dispatcher_that_died_does_not_keep_an_endpoint_shut(running) -> None:
    limits = Limits(failures_max=2, rest_ms=50, call_ms=100)

    async def main():
        async with leases(running.settings.redis_url, f"{uuid4()}.") as kept:
            await kept.circuits.leave("e", "x", limits, is_well=False)
            first, _ = await kept.circuits.enter("e", "dead", limits)
            second, _ = await kept.circuits.enter("e", "b", limits)
            await asyncio.sleep(0.15)
            return first, second, (await kept.circuits.enter("e", "b", limits))[0]

    assert asyncio.run(main()) == ("go", "wait", "go")
