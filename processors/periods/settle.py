"""Arguments of a call and what the user said → the arguments with the dates that the words settle.

A value that any defensible reading allows stays, at most respelled. A missing or different one is written from the
usual reading, if exactly one place of the schema can take it. Words that settle nothing change nothing. Each change
has a record: where, before, after, which words, which rules, which assumptions, which `now`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from processors.periods.forms import Path
from processors.periods.moments import Wanted, current_points, is_same, wanted_of
from processors.periods.read import read_periods
from processors.periods.reading import DEFAULT_POLICY, Item, Policy, Reading, Span, Sure, read_moment
from processors.periods.slots import RANGE_NAMES, Group, given, groups_of, parameters_of, with_value
from processors.periods.spelling import day_of
from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import Refusal, Repair

RATES = {Sure.LITERAL: 0.99, Sure.RELATIVE: 0.97, Sure.ASSUMED: 0.92}
"""How far a change is trusted by what the words are; respelling counts like the words it agrees with."""
UNCLEAR = "period_unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRecord:
    """Why one value was changed."""

    path: str
    before: Json
    after: Json
    span: tuple[int, int]
    """Where the user's words stand: half-open character offsets."""
    text: str
    rules: tuple[str, ...]
    assumptions: tuple[str, ...]
    now: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Arguments after the user's words were heard."""

    arguments: JsonObject
    repairs: tuple[Repair, ...] = ()
    refusal: Refusal | None = None
    confidence: float = 1.0
    records: tuple[PeriodRecord, ...] = ()


def settle_periods(
    arguments: JsonObject, schema: JsonObject, user: str, now: datetime | None, policy: Policy = DEFAULT_POLICY
) -> Settled:
    """Fill in or correct the dates of a call, where the words settle them; never raises on what a model wrote."""
    parameters = parameters_of(schema)
    groups = groups_of(parameters)
    if not groups:
        return Settled(arguments=arguments)
    reading = read_periods(user, now, policy=policy)
    items = {(item.start, item.end): item for item in reversed(reading.items)} if reading.is_settled else {}
    ordered = sorted(items.values(), key=lambda item: item.span)
    pairs = _assigned(ordered, groups, arguments, now)
    if not pairs:
        return Settled(arguments=arguments, refusal=_question(groups, arguments, reading))
    work = _Work(arguments, parameters, now, policy)
    for item, group in pairs:
        work.write(item, group)
    return work.settled(arguments)


def _assigned(
    items: Sequence[Item], groups: Sequence[Group], arguments: JsonObject, now: datetime | None
) -> list[tuple[Item, Group]]:
    """Which period goes where; nothing where more than one place, or no place, could take it."""
    if len(items) == 1:
        fitting = [group for group in groups if wanted_of(group, spans_of(items[0])[0], now)]
        for narrower in (
            lambda group: group.required,
            lambda group: not group.baseline,
            lambda group: group.shape in ("pair", "array") or items[0].kind != "range",
            lambda group: any(given(arguments, slot.path) is not None for slot in group.slots),
        ):
            if len(fitting) > 1:
                fitting = [group for group in fitting if narrower(group)] or fitting
        return [(items[0], fitting[0])] if len(fitting) == 1 else []
    if len(items) == 2:
        usual = [group for group in groups if not group.baseline and wanted_of(group, spans_of(items[0])[0], now)]
        bases = [group for group in groups if group.baseline and wanted_of(group, spans_of(items[1])[0], now)]
        if len(usual) == 1 and len(bases) == 1:
            return [(items[0], usual[0]), (items[1], bases[0])]
    return []


def spans_of(item: Item) -> list[Span]:
    """The item's readings as spans, the usual one first."""
    return [(_point(start), _point(end)) for start, end in ((item.start, item.end), *item.readings)]


def _point(text: str | None) -> date | None:
    if text is None:
        return None
    return read_moment(text) if "T" in text else date.fromisoformat(text)


def _question(groups: Sequence[Group], arguments: JsonObject, reading: Reading) -> Refusal | None:
    """What to ask, if a required date is missing and the words have several readings."""
    if reading.kind not in ("ambiguous", "unread", "impossible") or not reading.text:
        return None
    for group in groups:
        if group.required and all(given(arguments, slot.path) is None for slot in group.slots):
            shown = [list(candidate) for candidate in reading.candidates]
            why = next((item.why for item in reading.items if item.why), reading.kind)
            message = (
                f"The user's words for `{group.slots[0].path[-1]}` are not settled ({why}); ask which dates are meant."
            )
            return Refusal(code=UNCLEAR, path=_pointer(group.slots[0].path), candidate=shown or None, message=message)
    return None


