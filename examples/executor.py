"""Run the calls that models make, and say what came of them.

    KAFKA_BOOTSTRAP=127.0.0.1:… python executor.py

Only executable calls are run: checked against the tool's schema, said once, not taken back. Kafka gives an output again
if this program dies before its loop came back for the next, so each call is remembered by `(stream_id, call id)`; a
tool that must not run twice should use that pair as its idempotency key.
"""

import asyncio
import time
from collections.abc import Callable

from schemas.toolcall import ToolCall
from streams.client import OutputConsumer, Wanted, executable
from streams.settings import Settings, load

TOOLS: dict[str, Callable[..., object]] = {"get_weather": lambda city: {"city": city, "celsius": 7}}


async def run(outputs: OutputConsumer, call: ToolCall) -> None:
    """One call, answered in every case."""
    began = time.perf_counter()
    try:
        content = TOOLS[str(call.name)](**(call.arguments or {}))
    except (TypeError, ValueError) as error:  # TypeError: an argument the function does not take
        await outputs.answer(call, None, "param_error", error=str(error))
        return
    await outputs.answer(call, content, duration_ms=(time.perf_counter() - began) * 1000)
    print(f"{call.stream_id} {call.id} {call.name} → {content}")


async def main(settings: Settings, calls_max: int | None = None) -> None:
    """Until Ctrl-C, or until so many calls have been run."""
    ran: set[tuple[str, str]] = set()
    wanted = Wanted(tools=frozenset(TOOLS))
    async with OutputConsumer(settings, group="example-executor", wanted=wanted) as outputs:
        async for output in outputs:
            for call in executable(output):
                if call.name in TOOLS and (call.stream_id, call.id) not in ran:
                    ran.add((call.stream_id, call.id))
                    await run(outputs, call)
            if calls_max is not None and len(ran) >= calls_max:
                return


if __name__ == "__main__":
    asyncio.run(main(load()))
