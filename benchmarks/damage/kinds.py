"""Values of another JSON type than the schema's: numbers for text, nulls, NaN."""

# ruff: noqa: ARG005 - tests and makers of a table take the same arguments, used or not
from benchmarks.damage.faults import REFUSE, Fault, Raw, fault, is_number, is_text, replaced

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def string_as_number(row):
    key = row.pick(is_text)
    if not key:
        return False
    number = row.rng.randint(10000, 99999)
    row.args[key], row.want[key] = number, str(number)
    return True


@fault(FAULTS)
def leading_zero_unquoted(row):
    key = row.pick(is_text)
    if not key:
        return False
    row.args[key], row.want[key] = Raw("00731"), "00731"
    return True


@fault(FAULTS)
def version_as_number(row):
    key = row.pick(lambda k, s: k == "firmware")
    if not key:
        return False
    row.want[key] = row.args[key]
    row.args[key] = Raw(row.args[key])
    return True


@fault(FAULTS)
def null_for_optional(row):
    optional = [
        key for key in row.props if key not in row.schema["required"] and "null" not in str(row.props[key].get("type"))
    ]
    if not optional:
        return False
    key = row.rng.choice(optional)
    row.args[key] = row.rng.choice([None, None, Raw("None"), Raw("undefined")])
    row.want.pop(key, None)
    return True


@fault(FAULTS)
def null_for_required(row):
    row.why = "null_required"
    key = row.rng.choice(row.schema["required"])
    row.args[key] = row.rng.choice([None, Raw("None")])
    return True


@fault(FAULTS)
def nan_for_number(row):
    row.why = "not_a_number"
    return replaced(row, is_number, lambda k, s, v, r: (Raw(r.choice(["NaN", "Infinity", "-Infinity"])), REFUSE))


@fault(FAULTS)
def nan_for_nullable(row):
    key = row.pick(lambda k, s: isinstance(s.get("type"), list))
    if not key:
        return False
    row.args[key], row.want[key] = Raw(row.rng.choice(["NaN", "nan"])), None
    return True