def _pointer(path: Path) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)


class _Work:
    """One call whose dates are being settled."""

    def __init__(self, arguments: JsonObject, schema: JsonObject, now: datetime | None, policy: Policy) -> None:
        self._arguments, self._schema, self._now, self._policy = arguments, schema, now, policy
        self._repairs: list[Repair] = []
        self._records: list[PeriodRecord] = []
        self._rates: list[float] = []

    def settled(self, before: JsonObject) -> Settled:
        if not self._repairs:
            return Settled(arguments=before)
        rate = min(self._rates)
        return Settled(
            arguments=self._arguments,
            repairs=tuple(self._repairs),
            confidence=rate,
            records=tuple(self._records),
        )

    def write(self, item: Item, group: Group) -> None:
        """Bring one group of slots in line with one period."""
        spans = spans_of(item)
        values = [given(self._arguments, slot.path) for slot in group.slots]
        points = current_points(group, values)
        readings = [wanted for span in spans if (wanted := wanted_of(group, span, self._now))]
        agreeing = next((one for one in readings if is_same(points, one)), None)
        is_missing = all(value is None for value in values)
        if agreeing is None and not is_missing and item.confidence == Sure.ASSUMED and self._policy.strict:
            return
        if agreeing is not None:
            if not agreeing.keeps(values):
                self._set(item, group, agreeing, "period_respelled")
            return
        chosen = next((one for one in readings if one.begins_like(points)), readings[0])
        self._set(item, group, chosen, "period_filled" if is_missing else "period_corrected")
        if is_missing:
            self._take_strays(item, group)

    def _set(self, item: Item, group: Group, wanted: Wanted, code: str) -> None:
        for slot, after in zip(group.slots, wanted.values, strict=True):
            before = given(self._arguments, slot.path)
            if after is None or (after == before and type(after) is type(before)):
                continue
            self._arguments = with_value(self._arguments, slot.path, after)
            is_new = before is None and code == "period_corrected"
            self._note("period_filled" if is_new else code, slot.path, (before, after), item)
        self._rates.append(RATES.get(item.confidence, 0.9))

    def _take_strays(self, item: Item, group: Group) -> None:
        """Remove a date that stood under a name the schema doesn't have: it was meant for the slot now filled."""
        for depth in range(len(group.slots[0].path)):
            path = group.slots[0].path[:depth]
            node = given(self._arguments, path) if path else self._arguments
            known = _known_names(self._schema, path)
            if not isinstance(node, dict) or known is None:
                continue
            strays = {name: node[name] for name in node if name not in known and _is_date_like(name, node[name], item)}
            kept = {name: value for name, value in node.items() if name not in strays}
            self._arguments = with_value(self._arguments, path, kept) if path else kept
            for name, value in strays.items():
                self._note("period_moved", (*path, name), (value, None), item)

    def _note(self, code: str, path: Path, change: tuple[Json, Json], item: Item) -> None:
        rule = item.rules[-1] if item.rules else "literal"
        self._repairs.append(Repair(code=code, path=_pointer(path), detail=f"{rule}, {item.confidence}"))
        self._records.append(
            PeriodRecord(
                path=_pointer(path),
                before=change[0],
                after=change[1],
                span=item.span,
                text=item.text,
                rules=item.rules,
                assumptions=item.assumptions,
                now=self._now.isoformat() if self._now else None,
            )
        )


def _known_names(schema: JsonObject, path: Path) -> Mapping[str, Json] | None:
    node: Json = schema
    for step in path:
        properties = node.get("properties") if isinstance(node, dict) else None
        node = properties.get(step) if isinstance(properties, dict) else None
    properties = node.get("properties") if isinstance(node, dict) else None
    return properties if isinstance(properties, dict) else None


def _is_date_like(name: str, value: Json, item: Item) -> bool:
    """Whether an argument that the schema doesn't know names a date."""
    if isinstance(value, list | dict):
        inner = list(value.values()) if isinstance(value, dict) else value
        return bool(inner) and all(_is_date_like(name, one, item) for one in inner)
    if not isinstance(value, str):
        return False
    is_day = day_of(value.strip()) is not None or value.strip() == item.text
    return is_day or bool(RANGE_NAMES.fullmatch(name.lower()) and value.strip().lower() in item.text.lower())
