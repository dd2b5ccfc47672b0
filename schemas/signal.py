"""Signal: what is told from outside, by monitoring, by a person, by another system (`llm.signals`)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One thing that was said."""

    schema: Literal["signal/1"] = "signal/1"
    kind: Literal["alert", "retrospect", "review"]
    """alert: something is not well. retrospect: look back at a call. review: what a person decided about one."""
    about: str = ""
    """alert: a tool or what it depends on; empty: everything. review: the id of the strategy that held the call up."""
    stream_id: str = ""
    """retrospect: stream of the call."""
    call_id: str = ""
    """retrospect: the call; empty: the last failed one of the stream's run."""
    is_right: bool = True
    """review: whether it was right not to make the call."""
    text: str = ""
    ts: float | None = None
    """Unix ms; the record's time if it is not given."""
