"""Arrays and objects: one for many, many for one, indexed, in text, flattened."""

# ruff: noqa: ARG005 - tests and makers of a table take the same arguments, used or not
import json

from benchmarks.damage.faults import REFUSE, Fault, fault, is_array, is_object, is_text, replaced

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def scalar_for_array(row):
    key = row.pick(is_array)
    if not key:
        return False
    row.args[key], row.want[key] = row.args[key][0], row.args[key][:1]
    return True


@fault(FAULTS)
def joined_string_for_array(row):
    key = row.pick(
        lambda k, s: (
            is_array(k, s)
            and (s["items"].get("type") in ("integer", "number") or "enum" in s["items"])
            and len(row.args[k]) > 1
        )
    )
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], row.rng.choice([", ", ",", "; "]).join(map(str, row.args[key]))
    return True


@fault(FAULTS)
def array_for_scalar(row):
    key = row.pick(lambda k, s: not is_array(k, s) and s.get("type") != "object")
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], [row.args[key]]
    return True


@fault(FAULTS)
def array_for_scalar_many(row):
    row.why = "many_for_one"
    return replaced(row, is_text, lambda k, s, v, r: ([v, v + " B"], REFUSE))


@fault(FAULTS)
def array_as_indexed_object(row):
    key = row.pick(lambda k, s: is_array(k, s) and len(row.args[k]) > 1)
    if not key:
        return False
    first = row.rng.choice([0, 1])
    row.want[key], row.args[key] = row.args[key], {str(first + i): value for i, value in enumerate(row.args[key])}
    return True


@fault(FAULTS)
def stringified_nested(row):
    key = row.pick(lambda k, s: s.get("type") in ("array", "object"))
    if not key:
        return False
    row.want[key] = row.args[key]
    row.args[key] = row.rng.choice([json.dumps(row.args[key], ensure_ascii=False), str(row.args[key])])
    return True


@fault(FAULTS)
def flattened_nested(row):
    key = row.pick(is_object)
    if not key:
        return False
    row.want[key] = row.args.pop(key)
    row.args.update(row.want[key])
    return True


@fault(FAULTS)
def dotted_keys(row):
    key = row.pick(is_object)
    if not key:
        return False
    row.want[key] = row.args.pop(key)
    row.args.update({f"{key}.{inner}": value for inner, value in row.want[key].items()})
    return True
