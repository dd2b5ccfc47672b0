"""Calls that ended, as attribution looks at them; and the windows in which tools are compared.

Values of arguments are kept short: what is compared is whether two calls had the same value, not what it says.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from processors.dispatching.errors import Fault
from schemas.jsonvalue import JsonObject

VALUE_CHARS_MAX = 80
"""Longest value of an argument, in characters or digits, that is kept as it is."""
ARGUMENTS_MAX = 24
"""Arguments of one call that are compared."""
CALLS_OF_TOOL_MAX = 400
"""Calls remembered for one tool: an hour at one in nine seconds."""
TOOLS_MAX = 1_000
"""Tools remembered; beyond it the one unused for longest is forgotten."""
DISORDER_MS = 60_000.0
"""Calls come nearly in order of time; one that comes later than that among others may be overlooked."""
FAILED = frozenset({"param_error", "business_failure", "system_error"})
"""Statuses of a result that are failures; `not_run` says nothing about the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One call and what came of it."""

    stream_id: str
    call_id: str
    tool: str
    status: str
    at_ms: float
    """When it ended, Unix ms."""
    arguments: JsonObject = field(default_factory=dict)
    """Without personal data."""
    fault: Fault = field(default_factory=Fault)
    values: dict[str, str] = field(init=False)
    """The arguments that calls are compared by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", compared(self.arguments))

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The same for calls with the same arguments."""
        return tuple(sorted(self.values.items()))

    @property
    def is_failed(self) -> bool:
        """Whether it counts against its tool."""
        return self.status in FAILED

    @property
    def is_broken(self) -> bool:
        """Whether the tool, or the way to it, did not work."""
        return self.status == "system_error"


def compared(arguments: JsonObject) -> dict[str, str]:
    """Arguments that calls can be compared by: texts, numbers, truth values, two levels deep, under their path."""
    found: dict[str, str] = {}
    for path, value in list(arguments.items())[:ARGUMENTS_MAX]:
        inner = list(value.items())[:ARGUMENTS_MAX] if isinstance(value, dict) else [("", value)]
        for key, one in inner:
            if isinstance(one, str | int | float):
                found[f"{path}.{key}" if key else path] = _short(one)
    return found


def _short(value: str | float) -> str:
    """A value as text; a long one by its hash, because it is a document and not a choice."""
    if isinstance(value, str) and len(value) > VALUE_CHARS_MAX:
        return "#" + blake2b(value.encode("utf-8", "replace"), digest_size=8).hexdigest()
    # An integer of thousands of digits can't be written by str, which raises.
    is_huge = isinstance(value, int) and abs(value) >= 10**VALUE_CHARS_MAX
    return "#huge" if is_huge else str(value)


class Window:
    """The latest calls of each tool, bounded in tools and calls."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, deque[Seen]] = OrderedDict()

    def add(self, seen: Seen) -> None:
        """Remember one call."""
        if seen.tool not in self._calls:
            self._calls[seen.tool] = deque(maxlen=CALLS_OF_TOOL_MAX)
            if len(self._calls) > TOOLS_MAX:
                self._calls.popitem(last=False)
        self._calls.move_to_end(seen.tool)
        self._calls[seen.tool].append(seen)

    def of(self, tool: str, since_ms: float, until_ms: float) -> list[Seen]:
        """A tool's calls of a time, oldest first as they were added."""
        found = []
        for one in reversed(self._calls.get(tool, ())):
            if one.at_ms < since_ms - DISORDER_MS:
                break
            if since_ms <= one.at_ms <= until_ms:
                found.append(one)
        return found[::-1]

    def tools(self) -> Iterator[str]:
        """All tools of which calls are remembered."""
        yield from self._calls
