"""Texts that end too early."""

import json

from benchmarks.damage.faults import Fault, Raw, dumped, fault, has_raw, is_enum, is_float, is_text

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def truncated_free_text(row):
    keys = [
        key
        for key in row.args
        if key in row.props
        and is_text(key, row.props[key])
        and isinstance(row.args[key], str)
        and len(row.args[key]) > 4
        and not isinstance(row.args[key], Raw)
    ]
    keys = [key for key in keys if key != "firmware"]
    if not keys or has_raw(row):
        return False
    key = row.rng.choice(keys)
    value = row.args.pop(key)
    row.args[key] = value
    text = dumped(row.args, row.rng)
    row.text = text[: -(2 + row.rng.randint(1, len(json.dumps(value)) // 2))]
    row.why = "truncated_text"
    return not row.text.endswith("\\") and set(row.schema["required"]) <= set(row.args)


@fault(FAULTS)
def truncated_number(row):
    keys = [
        key
        for key in row.args
        if key in row.props and is_float(key, row.props[key]) and isinstance(row.args[key], float)
    ]
    if not keys or has_raw(row):
        return False
    row.args[keys[0]] = row.args.pop(keys[0])
    row.text = dumped(row.args, row.rng)[: -1 - row.rng.randint(0, 1)]
    row.why = "truncated_number"
    return True


@fault(FAULTS)
def truncated_in_array(row):
    keys = [
        key
        for key in row.args
        if isinstance(row.args[key], list) and row.args[key] and isinstance(row.args[key][0], (str, int))
    ]
    if not keys or has_raw(row):
        return False
    row.args[keys[0]] = row.args.pop(keys[0])
    row.text = dumped(row.args, row.rng)[:-2] + ","
    row.why = "truncated_array"
    return True


@fault(FAULTS)
def truncated_before_required(row):
    last = next((key for key in reversed(row.args) if key in row.schema["required"]), "")
    at = row.text.find(json.dumps(last, ensure_ascii=False) + ":")
    if at < 4 or has_raw(row):
        return False
    row.text = row.text[: at - 2 - row.rng.randint(0, 2)]
    row.why = "truncated_required"
    return True


@fault(FAULTS)
def unclosed_string_known_value(row):
    keys = [
        key
        for key in row.args
        if key in row.props and is_enum(key, row.props[key]) and row.args[key] in row.props[key]["enum"]
    ]
    if not keys or has_raw(row):
        return False
    row.args[keys[0]] = row.args.pop(keys[0])
    row.text = dumped(row.args, row.rng)[:-2]
    return True
