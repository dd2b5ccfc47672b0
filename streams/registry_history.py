"""Records of the registry → text for a person: the timeline of one entry, and what differs between two versions."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import unified_diff

import orjson

from processors.snapshot import Snapshot, key_of
from schemas.jsonvalue import Json
from schemas.pattern import Evidence, Pattern
from schemas.wire import encode

VALUE_CHARS_MAX = 200
"""Longest value of a figure that is shown; `registry show` has the whole of it."""


def timeline_of(records: Sequence[Pattern]) -> list[str]:
    """Records of one entry, oldest first → lines: each version with the steps of evidence that came with it."""
    lines = [f"{key_of(records[-1])}"]
    before: tuple[Evidence, ...] = ()
    for record in records:
        pinned = ", pinned" if record.pinned else ""
        lines.append(f"registry version {record.registry_version}: {record.state}{pinned} (version {record.version})")
        lines += [f"  {line}" for step in record.evidence if step not in before for line in _step(step)]
        before = record.evidence
    return lines


def _step(step: Evidence) -> list[str]:
    data = dict(step.data)
    title = step.step
    if "from" in data and "to" in data:
        title += f": {data.pop('from')} → {data.pop('to')}"
    if data.get("reason"):
        title += f", {data.pop('reason')}"
    return [title, *(f"  {key}: {_short(value)}" for key, value in data.items() if value not in ("", None))]


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= VALUE_CHARS_MAX else text[:VALUE_CHARS_MAX] + "…"


def difference(one: Snapshot, other: Snapshot) -> list[str]:
    """Lines for each entry that differs: its state, and its definition line by line."""
    lines = []
    for key in sorted({*one.entries, *other.entries}):
        before, after = one.entries.get(key), other.entries.get(key)
        if before is None or after is None:
            entry = after or before
            assert entry is not None, "the key is one of them"
            lines.append(f"{'+' if before is None else '-'} {key}: {entry.state} (version {entry.version})")
        elif _bytes(before) != _bytes(after):
            lines.append(f"~ {key}: {_said(before)} → {_said(after)}")
            lines += _changed(before, after)
    return lines


def _said(entry: Pattern) -> str:
    return f"{entry.state}{', pinned' if entry.pinned else ''} (version {entry.version})"


def _bytes(entry: Pattern) -> bytes:
    return encode(replace(entry, registry_version=0, ts=None))


def _changed(before: Pattern, after: Pattern) -> list[str]:
    lines = unified_diff(_lines(before), _lines(after), lineterm="", n=1)
    return [f"    {line}" for line in lines if not line.startswith(("---", "+++"))]


def _lines(entry: Pattern) -> list[str]:
    return orjson.dumps(entry.definition, option=orjson.OPT_INDENT_2).decode().splitlines()
