"""The tree of one stream → its reasoning record, kept and searched: what was wanted, thought, called and mended.

Everything in it is made from the data, the id and the date included, so a replay writes the same record. What makes a
record reusable is a rule with few numbers, `Reuse`; where it says no, the record says why.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b

from processors.reasoning.supersede import block_of
from schemas.jsonvalue import JsonObject
from schemas.reasoning import Gap, Label, Node
from schemas.toolcall import EXECUTABLE, ToolCall, ToolResult

GOAL_CHARS_MAX = 500
"""Characters of a goal that are kept and searched."""
CONTENT_CHARS_MAX = 2_000
"""Characters of a node's text in its record; the output has the whole."""
CLEAN_CHARS_MAX = 8_000
NODES_MAX = 200
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
LAST_MS = 253_402_300_799_000
"""End of the year 9999, beyond which there is no date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """When a record may be shown to a later prompt as an example; each number is a setting."""

    confidence_min: float = 0.7
    """Least mean confidence of the nodes that stand."""
    gaps_max: int = 0
    """Most unresolved gaps; signs of something left out count."""
    nodes_min: int = 1
    calls_min: int = 0
    needs_success: bool = True
    """Every call that stands must be executable, and no result may be an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a record is made of, all of it clean."""

    stream_id: str
    goal: str = ""
    """The person's words, or what else names the goal."""
    goal_id: str | None = None
    ts: float | None = None
    """Time of the stream in ms since 1970."""
    now: str | None = None
    """ISO time that dates the record where the stream has no time of its own."""
    nodes: Sequence[Node] = ()
    calls: Sequence[ToolCall] = ()
    gaps: Sequence[Gap] = ()
    results: Sequence[ToolResult] = ()
    rules_learned: Sequence[str] = field(default_factory=tuple)
    """Ids of rules that this stream's failures led to."""
    is_truncated: bool = False


def record_of(facts: Facts, reuse: Reuse | None = None) -> JsonObject | None:
    """A stream's record; None where the stream has no reasoning."""
    if not facts.nodes:
        return None
    standing = [call for call in facts.calls if not (call.duplicate_of or call.superseded_by)]
    nodes = [node for node in facts.nodes if not node.superseded]
    average = sum(node.confidence for node in nodes) / len(nodes) if nodes else 0.0
    why_not = _why_not(facts, nodes, standing, average, reuse or Reuse())
    return {
        "record_id": record_id(facts.stream_id, facts.ts, facts.now),
        "goal_id": facts.goal_id,
        "goal": goal_of(facts),
        "created_at": facts.ts,
        "tools": list(dict.fromkeys(call.name for call in standing if call.name)),
        "clean_view": clean_view(facts.nodes),
        "reasoning_tree": {"nodes": [_node(node, facts.calls) for node in facts.nodes[:NODES_MAX]]},
        "metadata": {
            "total_nodes": len(facts.nodes),
            "superseded_nodes": len(facts.nodes) - len(nodes),
            "avg_confidence": round(average, 4),
            "calls": len(standing),
            "gaps": len(facts.gaps),
            "repairs": sum(len(call.repairs) for call in standing),
            "new_rules_learned": list(facts.rules_learned),
            "reusable": not why_not,
            "not_reusable_because": why_not,
        },
    }


def record_id(stream_id: str, ts: float | None, now: str | None = None) -> str:
    """`rr_<date>_<n>`: the stream's day in UTC and a number of 15 digits made from its id."""
    day = "00000000"
    if ts is not None and math.isfinite(ts) and 0 <= ts <= LAST_MS:
        day = datetime.fromtimestamp(ts / 1000, UTC).strftime("%Y%m%d")
    elif now and (dated := _DAY.match(now)):
        day = "".join(dated.groups())
    digest = blake2b(stream_id.encode("utf-8", "replace"), digest_size=8).digest()
    return f"rr_{day}_{int.from_bytes(digest) % 10**15:015}"


def goal_of(facts: Facts) -> str:
    """The person's words; where there are none, the first sentence of the first plan, else of the first node."""
    if facts.goal.strip():
        return facts.goal.strip()[:GOAL_CHARS_MAX]
    plan = next((node for node in facts.nodes if node.type is Label.PLANNING), facts.nodes[0])
    return plan.text.strip()[:GOAL_CHARS_MAX].partition("\n")[0]


def clean_view(nodes: Sequence[Node]) -> str:
    """What stands of the reasoning: blocks and sentences that nothing took back, one block a line."""
    lines: list[str] = []
    for node in nodes:
        if node.superseded:
            continue
        if not any(step.superseded for step in node.steps):
            lines.append(node.text)
            continue
        block = block_of(node)
        lines.append(" ".join(text for text, step in zip(block.texts, node.steps, strict=True) if not step.superseded))
    return "\n".join(lines)[:CLEAN_CHARS_MAX]


def _why_not(
    facts: Facts, nodes: Sequence[Node], standing: Sequence[ToolCall], average: float, reuse: Reuse
) -> list[str]:
    failed = {result.call_id for result in facts.results if result.status != "ok"}
    stands = {
        "truncated": not facts.is_truncated,
        f"fewer than {reuse.nodes_min} nodes": len(nodes) >= reuse.nodes_min,
        f"fewer than {reuse.calls_min} calls": len(standing) >= reuse.calls_min,
        f"average confidence under {reuse.confidence_min}": average >= reuse.confidence_min,
        f"more than {reuse.gaps_max} gaps": len(facts.gaps) <= reuse.gaps_max,
        "a call failed": not reuse.needs_success
        or all(call.status in EXECUTABLE and call.id not in failed for call in standing),
    }
    return [reason for reason, is_met in stands.items() if not is_met]


def _node(node: Node, calls: Sequence[ToolCall]) -> JsonObject:
    led = [call for call in calls if call.id in node.led_to]
    repairs = [repair for call in led for repair in call.repairs]
    return {
        "id": node.id,
        "type": node.type,
        "content": node.text[:CONTENT_CHARS_MAX],
        "confidence": node.confidence,
        "based_on": list(node.based_on),
        "led_to": list(node.led_to),
        "superseded": node.superseded,
        "auto_filled": node.auto_filled,
        "repair_applied": list(dict.fromkeys(repair.code for repair in repairs)),
        "repair_rule": next((repair.rule for repair in repairs if repair.rule), None),
    }
