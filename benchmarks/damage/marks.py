"""Commas, colons, brackets, comments and keys: missing, doubled, in the wrong place."""

# ruff: noqa: ARG005 - tests and makers of a table take the same arguments, used or not
import json
import re
from collections.abc import Callable

from benchmarks.damage.calls import Row
from benchmarks.damage.faults import Fault, Raw, dumped, fault, has_raw, is_text

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def trailing_comma(row):
    row.text = re.sub(r"(\s*[}\]])$", r",\1", row.text)
    return True


@fault(FAULTS)
def double_comma(row):
    key = row.rng.choice(list(row.args)[1:] or [None])
    return at_key(row, key, lambda before, after: before.replace(", ", ",, ") + after if before == ", " else None)


def at_key(row: Row, key: str | None, change: Callable[[str, str], str | None]) -> bool:
    if key is None:
        return False
    mark = json.dumps(key, ensure_ascii=False) + ":"
    at = row.text.find(", " + mark)
    if at < 0:
        return False
    new = change(", ", mark)
    if new is None:
        return False
    row.text = row.text[:at] + new + row.text[at + 2 + len(mark) :]
    return True


@fault(FAULTS)
def missing_comma(row):
    return at_key(row, row.rng.choice(list(row.args)[1:] or [None]), lambda before, after: " " + after)


@fault(FAULTS)
def missing_colon(row):
    return at_key(row, row.rng.choice(list(row.args)[1:] or [None]), lambda before, after: before + after[:-1])


@fault(FAULTS)
def key_quote_half_missing(row):
    return at_key(
        row,
        row.rng.choice(list(row.args)[1:] or [None]),
        lambda before, after: before + (after[1:] if row.rng.random() < 0.5 else after[:-2] + ":"),
    )


@fault(FAULTS)
def value_quote_half_missing(row):
    keys = list(row.args)
    places = [
        i for i in range(len(keys) - 1) if isinstance(row.args[keys[i]], str) and not isinstance(row.args[keys[i]], Raw)
    ]
    if not places or has_raw(row):
        return False
    at = row.rng.choice(places)
    value = json.dumps(row.args[keys[at]], ensure_ascii=False)
    mark = f"{json.dumps(keys[at], ensure_ascii=False)}: {value}"
    if row.text.count(mark) != 1 or "\\" in value or any(c in value for c in "“”'"):
        return False
    row.text = row.text.replace(mark, mark[:-1] if row.rng.random() < 0.5 else mark.replace(value, value[1:]))
    return True


@fault(FAULTS)
def equals_for_colon(row):
    if has_raw(row):
        return False
    row.text = re.sub(r'("\w+"): ', row.rng.choice([r"\1=", r"\1 = "]), row.text)
    return True


@fault(FAULTS)
def comments(row):
    if row.rng.random() < 0.5:
        return at_key(
            row,
            row.rng.choice(list(row.args)[1:] or [None]),
            lambda before, after: before + row.rng.choice(["/* as said */ ", "// note\n", "# usual\n"]) + after,
        )
    row.text = row.text[:-1] + row.rng.choice([" /* done */ }", " // last\n}", " # end\n}"])
    return True


@fault(FAULTS)
def missing_open_brace(row):
    row.text = row.text.strip()[1:]
    if row.rng.random() < 0.5:
        row.text = row.text[:-1]
    return True


@fault(FAULTS)
def extra_closers(row):
    row.text += row.rng.choice(["}", "}}", "]}", "]", "\n}"])
    return True


@fault(FAULTS)
def mismatched_bracket(row):
    if not row.text.endswith("]}"):
        return False
    row.text = row.text[:-2] + "}"
    return True


@fault(FAULTS)
def missing_closers(row):
    last = row.args[list(row.args)[-1]]
    if (
        isinstance(last, Raw)
        or (isinstance(last, (int, float)) and not isinstance(last, bool))
        or isinstance(last, (list, dict))
    ):
        return False
    row.text = row.text.rstrip().removesuffix("}")
    return True


@fault(FAULTS)
def literal_backslash_n_outside(row):
    row.text = "{\\n" + row.text[1:-1] + "\\n}"
    return not has_raw(row)


@fault(FAULTS)
def bom_or_nbsp(row):
    row.text = row.rng.choice(["\ufeff" + row.text, row.text.replace("{", "{\u00a0", 1), row.text + "\u200b"])
    return True


@fault(FAULTS)
def duplicate_key_same(row):
    key = row.rng.choice(list(row.args))
    if isinstance(row.args[key], Raw):
        return False
    row.text = row.text[:-1] + ", " + dumped({key: row.args[key]}, row.rng)[1:]
    return True


@fault(FAULTS)
def duplicate_key_conflict(row):
    keys = [
        key
        for key in row.args
        if key in row.props and is_text(key, row.props[key]) and not isinstance(row.args[key], Raw)
    ]
    if not keys:
        return False
    row.why = "duplicate_conflict"
    row.text = row.text[:-1] + ", " + dumped({keys[0]: str(row.args[keys[0]]) + " B"}, row.rng)[1:]
    return True
