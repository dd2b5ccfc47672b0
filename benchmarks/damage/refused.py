"""What is too much or too little, and values that nothing can make right."""

# ruff: noqa: ARG005 - tests and makers of a table take the same arguments, used or not
from benchmarks.damage.faults import REFUSE, Fault, Raw, fault, is_array, is_bool, is_int, is_number, is_text, replaced
from benchmarks.damage.numbers import unit_in

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def extra_param(row):
    key = row.rng.choice(
        ["reasoning", "explanation", "step", "trace", "thought", "comment_for_user", "confidence_note"]
    )
    value = row.rng.choice([4, True, "because it was asked for"])
    row.args = dict(row.rng.sample([*row.args.items(), (key, value)], len(row.args) + 1))
    if not row.schema.get("additionalProperties", True):
        return True
    row.want[key] = value
    return True


@fault(FAULTS)
def missing_required(row):
    row.why = "missing_required"
    row.args.pop(row.rng.choice(row.schema["required"]))
    return True


@fault(FAULTS)
def integer_with_fraction(row):
    row.why = "fraction_for_integer"
    return replaced(row, is_int, lambda k, s, v, r: (r.choice([v + 0.4, f"{v}.75"]), REFUSE))


@fault(FAULTS)
def out_of_range(row):
    row.why = "out_of_range"
    return replaced(
        row, lambda k, s: is_number(k, s) and "maximum" in s, lambda k, s, v, r: (s["maximum"] * 10 + 7, REFUSE)
    )


@fault(FAULTS)
def boolean_unclear(row):
    row.why = "boolean_unclear"
    return replaced(
        row, is_bool, lambda k, s, v, r: (r.choice(["perhaps", "depends", 5, "as needed", "看情况"]), REFUSE)
    )


@fault(FAULTS)
def placeholder_value(row):
    row.why = "placeholder"
    return replaced(
        row,
        is_text,
        lambda k, s, v, r: (
            r.choice(
                ["<{k}>", "{{{{{k}}}}}", "YOUR_{K}_HERE", "[insert {k}]", "...", "…", "<{k} goes here>", "<your {k}>"]
            ).format(k=k, K=k.upper()),
            REFUSE,
        ),
    )


@fault(FAULTS)
def unit_wrong_kind(row):
    row.why = "unit_incompatible"
    return replaced(
        row,
        lambda k, s: unit_in(k, s) is not None,
        lambda k, s, v, r: (r.choice(["4 boxes", "7 people", "15 kg", "between two and six", "三箱"]), REFUSE),
    )


@fault(FAULTS)
def ellipsis_in_container(row):
    row.why = "elided_items"
    key = row.pick(is_array)
    if not key:
        return False
    row.args[key] = [*row.args[key], row.rng.choice([Raw("..."), "...", "…"])]
    return True


@fault(FAULTS)
def semantic_wrong_param(row):
    row.why = "range_from_single_date"
    if "window" not in row.args:
        return False
    row.args.pop("window")
    row.args[row.rng.choice(["date", "day", "as_of"])] = "2027-03-01"
    return True
