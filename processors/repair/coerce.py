"""A tree of tokens + the Spec of its place → a value that fits, with each change noted and each obstacle recorded.

Nothing is invented: a value comes from its token, by a named change, or the place is refused. The walk is recursive;
readers bound the depth of what they give (LIMITS.nesting_max), so the stack is bounded too.
"""

import re

from processors.limits import LIMITS
from processors.repair.coerce_scalar import ABSENT, cut_code, fit_scalar, is_null, is_whole
from processors.repair.form_xml import looks_like_xml, read_items, read_xml
from processors.repair.match_names import UNKNOWN_MAX, is_near_unset, match_names
from processors.repair.nodes import Cut, Escaped, Items, Loose, Members, Node, pointer_step
from processors.repair.placeholder import is_placeholder
from processors.repair.read_date import read_date
from processors.repair.reading import read_nested
from processors.repair.toolschema import ANY, Spec, is_period
from processors.repair.words import WORDS, fold
from processors.repair.work import Work
from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import Repair

_SPLIT = re.compile(r"\s*[,;、，；|\n]\s*|\s+(?:and|und|et|y)\s+|\s+")
_ELIDED = re.compile(r"\s*(?:\.{3,}|…+)(?: ?(?:and )?(?:\d+ )?(?:more|others?|etc)\b.*)?\Z", re.IGNORECASE)


def fit(node: Node, spec: Spec, path: str, work: Work) -> Json:
    """The value of a node at a place; ABSENT where it says that there is none."""
    if type(node) is str and spec.is_plain_text and not work.rules.table and not is_placeholder(node, spec):
        return node
    if spec.choices and not spec.types:
        return _fit_choice(node, spec, path, work)
    if isinstance(node, Cut):
        return _fit_cut(node, spec, path, work)
    if isinstance(node, Members):
        return _fit_members(node, spec, path, work)
    if isinstance(node, Items):
        return _fit_items(node, spec, path, work)
    if is_null(node, spec) or _is_nan(node, spec):
        if spec.nullable and not isinstance(node, Loose) and node is not None and node != "null":
            work.note("null_word", path)
        return None if spec.nullable or not (spec.types or spec.enum) else ABSENT
    if spec.is_container:
        return _fit_container_text(node, spec, path, work)
    if isinstance(node, Loose) and not spec.enum and spec.types != {"string"} and node.lstrip()[:1] in {"[", "{"}:
        return _fit_container_text(node, spec, path, work)
    return fit_scalar(node, spec, path, work)


def _is_nan(node: Node, spec: Spec) -> bool:
    return spec.nullable and isinstance(node, str) and node.lower() in {"nan", "-nan"} and not spec.wants("string")


def _fit_choice(node: Node, spec: Spec, path: str, work: Work) -> Json:
    """The alternative that needs the fewest changes; what fails is not kept."""
    if spec.nullable and is_null(node, spec):
        return None
    parts = len(node.pairs) if isinstance(node, Members) else len(node.values) if isinstance(node, Items) else 0
    best, best_value, best_cost = None, None, (99, 99)
    for choice in spec.choices:
        if not work.may_try(parts):
            return work.refuse("too_large", path)
        trial = work.trial()
        value = fit(node, choice, path, trial)
        cost = (len(trial.problems) + (value is ABSENT), len(trial.repairs))
        if cost < best_cost:
            best, best_value, best_cost = trial, value, cost
    if best is not None:
        work.take(best)
    return best_value


def _fit_cut(node: Cut, spec: Spec, path: str, work: Work) -> Json:
    work.was_cut = True
    if is_whole(node, spec):
        work.note("closers_added", path)
        return fit(node.value, spec, path, work)
    work.refuse(cut_code(node), path, str(node.value))
    return str(node.value)


def _fit_members(node: Members, spec: Spec, path: str, work: Work) -> Json:
    if spec.wants("object") and not spec.enum:
        return fit_object(node, spec, path, work)
    if spec.wants("array"):
        keys = [key for key, _ in node.pairs]
        for first in (0, 1):
            if keys and keys == [str(number) for number in range(first, first + len(keys))]:
                work.note("indexed_object_to_array", path)
                return _each(Items([value for _, value in node.pairs]), spec, path, work)
        work.note("wrapped_scalar", path)
        return _each(Items([node]), spec, path, work)
    work.refuse("many_for_one", path)
    return None


