"""Tools for tests; effects are lines of the file that EFFECTS names."""

import asyncio
import os
import time
from pathlib import Path
from typing import Literal

from streams.executing.command_tool import command
from streams.executing.protocol import Answer
from streams.executing.python_tool import BusinessFailure, execution_id_now, tool


def _note(text: str) -> None:
    file = os.open(Path(os.environ["EFFECTS"]), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{text}\n".encode())
    os.close(file)


@tool()
def look_up(city: str, unit: Literal["c", "f"] = "c") -> dict:
    """Weather of a city.

    When to use: the user asks about weather now.
    When not to use: forecasts.
    Side effects: none

    Args:
        city: name of the city
    """
    return {"city": city, "unit": unit, "phone": "13800138000"}


@tool()
def pay(amount: float, slow_s: float = 0) -> Answer:
    """Pay.

    Side effects: money moves.
    """
    time.sleep(slow_s / 2)
    _note(execution_id_now.get())
    time.sleep(slow_s / 2)
    if amount > 100:
        raise BusinessFailure("余额不足")
    return Answer({"paid": amount}, 0.25)


@tool()
async def broken(n: int) -> None:
    """Breaks.

    Side effects: none
    """
    _note(f"broken {n}")
    await asyncio.sleep(0)
    raise ConnectionRefusedError("no way to mail@example.com")


@tool()
async def sleepy() -> None:
    """Sleep.

    副作用：无
    """
    await asyncio.sleep(30)


say = command(
    "say", ("printf", "%s|", "{what}", "{more}"), {"properties": {"what": {"type": "string"}, "more": {"type": "integer"}}}
)  # fmt: skip
