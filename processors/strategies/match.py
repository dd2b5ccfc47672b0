"""Entries of the registry → the strategies that apply to a call, in the order in which they are asked.

Strategies of a tool are filed under the value that their first `eq` or `in` condition asks for, so a call meets only
those that its own values name; those without such a condition are tried one by one and may be `UNFILED_MAX` for a tool.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from processors.learning.lifecycle import is_canary
from processors.strategies.conditions import Condition, Op, all_hold, value_at
from processors.strategies.strategy import Strategy, strategy_of
from schemas.jsonvalue import Json, JsonObject
from schemas.pattern import Pattern, PatternState

UNFILED_MAX = 100
"""Strategies of one tool that no value names: 0.2 ms to try them all."""
MATCHED_MAX = 20
"""Strategies that are asked about one call."""
PROBE_SHARE = 0.02
"""Share of streams for which an active, blocking strategy is left out, to see whether it is still right."""
IN_PLAY = (PatternState.ACTIVE, PatternState.CANARY, PatternState.SHADOW)


@dataclass(frozen=True, slots=True)
class Filed:
    """One strategy and its entry."""

    strategy: Strategy
    pattern: Pattern

    def is_served(self, stream_id: str) -> bool:
        """Whether a stream's calls get it, or go their usual way while it is watched."""
        state, name = self.pattern.state, f"{self.pattern.id}/{stream_id}"
        if state is PatternState.CANARY:
            return is_canary(name)
        if state is not PatternState.ACTIVE:
            return False
        is_probed = self.strategy.is_blocking and self.strategy.impact.risk != "high" and not self.pattern.pinned
        return not (is_probed and is_canary(name, PROBE_SHARE))


@dataclass(slots=True)
class _OfTool:
    by_value: dict[str, dict[Hashable, list[Filed]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """Path → value → strategies."""
    unfiled: list[Filed] = field(default_factory=list)


class StrategyIndex:
    """The strategies of one registry version."""

    def __init__(self, entries: Iterable[Pattern] = ()) -> None:
        """entries: of the kind strategy, highest priority first, as `Snapshot.of` gives them."""
        self._tools: dict[str, _OfTool] = defaultdict(_OfTool)
        self.left_out: list[str] = []
        """Ids of entries that hold no usable strategy."""
        self.size = 0
        for pattern in entries:
            strategy = strategy_of(pattern)
            if strategy is None or not self._file(Filed(strategy, pattern)):
                self.left_out.append(pattern.id)

    def _file(self, filed: Filed) -> bool:
        of_tool = self._tools[filed.strategy.trigger.tool]
        chosen = next((one for one in filed.strategy.trigger.context if _names_values(one)), None)
        if chosen is None:
            if len(of_tool.unfiled) >= UNFILED_MAX:
                return False
            of_tool.unfiled.append(filed)
        else:
            for value in chosen.value if chosen.op is Op.IN else [chosen.value]:
                of_tool.by_value[chosen.path][_key(value)].append(filed)
        self.size += 1
        return True

    def matching(self, tool: str, arguments: JsonObject, now_ms: float, stream_id: str = "") -> list[Filed]:
        """Those that apply: highest priority first; of an exclusive group only the first that the stream gets."""
        of_tool = self._tools.get(tool)
        if of_tool is None:
            return []
        near = list(of_tool.unfiled)
        for path, by_value in of_tool.by_value.items():
            is_there, value = value_at(arguments, path)
            if is_there and _is_plain(value):
                near += by_value.get(_key(value), ())
        near.sort(key=lambda one: (-one.pattern.priority, one.pattern.id))
        found: list[Filed] = []
        groups: set[str] = set()
        for one in near:
            group = one.pattern.exclusive_group
            if group in groups or not _applies(one.strategy, arguments, now_ms):
                continue
            found.append(one)
            # One that is only watched keeps no other out.
            if group is not None and one.is_served(stream_id):
                groups.add(group)
            if len(found) >= MATCHED_MAX:
                break
        return found


def _applies(strategy: Strategy, arguments: JsonObject, now_ms: float) -> bool:
    return all_hold(strategy.trigger.context, arguments, now_ms) and all_hold(
        strategy.input_constraint, arguments, now_ms
    )


def _names_values(condition: Condition) -> bool:
    if condition.op is Op.EQ:
        return _is_plain(condition.value)
    return condition.op is Op.IN and isinstance(condition.value, list) and all(map(_is_plain, condition.value))


def _is_plain(value: Json) -> bool:
    return value is None or isinstance(value, str | int | float)


def _key(value: Json) -> Hashable:
    return (isinstance(value, bool), value)