def _fit_items(node: Items, spec: Spec, path: str, work: Work) -> Json:
    if spec.wants("array") and not spec.enum:
        return _each(node, spec, path, work)
    if node.is_elided:
        work.refuse("elided_items", path)
    if len(node.values) == 1 and not node.is_open:
        work.note("unwrapped_single", path)
        return fit(node.values[0], spec, path, work)
    if not node.values and not node.is_open:
        return ABSENT
    work.refuse("truncated_array" if node.is_open else "many_for_one", path)
    return None


def _each(node: Items, spec: Spec, path: str, work: Work) -> list[Json]:
    if node.is_elided:
        work.refuse("elided_items", path)
    if node.is_open:
        work.was_cut = True
        if node.is_cut or not work.ended:
            work.refuse("truncated_array", path)
        else:
            work.note("closers_added", path)
    values = []
    inner = spec.items or ANY
    for place, item in enumerate(node.values):
        if isinstance(item, str) and _ELIDED.match(item):
            work.refuse("elided_items", path)
        value = fit(item, inner, f"{path}/{place}", work)
        if value is ABSENT:
            work.refuse("null_required", f"{path}/{place}")
        values.append(value)
    return values


def _fit_container_text(node: Json, spec: Spec, path: str, work: Work) -> Json:
    """Text where the schema wants an object or an array: written-out JSON, a list in words, or one item."""
    text = node.plain if isinstance(node, Escaped) else str(node)
    if isinstance(node, str) and text.strip()[:1] in {"[", "{", '"', "(", "'", "｛", "［"}:
        inner = read_nested(text, spec)
        if isinstance(inner, Members | Items):
            if not isinstance(node, Loose):
                work.note("decoded_nested", path)
            return fit(inner, spec, path, work)
    if isinstance(node, Loose) and not spec.types:
        return text
    if isinstance(node, str) and (inner := _written(text, spec)) is not None:
        work.note("decoded_nested", path)
        return fit(inner, spec, path, work)
    if not spec.wants("array"):
        work.refuse("many_for_one" if isinstance(node, bool) else "wrong_type", path, text)
        return text
    return _listed(node, text, spec, path, work)


def _written(text: str, spec: Spec) -> Members | Items | None:
    """A container in another notation than JSON: tags, or lines that begin with a dash."""
    lines = [line.strip() for line in text.strip().split("\n")]
    if spec.wants("array") and all(line.startswith(("- ", "* ")) for line in lines):
        return Items([Loose(line[2:].strip().strip("\"'")) for line in lines])
    if not looks_like_xml(text):
        return None
    if spec.wants("object") and spec.properties:
        return read_xml(text, spec)
    items = read_items(text) if spec.wants("array") else []
    return Items(list(items)) if items else None


def _listed(node: Json, text: str, spec: Spec, path: str, work: Work) -> Json:
    items = spec.items or ANY
    is_plain = items.types <= {"number", "integer"} and bool(items.types)
    parts = [part for part in _SPLIT.split(text.strip()) if part] if is_plain else []
    if items.enum and isinstance(node, str) and not items.index.find(text):
        parts = [part for part in re.split(r"\s*[,;、，；|\n]\s*", text.strip()) if part]
    if len(parts) > LIMITS.repair_tokens_max:
        work.refuse("too_large", path)
        return text
    if len(parts) > 1:
        trial = work.trial()
        values = [fit(part, items, path, trial) for part in parts]
        if not trial.problems:
            work.note("split_list", path)
            return values
    if text == "" and isinstance(node, str):
        return ABSENT
    if spec.items_min >= 2 and items.format.startswith("date"):
        work.refuse("range_from_single_date", path, text)
    work.note("wrapped_scalar", path)
    return [fit(node, items, f"{path}/0", work)]


def fit_object(node: Members, spec: Spec, path: str, work: Work) -> JsonObject:
    """The object of a node: names assigned, values fitted, what is missing or too much recorded."""
    if node.is_elided:
        work.refuse("elided_items", path)
    names = match_names(_ruled(node, spec, path, work), spec)
    found: JsonObject = {}
    empty: set[str] = set()
    for key, code, inner, said in names.given:
        place = f"{path}/{pointer_step(key)}"
        value = fit(inner, spec.properties[key], place, work)
        if code:
            work.note(code, place, said=said)
        if value is ABSENT:
            empty.add(key)
        elif key in found:
            _doubled(found[key], value, place, work)
        else:
            found[key] = value
    _strange(names.unknown, spec, path, work, found)
    if names.ambiguous or (spec.closed and names.are_foreign()):
        work.refuse("ambiguous_names", path, names.ambiguous or [key for key, _ in names.unknown])
    for key in empty - found.keys() - spec.required:
        work.note("null_optional_dropped", f"{path}/{pointer_step(key)}")
    _missing(node, spec, path, work, (found, empty, names.unknown))
    return found


def _ruled(node: Members, spec: Spec, path: str, work: Work) -> list[tuple[str, Node]]:
    """The pairs after learned rules for names."""
    if not work.rules.table:
        return node.pairs
    pairs = []
    for key, value in node.pairs:
        if key not in spec.properties:
            if rule := work.rules.find("param_alias", work.tool, path, key):
                work.note("rule", f"{path}/{pointer_step(rule.action)}", rule.id)
                pairs.append((str(rule.action), value))
                continue
            if rule := work.rules.find("drop_param", work.tool, path, key):
                work.note("rule", f"{path}/{pointer_step(key)}", rule.id)
                continue
        pairs.append((key, value))
    return pairs


def _doubled(first: Json, second: Json, path: str, work: Work) -> None:
    if first == second:
        if not work.repairs or work.repairs[-1] != Repair(code="duplicate_key_same", path=path):
            work.note("duplicate_key_same", path)
    else:
        work.refuse("duplicate_conflict", path, [first, second])


def _strange(unknown: list[tuple[str, Node]], spec: Spec, path: str, work: Work, found: JsonObject) -> None:
    """Keys the schema doesn't know: kept where it's open, dropped where it's closed and none can be meant."""
    if spec.closed and len(unknown) > UNKNOWN_MAX:
        work.refuse("too_large", path)
        return
    for key, inner in unknown:
        place = f"{path}/{pointer_step(key)}"
        if not spec.closed:
            value = fit(inner, spec.additional or ANY, place, work)
            if key in found:
                _doubled(found[key], value, place, work)
            elif value is not ABSENT:
                found[key] = value
        elif is_near_unset(key, inner, spec, set(found)):
            work.refuse("ambiguous_names", place, key)
        else:
            if isinstance(inner, Cut) or (isinstance(inner, Items | Members) and inner.is_open):
                work.was_cut = True
                work.refuse("truncated_text", place)
            work.note("unknown_param_dropped", place, said=key)


def _missing(
    node: Members, spec: Spec, path: str, work: Work, state: tuple[JsonObject, set[str], list[tuple[str, Node]]]
) -> None:
    found, empty, unknown = state
    if node.is_open:
        work.was_cut = True
        work.note("closers_added", path)
    missing = sorted(spec.required - found.keys())
    is_one_day = bool(missing) and any(_is_day(key, value) for key, value in unknown)
    takes_two_days = sum(spec.properties[key].format.startswith("date") for key in spec.required) >= 2
    for key in missing:
        place = f"{path}/{pointer_step(key)}"
        inner = spec.properties[key]
        if key in empty:
            work.refuse("null_required", place)
        elif work.was_cut or node.is_open:
            work.refuse("truncated_required", place)
        elif is_one_day and _is_range(inner, takes_two_days=takes_two_days):
            work.refuse("range_from_single_date", place)
        else:
            work.refuse("missing_required", place)
    if node.is_cut:
        work.refuse("truncated_text", path)
    if node.is_open and not work.ended and not spec.closed and not spec.properties:
        work.refuse("truncated_text", path)


def _is_range(inner: Spec, *, takes_two_days: bool) -> bool:
    """Whether a missing parameter is a period, or one end of one."""
    return is_period(inner) or (inner.format.startswith("date") and takes_two_days)


def _is_day(key: str, value: Node) -> bool:
    return isinstance(value, str) and not read_date(value).problem and fold(key) not in WORDS.asides
